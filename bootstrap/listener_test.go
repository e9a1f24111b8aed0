package bootstrap_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// hangingListener accepts what is dialed, and does not hear that it is closed.
type hangingListener struct {
	*pipeListener
	closing chan struct{} // Close waits for it; nil: it does not
	release chan struct{}
}

func (l *hangingListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.release:
		return nil, net.ErrClosed
	}
}

func (l *hangingListener) Close() error {
	if l.closing != nil {
		<-l.closing
	}
	return nil
}

func TestServeWhenAcceptDoesNotReturn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		closeHangs bool
	}{{"Accept", false}, {"Accept and Close", true}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ln := &hangingListener{pipeListener: newPipeListener(), release: make(chan struct{})}
				defer close(ln.release)
				if tc.closeHangs {
					ln.closing = make(chan struct{})
					defer close(ln.closing)
				}
				tracing, _ := start(t, none(), timeout(8*time.Second))
				ctx, stop := context.WithCancel(t.Context())
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(time.Second)
					fmt.Fprint(w, "done")
				})}
				result := make(chan error, 1)
				go func() { result <- tracing.ServeListener(ctx, srv, ln) }()
				answer := get(t, ln.client(), "/")
				synctest.Wait()
				begin := time.Now()
				stop()
				if err := <-result; err != nil {
					t.Errorf("Serve: %v", err)
				}
				if got := <-answer; got != "done" {
					t.Errorf("the request in flight got %q", got)
				}
				if d := time.Since(begin); d < time.Second || d > 2*time.Second {
					t.Errorf("Serve took %v, want the time of the request", d)
				}
			})
		})
	}
}

// A connection that a listener hands out after its Close is closed.
func TestServeClosesLateConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln := &hangingListener{pipeListener: newPipeListener(), release: make(chan struct{})}
		tracing, _ := start(t, none())
		ctx, stop := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- tracing.ServeListener(ctx, &http.Server{}, ln) }()
		synctest.Wait()
		stop()
		if err := <-result; err != nil {
			t.Errorf("Serve: %v", err)
		}
		conn, err := ln.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("somebody answers")
		}
	})
}

// The program may serve the same server on a listener of its own, which is out
// of our reach.
func TestServeWhenAnotherListenerDoesNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other := &hangingListener{pipeListener: newPipeListener(), release: make(chan struct{})}
		defer close(other.release)
		srv := &http.Server{}
		s := serveInBubble(t, srv, 8*time.Second)
		go func() { _ = srv.Serve(other) }()
		synctest.Wait()
		begin := time.Now()
		s.stop()
		if err := <-s.result; err == nil || !strings.Contains(err.Error(), "still running") {
			t.Errorf("Serve: %v, want that something still runs", err)
		}
		if d := time.Since(begin); d > 8*time.Second {
			t.Errorf("Serve took %v", d)
		}
	})
}

func TestServeAServerThatWasClosedBefore(t *testing.T) {
	t.Parallel()
	srv := &http.Server{}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	tracing, _ := start(t, none())
	if err := tracing.ServeListener(t.Context(), srv, newPipeListener()); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve: %v, want http.ErrServerClosed", err)
	}
}

// The program's BaseContext gets the listener that the program knows.
func TestServeBaseContextGetsTheListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got net.Listener
		srv := &http.Server{BaseContext: func(ln net.Listener) context.Context {
			got = ln
			return context.Background()
		}}
		s := serveInBubble(t, srv, 8*time.Second)
		s.stop()
		if err := <-s.result; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if got != net.Listener(s.ln) {
			t.Errorf("BaseContext got %T, want the program's listener", got)
		}
	})
}

func timeout(d time.Duration) func(*bootstrap.Config) {
	return func(c *bootstrap.Config) { c.ShutdownTimeout = d }
}

type failingClose struct{ *pipeListener }

var errClose = errors.New("close failed")

func (l failingClose) Close() error {
	_ = l.pipeListener.Close()
	return errClose
}

func TestServeTellsWhatClosingSays(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, none())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := tracing.ServeListener(ctx, &http.Server{}, failingClose{newPipeListener()}); !errors.Is(err, errClose) {
		t.Errorf("Serve: %v, want %v", err, errClose)
	}
}
