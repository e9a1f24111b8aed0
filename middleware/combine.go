package middleware

import (
	"bufio"
	"net"
	"net/http"
	"reflect"
	"sync/atomic"
)

// The interfaces that handlers find by a direct assertion, as bits. All else that a writer can do is found through
// [http.ResponseController], [io.WriteString] and [io.Copy], for which every combination has what is needed.
const (
	hasFlusher = 1 << iota
	hasCloseNotifier
	hasHijacker
	hasPusher
)

// optional returns the interfaces of w.
func optional(w http.ResponseWriter) (has uint8) {
	if _, ok := w.(http.Flusher); ok {
		has |= hasFlusher
	}
	if _, ok := w.(http.CloseNotifier); ok { //nolint:staticcheck // who has it keeps it
		has |= hasCloseNotifier
	}
	if _, ok := w.(http.Hijacker); ok {
		has |= hasHijacker
	}
	if _, ok := w.(http.Pusher); ok {
		has |= hasPusher
	}
	return has
}

// kinds remembers the interfaces of the last type of writer: a server has one or two types, and the assertions cost
// more than the rest of the wrapping.
type kinds struct{ last atomic.Pointer[kind] }

type kind struct {
	of  reflect.Type
	has uint8
}

func (k *kinds) of(w http.ResponseWriter) uint8 {
	t := reflect.TypeOf(w)
	if last := k.last.Load(); last != nil && last.of == t {
		return last.has
	}
	next := &kind{t, optional(w)}
	k.last.Store(next)
	return next.has
}

// combine returns w with the interfaces of has. Each type is one pointer, however deep, so that the conversion to an
// interface allocates nothing.
func combine(w *writer, has uint8) http.ResponseWriter {
	switch has {
	case hasFlusher:
		return writerF{w}
	case hasCloseNotifier:
		return writerC{w}
	case hasFlusher | hasCloseNotifier:
		return writerFC{writerF{w}}
	case hasHijacker:
		return writerH{w}
	case hasFlusher | hasHijacker:
		return writerFH{writerF{w}}
	case hasCloseNotifier | hasHijacker:
		return writerCH{writerC{w}}
	case hasFlusher | hasCloseNotifier | hasHijacker:
		return writerFCH{writerFC{writerF{w}}}
	}
	return combinePusher(w, has)
}

func combinePusher(w *writer, has uint8) http.ResponseWriter {
	switch has {
	case hasPusher:
		return writerP{w}
	case hasPusher | hasFlusher:
		return writerFP{writerF{w}}
	case hasPusher | hasCloseNotifier:
		return writerCP{writerC{w}}
	case hasPusher | hasFlusher | hasCloseNotifier:
		return writerFCP{writerFC{writerF{w}}}
	case hasPusher | hasHijacker:
		return writerHP{writerH{w}}
	case hasPusher | hasFlusher | hasHijacker:
		return writerFHP{writerFH{writerF{w}}}
	case hasPusher | hasCloseNotifier | hasHijacker:
		return writerCHP{writerCH{writerC{w}}}
	case hasPusher | hasFlusher | hasCloseNotifier | hasHijacker:
		return writerFCHP{writerFCH{writerFC{writerF{w}}}}
	}
	return w
}

// The combinations: F flushes, C tells that the client is gone, H hijacks, P pushes.
type (
	writerF    struct{ *writer }
	writerC    struct{ *writer }
	writerH    struct{ *writer }
	writerP    struct{ *writer }
	writerFC   struct{ writerF }
	writerFH   struct{ writerF }
	writerFP   struct{ writerF }
	writerCH   struct{ writerC }
	writerCP   struct{ writerC }
	writerHP   struct{ writerH }
	writerFCH  struct{ writerFC }
	writerFCP  struct{ writerFC }
	writerFHP  struct{ writerFH }
	writerCHP  struct{ writerCH }
	writerFCHP struct{ writerFCH }
)

func (w writerF) Flush()            { _ = w.flush() }
func (w writerF) FlushError() error { return w.flush() }

func (w writerC) CloseNotify() <-chan bool  { return w.closeNotify() }
func (w writerFC) CloseNotify() <-chan bool { return w.closeNotify() }

func (w writerH) Hijack() (net.Conn, *bufio.ReadWriter, error)   { return w.hijack() }
func (w writerFH) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return w.hijack() }
func (w writerCH) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return w.hijack() }
func (w writerFCH) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

func (w writerP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerFP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerCP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerHP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerFCP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerFHP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerCHP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

func (w writerFCHP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }
