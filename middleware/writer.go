package middleware

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

//go:generate go run ./internal/genwriter

// writer watches a response on its way out. Handlers see it as one of the types of combine, which have exactly
// the optional interfaces of the writer inside. It is never pooled, since a handler may keep it: after the handler's
// return, when net/http allows no use of a writer any more, it holds nothing and does nothing.
type writer struct{ x atomic.Pointer[exchange] }

// response is what is known of a response. Its fields are atomic because nothing stops two goroutines of a handler
// from writing.
type response struct {
	status  atomic.Int32 // 0: no final header sent yet
	flags   atomic.Uint32
	flushes atomic.Int32
	err     firstError
	headers atomic.Pointer[[]attribute.KeyValue] // the chosen ones, as they were sent
}

// Flags of a response.
const (
	flagTimed    = 1 << iota // Server-Timing is in the header
	flagHijacked             // the handler has the connection
	flagSSE                  // Content-Type: text/event-stream
)

// errReturned is what a writer answers after the handler's return.
var errReturned = errors.New("middleware: the handler of this response has returned")

// Header returns the header of the response.
func (w *writer) Header() http.Header {
	if x := w.x.Load(); x != nil {
		return x.w.Header()
	}
	return http.Header{}
}

// Unwrap returns the writer inside, for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter {
	if x := w.x.Load(); x != nil {
		return x.w
	}
	return nil
}

// WriteHeader sends the header. A code outside of 100–999 panics inside, and then none was sent.
func (w *writer) WriteHeader(code int) {
	x := w.x.Load()
	if x == nil {
		return
	}
	if code >= 100 && code <= 199 && code != http.StatusSwitchingProtocols {
		x.w.WriteHeader(code) // informational: the final one follows
		return
	}
	x.prepare()
	x.w.WriteHeader(code)
	x.sent(code)
}

func (w *writer) Write(p []byte) (int, error) {
	x := w.x.Load()
	if x == nil {
		return 0, errReturned
	}
	x.prepare()
	n, err := x.w.Write(p)
	x.wrote(err)
	return n, err
}

func (w *writer) writeString(s string) (int, error) {
	x := w.x.Load()
	if x == nil {
		return 0, errReturned
	}
	x.prepare()
	n, err := x.w.(io.StringWriter).WriteString(s) //nolint:errcheck // combine has asked
	x.wrote(err)
	return n, err
}

// readFrom keeps the way to sendfile open. An empty source sends no header.
func (w *writer) readFrom(src io.Reader) (int64, error) {
	x := w.x.Load()
	if x == nil {
		return 0, errReturned
	}
	x.prepare()
	n, err := x.w.(io.ReaderFrom).ReadFrom(src) //nolint:errcheck // combine has asked
	if n > 0 {
		x.sent(http.StatusOK)
	}
	x.failed(err)
	return n, err
}

func (w *writer) flush() {
	if x := w.x.Load(); x != nil {
		x.prepare()
		x.w.(http.Flusher).Flush() //nolint:errcheck // combine has asked
		x.flushed(nil)
	}
}

func (w *writer) flushError() error {
	x := w.x.Load()
	if x == nil {
		return errReturned
	}
	x.prepare()
	err := x.w.(interface{ FlushError() error }).FlushError() //nolint:errcheck // combine has asked
	x.flushed(err)
	return err
}

func (w *writer) hijack() (net.Conn, *bufio.ReadWriter, error) {
	x := w.x.Load()
	if x == nil {
		return nil, nil, errReturned
	}
	conn, rw, err := x.w.(http.Hijacker).Hijack() //nolint:errcheck // combine has asked
	if err == nil {
		x.response.flags.Or(flagHijacked)
	}
	return conn, rw, err
}

func (w *writer) closeNotify() <-chan bool {
	if x := w.x.Load(); x != nil {
		return x.w.(http.CloseNotifier).CloseNotify() //nolint:staticcheck,errcheck // who has it keeps it; combine has asked
	}
	gone := make(chan bool, 1)
	gone <- true
	return gone
}

func (w *writer) setReadDeadline(t time.Time) error {
	return ask(w, func(d deadliner) error { return d.SetReadDeadline(t) })
}

func (w *writer) setWriteDeadline(t time.Time) error {
	return ask(w, func(d deadliner) error { return d.SetWriteDeadline(t) })
}

func (w *writer) enableFullDuplex() error {
	return ask(w, func(d interface{ EnableFullDuplex() error }) error { return d.EnableFullDuplex() })
}

func (w *writer) push(target string, opts *http.PushOptions) error {
	return ask(w, func(p http.Pusher) error { return p.Push(target, opts) })
}

// ask asks the writer inside, which has the interface: combine has seen it.
func ask[T any](w *writer, what func(T) error) error {
	x := w.x.Load()
	if x == nil {
		return errReturned
	}
	return what(x.w.(T)) //nolint:errcheck // combine has asked
}

// prepare comes before everything that may send the header.
func (x *exchange) prepare() {
	if x.h.serverTiming && x.response.status.Load() == 0 && x.response.flags.Or(flagTimed)&flagTimed == 0 {
		x.w.Header().Add("Server-Timing", serverTiming(x.span.SpanContext()))
	}
}

// wrote notes the end of a write. The first good one has sent the header.
func (x *exchange) wrote(err error) {
	if err != nil {
		x.failed(err)
		return
	}
	if x.response.status.Load() == 0 {
		x.sent(http.StatusOK)
	}
}

func (x *exchange) flushed(err error) {
	x.response.flushes.Add(1)
	x.wrote(err)
}

// sent notes the final header; later ones are superfluous.
func (x *exchange) sent(code int) {
	if !x.response.status.CompareAndSwap(0, int32(code)) { //nolint:gosec // the writer inside has panicked unless it is 100 to 999
		return
	}
	h := x.w.Header()
	if ct := h["Content-Type"]; len(ct) > 0 && isSSE(ct[0]) {
		x.response.flags.Or(flagSSE)
	}
	if len(x.h.response) > 0 {
		kvs := x.h.responseHeaders(h)
		x.response.headers.Store(&kvs)
	}
}

func isSSE(contentType string) bool {
	const sse = "text/event-stream"
	return len(contentType) >= len(sse) && strings.EqualFold(contentType[:len(sse)], sse)
}

// failed notes the first failure to send. Three errors are none: a body on a response that may not have one
// (net/http drops it, as it should), writing after a hijack, and the body of a HEAD, whose response is whole with its
// header (HTTP/2 then closes the stream under the handler).
func (x *exchange) failed(err error) {
	if err == nil || x.method == http.MethodHead || isError(err, http.ErrBodyNotAllowed) || isError(err, http.ErrHijacked) {
		return
	}
	x.response.err.keep(err)
}

// The optional interfaces, as bits. The order is that of genwriter.
const (
	hasFlusher = 1 << iota
	hasFlushError
	hasCloseNotifier
	hasHijacker
	hasReaderFrom
	hasDeadliner
	hasFullDuplex
	hasPusher
	hasStringWriter
)

type deadliner interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// optional returns the optional interfaces of w.
func optional(w http.ResponseWriter) uint16 {
	var has uint16
	set := func(bit uint16, ok bool) {
		if ok {
			has |= bit
		}
	}
	_, ok := w.(http.Flusher)
	set(hasFlusher, ok)
	_, ok = w.(interface{ FlushError() error })
	set(hasFlushError, ok)
	_, ok = w.(http.CloseNotifier) //nolint:staticcheck // who has it keeps it
	set(hasCloseNotifier, ok)
	_, ok = w.(http.Hijacker)
	set(hasHijacker, ok)
	_, ok = w.(io.ReaderFrom)
	set(hasReaderFrom, ok)
	_, ok = w.(deadliner)
	set(hasDeadliner, ok)
	_, ok = w.(interface{ EnableFullDuplex() error })
	set(hasFullDuplex, ok)
	_, ok = w.(http.Pusher)
	set(hasPusher, ok)
	_, ok = w.(io.StringWriter)
	set(hasStringWriter, ok)
	return has
}

// kinds remembers the optional interfaces of the last type of writer: a server has one or two, and nine type
// assertions cost more than the rest of the wrapping.
type kinds struct{ last atomic.Pointer[kind] }

type kind struct {
	of  reflect.Type
	has uint16
}

func (k *kinds) of(w http.ResponseWriter) uint16 {
	t := reflect.TypeOf(w)
	if last := k.last.Load(); last != nil && last.of == t {
		return last.has
	}
	next := &kind{t, optional(w)}
	k.last.Store(next)
	return next.has
}
