package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// readHeaderTimeout ends connections that never ask for anything.
const readHeaderTimeout = 10 * time.Second

// selfLoad serves the shop, calls it n times, stops it as a signal would, and
// shows what came of it.
func selfLoad(ctx context.Context, tracing *bootstrap.Tracing, shop *shop, srv *http.Server, listener net.Listener, o options, stdout io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- tracing.ServeListener(ctx, srv, listener) }()

	sent, right := newCaller(shop.baseURL).load(ctx, shop.routes(), o.selfLoad)
	// net/http waits up to 5 s for connections that were opened and never used.
	shop.client.CloseIdleConnections()
	stop()
	err := <-served
	fmt.Fprintf(stdout, "sent %d requests, %d were answered as the route promises; the server counted %d, its calls to itself included\n",
		sent, right, shop.served.Load())
	if right != sent {
		err = errors.Join(err, fmt.Errorf("%d requests were not answered as the route promises", sent-right))
	}
	if !tracing.Plan().Spans {
		fmt.Fprintf(stdout, "tracing is off: set %s=true\n", switchName(o.app))
		return err
	}
	report := tracing.Report()
	fmt.Fprintln(stdout, report)
	if lost := report.Lost(); lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d spans were lost", lost))
	}
	if len(report.Destinations) != 1 || report.Destinations[0].Name != "file" {
		return err // there is no file to read back
	}
	err = errors.Join(err, show(stdout, tracing.Destination(), shop.served.Load()))
	fmt.Fprintf(stdout, nextSteps, o.app, o.app, o.app)
	return err
}

const nextSteps = `
next:
  go run ./cmd/waymark list -app %s                   # every trace, a line each
  go run ./cmd/waymark stats -app %s                  # spans by name: count, errors, durations
  go run ./cmd/waymark html -app %s -o traces.html    # a page for the browser
`

// errorLog keeps net/http's lines about the panics that -self-load asks for,
// one in six requests, out of the output.
func errorLog(logger *slog.Logger, o options) *log.Logger {
	if o.selfLoad > 0 {
		logger = slog.New(slog.DiscardHandler)
	}
	return slog.NewLogLogger(logger.Handler(), slog.LevelError)
}
