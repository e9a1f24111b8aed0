package bootstrap_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// childIdle does nothing for a second.
func childIdle() error {
	tracing, err := bootstrap.Start(context.Background(), childConfig())
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	return tracing.Shutdown(context.Background())
}

// childServe serves until a signal. It prints its address, a line when a
// request is inside, and at the end what Serve returned.
func childServe() error {
	ctx := context.Background()
	cfg := childConfig()
	if d, err := time.ParseDuration(os.Getenv("TIMEOUT")); err == nil {
		cfg.ShutdownTimeout = d
	}
	tracing, err := bootstrap.Start(ctx, cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /fast", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fast") })
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Println("inside")
		time.Sleep(300 * time.Millisecond)
		fmt.Fprint(w, "slow")
	})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		fmt.Println("inside")
		<-r.Context().Done()
		fmt.Fprint(w, "data: end\n\n")
	})
	mux.HandleFunc("GET /stuck", func(http.ResponseWriter, *http.Request) {
		fmt.Println("inside")
		select {}
	})
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	srv := &http.Server{Handler: tracing.Middleware()(mux)}
	if os.Getenv("HANGING_LISTENER") != "" {
		ln = &firstAccept{Listener: ln, then: func() {
			go func() { _ = srv.Serve(&hangingListener{pipeListener: newPipeListener()}) }()
		}}
	}
	err = tracing.ServeListener(ctx, srv, ln)
	fmt.Printf("served: %q\n", fmt.Sprint(err))
	fmt.Println("report:", tracing.Report())
	return nil
}

// firstAccept calls then once, when the server that accepts is set up.
type firstAccept struct {
	net.Listener
	once sync.Once
	then func()
}

func (l *firstAccept) Accept() (net.Conn, error) {
	l.once.Do(l.then)
	return l.Listener.Accept()
}
