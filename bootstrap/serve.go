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
	"sync/atomic"
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
// The error says how the server ended, and which hooks of [Tracing.OnShutdown]
// failed: nil after an orderly end, [http.ErrServerClosed] for a server that was
// closed before. What tracing itself lost or could not write is in the log, in
// [Tracing.Report], and in the error of another call of [Tracing.Shutdown]; a
// backend that is down does not make the program fail. Serve does all of this
// whether tracing is on or off. A server is served once at a time.
func (t *Tracing) Serve(ctx context.Context, srv *http.Server) error {
	t.enter()
	if srv == nil {
		return t.notServed(ctx, errNoServer)
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
		return t.notServed(ctx, err)
	}
	return t.serveListener(ctx, srv, ln)
}

// enter counts a Serve that runs.
func (t *Tracing) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serving++
}

// leave ends tracing when no other Serve runs, and returns the errors of hooks.
// What went wrong with tracing itself is logged: spans that were lost by the
// account, the rest here.
func (t *Tracing) leave(ctx context.Context) error {
	t.mu.Lock()
	t.serving--
	last := t.serving == 0
	t.mu.Unlock()
	if !last {
		return nil
	}
	e := t.end(ctx)
	if e.other != nil {
		t.logger.LogAttrs(ctx, slog.LevelWarn, "tracing did not end in order",
			slog.String("error", e.other.Error()))
	}
	return e.hooks
}

// notServed ends a Serve whose server did not begin.
func (t *Tracing) notServed(ctx context.Context, err error) error {
	return serveError(err, t.leave(context.WithoutCancel(ctx)))
}

func serveError(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("bootstrap: serve: %w", err)
	}
	return nil
}

var errNoServer = errors.New("no server")

// ServeListener is [Tracing.Serve] on a listener, which it closes.
func (t *Tracing) ServeListener(ctx context.Context, srv *http.Server, ln net.Listener) error {
	t.enter()
	if srv == nil || ln == nil {
		return t.notServed(ctx, errNoServer)
	}
	return t.serveListener(ctx, srv, ln)
}

func (t *Tracing) serveListener(ctx context.Context, srv *http.Server, ln net.Listener) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	ending := newEndingListener(ln)
	base, restore := newBase(srv, ln) //nolint:contextcheck // requests outlive ctx, by half of the time
	defer restore()
	defer base.cancel(nil)

	failed := make(chan serveResult, 1)
	go func() { failed <- serve(srv, ending) }()

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
		go srv.Close() //nolint:errcheck // it is being given up
	})
	defer stopWatching()

	drainErr := t.drain(end, srv, base.cancel)
	closeErr := ending.wait()
	hookErr := t.leave(end)
	if errors.Is(context.Cause(end), ErrSecondSignal) {
		drainErr = ErrSecondSignal
	}
	if result.panicked {
		panic(result.value) // it was the program's, out of Serve; the spans are safe now
	}
	if errors.Is(result.err, http.ErrServerClosed) && base.began.Load() {
		result.err = nil // somebody else ended it in order
	}
	return serveError(result.err, drainErr, closeErr, hookErr)
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

// base is the base context of a server's requests: the program's own, and
// canceled by cancel.
type base struct {
	cancel context.CancelCauseFunc
	began  atomic.Bool // the server has asked for it: it was not closed before
}

// newBase puts a base between srv and the program's BaseContext, which still
// gets the listener that the program knows.
func newBase(srv *http.Server, program net.Listener) (b *base, restore func()) {
	own := srv.BaseContext
	stop, cancel := context.WithCancelCause(context.Background())
	b = &base{cancel: cancel}
	srv.BaseContext = func(net.Listener) context.Context {
		b.began.Store(true)
		ctx := context.Background()
		if own != nil {
			ctx = own(program)
		}
		if ctx == nil {
			return nil // net/http says what is wrong with that
		}
		ctx, cancelBase := context.WithCancelCause(ctx)
		context.AfterFunc(stop, func() { cancelBase(context.Cause(stop)) })
		return ctx
	}
	return b, func() { srv.BaseContext = own }
}

// drain ends the server: it stops accepting, waits, cancels what still runs,
// waits again, and closes what is left. It returns when ctx ends, also when
// closing does not.
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
			if ctx.Err() == nil {
				return err
			}
			return giveUp(ctx, srv)
		case <-ctx.Done():
			return giveUp(ctx, srv)
		case <-half.C:
			cancelBase(errShutdownTimeout)
		case <-late.C:
			go srv.Close() //nolint:errcheck // the requests had their time
			return errors.New("requests or listeners still running: connections closed")
		}
	}
}

// giveUp closes whatever is open. It does not wait: a listener of the program's
// own may hold the server.
func giveUp(ctx context.Context, srv *http.Server) error {
	go srv.Close() //nolint:errcheck // it is being given up
	return fmt.Errorf("requests or listeners still running: %w", context.Cause(ctx))
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
