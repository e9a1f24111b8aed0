package middleware

import (
	"bufio"
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
// the optional interfaces of the writer inside. It is part of the exchange and never pooled, since a handler may
// keep it; its fields are atomic because nothing stops two goroutines of a handler from writing.
type writer struct {
	inner http.ResponseWriter
	x     *exchange

	status  atomic.Int32 // 0: no final header sent yet
	flags   atomic.Uint32
	flushes atomic.Int32

	err     firstError
	headers atomic.Pointer[[]attribute.KeyValue] // the chosen ones, as they were sent
}

// Flags of a writer.
const (
	flagTimed    = 1 << iota // Server-Timing is in the header
	flagHijacked             // the handler has the connection
	flagSSE                  // Content-Type: text/event-stream
)

// Header returns the header of the response.
func (w *writer) Header() http.Header { return w.inner.Header() }

// Unwrap returns the writer inside, for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.inner }

// WriteHeader sends the header. A code outside of 100–999 panics inside, and then none was sent.
func (w *writer) WriteHeader(code int) {
	if code >= 100 && code <= 199 && code != http.StatusSwitchingProtocols {
		w.inner.WriteHeader(code) // informational: the final one follows
		return
	}
	w.prepare()
	w.inner.WriteHeader(code)
	w.sent(code)
}

func (w *writer) Write(p []byte) (int, error) {
	w.prepare()
	n, err := w.inner.Write(p)
	w.wrote(err)
	return n, err
}

func (w *writer) writeString(s string) (int, error) {
	w.prepare()
	n, err := w.inner.(io.StringWriter).WriteString(s) //nolint:errcheck // combine has asked
	w.wrote(err)
	return n, err
}

// readFrom keeps the way to sendfile open. An empty source sends no header.
func (w *writer) readFrom(src io.Reader) (int64, error) {
	w.prepare()
	n, err := w.inner.(io.ReaderFrom).ReadFrom(src) //nolint:errcheck // combine has asked
	if n > 0 {
		w.sent(http.StatusOK)
	}
	w.failed(err)
	return n, err
}

func (w *writer) flush() {
	w.prepare()
	w.inner.(http.Flusher).Flush() //nolint:errcheck // combine has asked
	w.flushed(nil)
}

func (w *writer) flushError() error {
	w.prepare()
	err := w.inner.(interface{ FlushError() error }).FlushError() //nolint:errcheck // combine has asked
	w.flushed(err)
	return err
}

func (w *writer) flushed(err error) {
	w.flushes.Add(1)
	w.wrote(err)
}

func (w *writer) hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.inner.(http.Hijacker).Hijack() //nolint:errcheck // combine has asked
	if err == nil {
		w.flags.Or(flagHijacked)
	}
	return conn, rw, err
}

func (w *writer) closeNotify() <-chan bool {
	return w.inner.(http.CloseNotifier).CloseNotify() //nolint:staticcheck,errcheck // who has it keeps it; combine has asked
}

func (w *writer) setReadDeadline(t time.Time) error {
	return w.inner.(deadliner).SetReadDeadline(t) //nolint:errcheck // combine has asked
}

func (w *writer) setWriteDeadline(t time.Time) error {
	return w.inner.(deadliner).SetWriteDeadline(t) //nolint:errcheck // combine has asked
}

func (w *writer) enableFullDuplex() error {
	return w.inner.(interface{ EnableFullDuplex() error }).EnableFullDuplex() //nolint:errcheck // combine has asked
}

func (w *writer) push(target string, opts *http.PushOptions) error {
	return w.inner.(http.Pusher).Push(target, opts) //nolint:errcheck // combine has asked
}

// prepare comes before everything that may send the header.
func (w *writer) prepare() {
	if w.x.h.serverTiming && w.status.Load() == 0 && w.flags.Or(flagTimed)&flagTimed == 0 {
		w.inner.Header().Add("Server-Timing", serverTiming(w.x.span.SpanContext()))
	}
}

// wrote notes the end of a write. The first good one has sent the header.
func (w *writer) wrote(err error) {
	if err != nil {
		w.failed(err)
		return
	}
	if w.status.Load() == 0 {
		w.sent(http.StatusOK)
	}
}

// sent notes the final header; later ones are superfluous.
func (w *writer) sent(code int) {
	if !w.status.CompareAndSwap(0, int32(code)) { //nolint:gosec // the writer inside has panicked unless it is 100 to 999
		return
	}
	h := w.inner.Header()
	if ct := h["Content-Type"]; len(ct) > 0 && isSSE(ct[0]) {
		w.flags.Or(flagSSE)
	}
	if len(w.x.h.response) > 0 {
		kvs := w.x.h.responseHeaders(h)
		w.headers.Store(&kvs)
	}
}

func isSSE(contentType string) bool {
	const sse = "text/event-stream"
	return len(contentType) >= len(sse) && strings.EqualFold(contentType[:len(sse)], sse)
}

// failed notes the first failure to send. Three errors are none: a body on a response that may not have one
// (net/http drops it, as it should), writing after a hijack, and the body of a HEAD, whose response is whole with its
// header (HTTP/2 then closes the stream under the handler).
func (w *writer) failed(err error) {
	if err == nil || w.x.method == http.MethodHead || isError(err, http.ErrBodyNotAllowed) || isError(err, http.ErrHijacked) {
		return
	}
	w.err.keep(err)
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
