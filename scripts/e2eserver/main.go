// E2eserver is the traced server of the end-to-end tests.
//
// Usage: e2eserver [-app NAME] [-also-file] [-shutdown-timeout DURATION]
//
// It listens on a free port of the loopback interface and tells on standard
// output what it does, a line of JSON each time: where it listens, and, when it
// has ended, its account. Everything else is decided by the environment, as for
// any server. It ends on SIGTERM, and when its standard input closes, so that
// it never outlives the test that started it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// ready is the first line on standard output.
type ready struct {
	URL         string `json:"url"`
	Enabled     bool   `json:"enabled"`
	Destination string `json:"destination"`
	Error       string `json:"error,omitempty"` // of Start
}

// ended is the last line on standard output.
type ended struct {
	Report   bootstrap.Report `json:"report"`
	Error    string           `json:"error,omitempty"` // of Serve
	Shutdown time.Duration    `json:"shutdown_nanos"`  // from the order to stop to the end of Serve
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("e2eserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	cfg := bootstrap.Config{Logger: slog.New(slog.NewJSONHandler(stderr, nil))}
	flags.StringVar(&cfg.App, "app", "e2e", "the App: names variables, service and folder")
	flags.BoolVar(&cfg.AlsoFile, "also-file", false, "write the file beside any other destination")
	flags.DurationVar(&cfg.ShutdownTimeout, "shutdown-timeout", 0, "bound of the way out (default of the library when 0)")
	child := flags.Bool("child", false, "make one span below what TRACEPARENT says, and end")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	do := func() error { return serve(ctx, cfg, stdin, json.NewEncoder(stdout)) }
	if *child {
		do = func() error { return runChild(ctx, cfg) }
	}
	if err := do(); err != nil {
		fmt.Fprintf(stderr, "e2eserver: %v\n", err)
		return 1
	}
	return 0
}

// serve runs the server until its input closes or a signal comes.
func serve(ctx context.Context, cfg bootstrap.Config, stdin io.Reader, out *json.Encoder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tracing, err := bootstrap.Start(ctx, cfg)
	ln, lerr := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if lerr != nil {
		return errors.Join(lerr, tracing.Shutdown(ctx))
	}
	line := ready{URL: "http://" + ln.Addr().String(), Enabled: tracing.Enabled(), Destination: tracing.Destination()}
	if err != nil {
		line.Error = err.Error()
	}
	if err := out.Encode(line); err != nil {
		return errors.Join(err, ln.Close(), tracing.Shutdown(ctx))
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	stopped := make(chan time.Time, 1)
	srv := &http.Server{Handler: newHandler(tracing), ReadHeaderTimeout: time.Minute}
	srv.RegisterOnShutdown(func() { stopped <- time.Now() })
	last := ended{}
	if err := tracing.ServeListener(ctx, srv, ln); err != nil {
		last.Error = err.Error()
	}
	select {
	case from := <-stopped:
		last.Shutdown = time.Since(from)
	default: // the server failed by itself
	}
	last.Report = tracing.Report()
	return out.Encode(last)
}
