package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"
	"time"
)

// ErrSecondSignal is in Serve's error when a second signal ended everything at
// once.
var ErrSecondSignal = errors.New("second signal")

// Serve listens on srv.Addr (":http" or ":https" when it is empty) and serves
// until SIGINT, SIGTERM, the end of ctx, or a failure of the server; then it
// ends the server and tracing, in Config.ShutdownTimeout altogether:
//
//  1. It stops accepting, and writes the goroutine profile.
//  2. It waits for requests up to half of the time.
//  3. It cancels the base context of those that still run, such as streams, and
//     waits on; at three quarters of the time it closes their connections.
//  4. It does what [Tracing.Shutdown] does, with the rest.
//
// A second signal ends all of this at once, with [ErrSecondSignal]; a third one
// ends the process in the usual way. Signals in the half second after the end
// began do not count: supervisors send one to the process and to its group, and
// a shell and a wrapper both hand on the Ctrl-C. TLS is on when srv.TLSConfig is
// set, with the certificates in it; one with NextProtos alone is net/http's own.
// The program's BaseContext stays in force.
//
// Several servers may be served at the same time, each by a call of its own. The
// last call that returns ends tracing; one that ends earlier, or fails to listen
// while another serves, ends its own server alone.
//
// The error is nil after an orderly end that lost nothing, and wraps
// [ErrSpansLost] after one that lost spans. Serve does all of
// this whether tracing is on or off. A server is served once at a time.
func (t *Tracing) Serve(ctx context.Context, srv *http.Server) error {
	t.enter()
	if srv == nil {
		return errors.Join(errNoServer, beside(t.leave(context.WithoutCancel(ctx))))
	}
	addr := srv.Addr
	if addr == "" {
		addr = ":http"
		if wantsTLS(srv) {
			addr = ":https"
		}
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		t.reason.Store("the server did not start")
		return errors.Join(fmt.Errorf("bootstrap: serve: %w", err), beside(t.leave(context.WithoutCancel(ctx))))
	}
	return t.serveListener(ctx, srv, ln)
}

// enter counts a Serve that runs.
func (t *Tracing) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serving++
}

// leave ends tracing when no other Serve runs.
func (t *Tracing) leave(ctx context.Context) error {
	t.mu.Lock()
	t.serving--
	last := t.serving == 0
	t.mu.Unlock()
	if !last {
		return nil
	}
	return t.Shutdown(ctx)
}

var errNoServer = errors.New("bootstrap: serve: no server")

// ServeListener is [Tracing.Serve] on a listener, which it closes.
func (t *Tracing) ServeListener(ctx context.Context, srv *http.Server, ln net.Listener) error {
	t.enter()
	if srv == nil || ln == nil {
		return errors.Join(errNoServer, beside(t.leave(context.WithoutCancel(ctx))))
	}
	return t.serveListener(ctx, srv, ln)
}

func (t *Tracing) serveListener(ctx context.Context, srv *http.Server, ln net.Listener) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	cancelBase, restore := cancellableBase(srv) //nolint:contextcheck // requests outlive ctx, by half of the time
	defer restore()
	defer cancelBase(nil)

	failed := make(chan serveResult, 1)
	go func() { failed <- serve(srv, ln) }()

	var result serveResult
	reason := "context done"
	select {
	case result = <-failed:
		reason = "the server ended"
	case s := <-signals:
		reason = s.String()
	case <-ctx.Done():
	}
	t.reason.Store(reason)
	t.logger.LogAttrs(ctx, slog.LevelInfo, "stopping", slog.String("reason", reason))

	end, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), t.cfg.shutdownTimeout(), errShutdownTimeout)
	defer cancel()
	end, abort := context.WithCancelCause(end)
	defer abort(nil)
	stopWatching := watchSecond(signals, func() {
		abort(ErrSecondSignal)
		_ = srv.Close() // it is being given up
	})
	defer stopWatching()

	drainErr := t.drain(end, srv, cancelBase)
	stopErr := t.leave(end)
	if errors.Is(context.Cause(end), ErrSecondSignal) {
		drainErr = ErrSecondSignal
	}
	if result.panicked {
		panic(result.value) // it was the program's, out of Serve; the spans are safe now
	}
	if errors.Is(result.err, http.ErrServerClosed) {
		result.err = nil
	}
	if err := errors.Join(result.err, drainErr); err != nil {
		return errors.Join(fmt.Errorf("bootstrap: serve: %w", err), beside(stopErr))
	}
	return stopErr
}

var errShutdownTimeout = errors.New("shutdown timeout")

type serveResult struct {
	err      error
	panicked bool
	value    any
}

// serve runs the server and catches what a listener or a hook of the program
// throws.
func serve(srv *http.Server, ln net.Listener) (r serveResult) {
	r.panicked = true
	defer func() {
		if r.panicked {
			r.value = recover()
		}
	}()
	if wantsTLS(srv) {
		r.err = srv.ServeTLS(ln, "", "")
	} else {
		r.err = srv.Serve(ln)
	}
	r.panicked = false
	return r
}

// wantsTLS tells the program's TLSConfig from the one that net/http and
// http2.ConfigureServer leave on every server: it has protocols and nothing else.
func wantsTLS(srv *http.Server) bool {
	if srv.TLSConfig == nil {
		return false
	}
	if len(srv.TLSConfig.NextProtos) == 0 {
		return true
	}
	config := srv.TLSConfig.Clone()
	config.NextProtos = nil
	config.PreferServerCipherSuites = false //nolint:staticcheck // http2.ConfigureServer sets it
	return !reflect.ValueOf(config).Elem().IsZero()
}

// cancellableBase makes the base context of srv's requests one that can be
// canceled, on top of the program's own.
func cancellableBase(srv *http.Server) (cancel context.CancelCauseFunc, restore func()) {
	program := srv.BaseContext
	stop, cancel := context.WithCancelCause(context.Background())
	srv.BaseContext = func(ln net.Listener) context.Context {
		base := context.Background()
		if program != nil {
			base = program(ln)
		}
		if base == nil {
			return nil // net/http says what is wrong with that
		}
		base, cancelBase := context.WithCancelCause(base)
		context.AfterFunc(stop, func() { cancelBase(context.Cause(stop)) })
		return base
	}
	return cancel, func() { srv.BaseContext = program }
}

// drain ends the server: it stops accepting, waits, cancels what still runs,
// waits again, and closes what is left.
func (t *Tracing) drain(ctx context.Context, srv *http.Server, cancelBase context.CancelCauseFunc) error {
	idle := make(chan error, 1)
	go func() { idle <- srv.Shutdown(ctx) }()
	if err := t.goroutines(ctx); err != nil {
		t.logger.LogAttrs(ctx, slog.LevelWarn, "goroutine profile not written", slog.String("error", err.Error()))
	}
	deadline, _ := ctx.Deadline()
	total := time.Until(deadline)
	half := time.NewTimer(total / 2)
	defer half.Stop()
	late := time.NewTimer(total * 3 / 4)
	defer late.Stop()
	for {
		select {
		case err := <-idle:
			if err != nil {
				_ = srv.Close() // whatever is open is given up
				return fmt.Errorf("requests still running: %w", context.Cause(ctx))
			}
			return nil
		case <-half.C:
			cancelBase(errShutdownTimeout)
		case <-late.C:
			_ = srv.Close() // the requests had their time
			return errors.New("requests still running: connections closed")
		}
	}
}

// secondAfter is how much later than the first a signal is somebody's wish, and
// not the first one delivered twice.
const secondAfter = 500 * time.Millisecond

// watchSecond calls f at the next signal that is meant as one, and lets the one
// after that end the process in the usual way.
func watchSecond(signals chan os.Signal, f func()) (stop func()) {
	begin := time.Now()
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-signals:
				if time.Since(begin) < secondAfter {
					continue
				}
				signal.Stop(signals)
				f()
			case <-quit:
			}
			return
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}
