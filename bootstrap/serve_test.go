package bootstrap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// pipeListener is a listener in memory, so that a server runs in a bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, errors.New("connection refused")
	}
}

func (l *pipeListener) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
}

// serving runs a server in a bubble with tracing that makes no file.
type serving struct {
	tracing *bootstrap.Tracing
	ln      *pipeListener
	stop    context.CancelFunc
	result  chan error
	logs    *logs
}

func serveInBubble(t *testing.T, srv *http.Server, timeout time.Duration) *serving {
	t.Helper()
	tracing, out := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"}, func(c *bootstrap.Config) { c.ShutdownTimeout = timeout })
	ctx, stop := context.WithCancel(t.Context())
	s := &serving{tracing: tracing, ln: newPipeListener(), stop: stop, result: make(chan error, 1), logs: out}
	go func() { s.result <- tracing.ServeListener(ctx, srv, s.ln) }()
	synctest.Wait()
	return s
}

func get(t *testing.T, client *http.Client, path string) <-chan string {
	t.Helper()
	answer := make(chan string, 1)
	go func() {
		resp, err := client.Get("http://shop" + path)
		if err != nil {
			answer <- "error"
			return
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			answer <- "broken"
			return
		}
		answer <- string(body)
	}()
	return answer
}

func TestServeWaitsForRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Second)
			if r.Context().Err() != nil {
				t.Error("the request was canceled in the first half of the time")
			}
			fmt.Fprint(w, "done")
		})}
		s := serveInBubble(t, srv, 8*time.Second)
		answer := get(t, s.ln.client(), "/")
		synctest.Wait()
		begin := time.Now()
		s.stop()
		if err := <-s.result; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if got := <-answer; got != "done" {
			t.Errorf("the request in flight got %q", got)
		}
		if d := time.Since(begin); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("Serve ended after %v, want 3 s and the server's poll", d)
		}
		if srv.BaseContext != nil {
			t.Error("BaseContext was not put back")
		}
	})
}

func TestServeCancelsStreamsAtHalfOfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var canceled time.Duration
		var begin time.Time
		srv := &http.Server{
			BaseContext: func(net.Listener) context.Context { return context.WithValue(t.Context(), key{}, "theirs") },
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Context().Value(key{}) != "theirs" {
					t.Error("the program's BaseContext is gone")
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Errorf("flush: %v", err)
				}
				<-r.Context().Done()
				canceled = time.Since(begin)
				fmt.Fprint(w, "bye")
			}),
		}
		s := serveInBubble(t, srv, 8*time.Second)
		answer := get(t, s.ln.client(), "/")
		synctest.Wait()
		begin = time.Now()
		s.stop()
		if err := <-s.result; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if got := <-answer; got != "bye" {
			t.Errorf("the stream got %q", got)
		}
		if canceled != 4*time.Second {
			t.Errorf("the stream was canceled after %v, want 4 s", canceled)
		}
	})
}

func TestServeClosesWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })}
		s := serveInBubble(t, srv, 8*time.Second)
		answer := get(t, s.ln.client(), "/")
		synctest.Wait()
		begin := time.Now()
		s.stop()
		err := <-s.result
		if err == nil || !strings.Contains(err.Error(), "still running") {
			t.Errorf("Serve: %v", err)
		}
		if d := time.Since(begin); d != 6*time.Second {
			t.Errorf("Serve ended after %v, want 6 s", d)
		}
		if got := <-answer; got != "error" {
			t.Errorf("the request got %q", got)
		}
		close(release)
	})
}

// Hooks run after the last request and before the flush, the latest first, and
// one that hangs leaves time for the rest.
func TestShutdownOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, s)
		}
		processor := &notingProcessor{note: note}
		tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"}, func(c *bootstrap.Config) {
			c.ShutdownTimeout = 8 * time.Second
			c.Processors = append(c.Processors, processor)
		})
		tracing.OnShutdown(func(context.Context) error { note("first hook"); return errors.New("hook failed") })
		tracing.OnShutdown(func(context.Context) error { note("second hook"); panic("hook panicked") })
		tracing.OnShutdown(nil)
		srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			time.Sleep(time.Second)
			note("request")
		})}
		ctx, stop := context.WithCancel(t.Context())
		ln := newPipeListener()
		result := make(chan error, 1)
		go func() { result <- tracing.ServeListener(ctx, srv, ln) }()
		synctest.Wait()
		answer := get(t, ln.client(), "/")
		synctest.Wait()
		stop()
		err := <-result
		<-answer
		for _, want := range []string{"hook failed", "hook panicked"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Serve: %v, want %q in it", err, want)
			}
		}
		if got, want := strings.Join(order, ", "), "request, second hook, first hook, flush, shutdown"; got != want {
			t.Errorf("order: %s, want %s", got, want)
		}
	})
}

func TestHangingHookLeavesTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var flushed bool
		processor := &notingProcessor{note: func(string) { flushed = true }}
		tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"}, func(c *bootstrap.Config) {
			c.Processors = append(c.Processors, processor)
		})
		release := make(chan struct{})
		var left time.Duration
		tracing.OnShutdown(func(ctx context.Context) error { // runs last
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return nil
		})
		tracing.OnShutdown(func(context.Context) error { <-release; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		begin := time.Now()
		if err := tracing.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v, want the hook's deadline in it", err)
		}
		if d := time.Since(begin); d >= 8*time.Second {
			t.Errorf("the hook took all of the time: %v", d)
		}
		if !flushed {
			t.Error("the processor was not flushed")
		}
		if left < time.Second {
			t.Errorf("the other hook had %v", left)
		}
		close(release)
	})
}

func TestServeListenFailure(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"})
	ran := false
	tracing.OnShutdown(func(context.Context) error { ran = true; return nil })
	err = tracing.Serve(t.Context(), &http.Server{Addr: ln.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "bootstrap: serve: listen") {
		t.Errorf("Serve: %v", err)
	}
	if !ran {
		t.Error("tracing was not shut down")
	}
}

func TestServeWithoutServer(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"})
	if err := tracing.Serve(t.Context(), nil); err == nil {
		t.Error("no error")
	}
	if err := tracing.ServeListener(t.Context(), &http.Server{}, nil); err == nil {
		t.Error("no error without a listener")
	}
}

func TestServeAfterTheServerEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := &http.Server{}
		s := serveInBubble(t, srv, 8*time.Second)
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Errorf("the server's Shutdown: %v", err)
		}
		if err := <-s.result; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestServeListenerFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, &http.Server{}, 8*time.Second)
		_ = s.ln.Close()
		if err := <-s.result; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v, want the listener's error", err)
		}
	})
}

type panickingListener struct{ *pipeListener }

func (panickingListener) Accept() (net.Conn, error) { panic("accept") }

func TestServePanicComesOutAfterTheFlush(t *testing.T) {
	t.Parallel()
	var notes []string
	processor := &notingProcessor{note: func(s string) { notes = append(notes, s) }}
	tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"}, func(c *bootstrap.Config) {
		c.Processors = append(c.Processors, processor)
	})
	defer func() {
		if p := recover(); p != "accept" {
			t.Errorf("recovered %v, want the listener's panic", p)
		}
		if len(notes) != 2 {
			t.Errorf("flushed before the panic went on: %q", notes)
		}
	}()
	_ = tracing.ServeListener(t.Context(), &http.Server{}, panickingListener{newPipeListener()})
}

func TestServeTLS(t *testing.T) {
	t.Parallel()
	// A certificate for example.com, and who trusts it.
	helper := httptest.NewUnstartedServer(nil)
	helper.StartTLS()
	defer helper.Close()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	srv := &http.Server{
		TLSConfig: &tls.Config{Certificates: helper.TLS.Certificates},
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.TLS != nil) }),
	}
	result := make(chan error, 1)
	go func() { result <- tracing.ServeListener(ctx, srv, ln) }()
	resp, err := helper.Client().Get("https://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	_ = resp.Body.Close()
	if line != "true" || !errors.Is(err, io.EOF) {
		t.Errorf("answer %q, %v", line, err)
	}
	helper.Client().CloseIdleConnections()
	stop()
	if err := <-result; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
