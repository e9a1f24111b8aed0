package bootstrap

import (
	"errors"
	"net"
	"sync"
	"time"
)

// endingListener is a listener whose Accept returns once Close is called, also
// when the inner Accept does not: [net/http.Server.Shutdown] and Close wait for
// Accept without a bound.
type endingListener struct {
	net.Listener
	closed chan struct{}
	once   sync.Once
	inner  chan error // what the inner Close returned
}

func newEndingListener(inner net.Listener) *endingListener {
	return &endingListener{Listener: inner, closed: make(chan struct{}), inner: make(chan error, 1)}
}

type accepted struct {
	conn     net.Conn
	err      error
	panicked bool
	value    any
}

// Accept returns what the inner Accept does, with its panics, or
// [net.ErrClosed] after Close. A connection that comes later is closed.
func (l *endingListener) Accept() (net.Conn, error) {
	result := make(chan accepted, 1)
	go func() { result <- l.accept() }()
	select {
	case r := <-result:
		if r.panicked {
			panic(r.value) // it is the inner listener's
		}
		return r.conn, r.err
	case <-l.closed:
		go func() {
			if r := <-result; r.conn != nil {
				_ = r.conn.Close() // nobody serves it
			}
		}()
		return nil, net.ErrClosed
	}
}

func (l *endingListener) accept() (r accepted) {
	r.panicked = true
	defer func() {
		if r.panicked {
			r.value = recover()
		}
	}()
	r.conn, r.err = l.Listener.Accept()
	r.panicked = false
	return r
}

// Close begins to close the inner listener. It does not wait: net/http holds
// the server's lock meanwhile.
func (l *endingListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		go func() { l.inner <- l.Listener.Close() }()
	})
	return nil
}

// wait returns what closing the inner listener said, so that its address is free
// again; nil when it does not return soon.
func (l *endingListener) wait() error {
	_ = l.Close()
	select {
	case err := <-l.inner:
		if !errors.Is(err, net.ErrClosed) {
			return err
		}
	case <-time.After(lateness):
	}
	return nil
}
