package middleware

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
)

// writer watches a response on its way out. Handlers see it as one of the types of combine, which have the interfaces
// of the writer inside that handlers find by a direct assertion. It is never pooled, since a handler may keep it: after the handler's
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

// WriteString writes s, as [io.WriteString] would to the writer inside.
func (w *writer) WriteString(s string) (int, error) {
	x := w.x.Load()
	if x == nil {
		return 0, errReturned
	}
	x.prepare()
	n, err := io.WriteString(x.w, s)
	x.wrote(err)
	return n, err
}

// ReadFrom keeps the way to sendfile open. A writer inside without ReadFrom gets what io.Copy would write to it. An
// empty source sends no header.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	x := w.x.Load()
	if x == nil {
		return 0, errReturned
	}
	to, ok := x.w.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	x.prepare()
	from, isSources := sourceOf(src)
	n, err := to.ReadFrom(from)
	if n > 0 {
		x.sent(http.StatusOK)
	}
	if !isSources(err) {
		x.failed(err)
	}
	return n, err
}

// flush flushes the writer inside, which is a Flusher, and may tell an error.
func (w *writer) flush() error {
	x := w.x.Load()
	if x == nil {
		return errReturned
	}
	x.prepare()
	var err error
	switch f := x.w.(type) {
	case interface{ FlushError() error }:
		err = f.FlushError()
	case http.Flusher:
		f.Flush()
	}
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

func (w *writer) push(target string, opts *http.PushOptions) error {
	if x := w.x.Load(); x != nil {
		return x.w.(http.Pusher).Push(target, opts) //nolint:errcheck // combine has asked
	}
	return errReturned
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
