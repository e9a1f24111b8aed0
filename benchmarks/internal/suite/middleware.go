package suite

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/tracecontext"
)

// Traceparent is the header of a sampled caller.
const Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// userAgent is what the requests say they come from.
const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Discard is an exporter that keeps nothing.
type Discard struct{}

// ExportSpans does nothing.
func (Discard) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

// Shutdown does nothing.
func (Discard) Shutdown(context.Context) error { return nil }

// responseWriter costs nothing, and has the optional interfaces of net/http's
// own, so that wrappers take the way that they take in a server.
type responseWriter struct{ header http.Header }

func newResponseWriter() *responseWriter { return &responseWriter{http.Header{}} }

func (w *responseWriter) Header() http.Header               { return w.header }
func (*responseWriter) Write(p []byte) (int, error)         { return len(p), nil }
func (*responseWriter) WriteString(s string) (int, error)   { return len(s), nil }
func (*responseWriter) WriteHeader(int)                     {}
func (*responseWriter) Flush()                              {}
func (*responseWriter) FlushError() error                   { return nil }
func (*responseWriter) CloseNotify() <-chan bool            { return nil }
func (*responseWriter) ReadFrom(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) }
func (*responseWriter) SetReadDeadline(time.Time) error     { return nil }
func (*responseWriter) SetWriteDeadline(time.Time) error    { return nil }
func (*responseWriter) EnableFullDuplex() error             { return nil }
func (*responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, http.ErrNotSupported
}

// Request is a GET of a routed path with a query, a port and a User-Agent: its
// server span has every Required and Recommended attribute of the conventions.
func Request(traceparent bool) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://shop.example:8080/users/42?page=2&sort=name", http.NoBody)
	r.RemoteAddr = "192.0.2.7:51234"
	r.Header.Set("User-Agent", userAgent)
	if traceparent {
		r.Header.Set("Traceparent", Traceparent)
	}
	return r
}

// Mux is the program: one route, whose handler answers two bytes.
func Mux() http.Handler {
	mux := http.NewServeMux()
	body := []byte("ok")
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	return mux
}

// Ours wraps the program with the middleware.
func Ours(tp trace.TracerProvider) http.Handler {
	return middleware.New(Mux(), middleware.WithTracerProvider(tp), middleware.WithPropagators(tracecontext.New()))
}

// Otelhttp wraps the program with the rival.
func Otelhttp(tp trace.TracerProvider) http.Handler {
	return otelhttpAround(Mux(), tp)
}

func otelhttpAround(h http.Handler, tp trace.TracerProvider) http.Handler {
	return otelhttp.NewHandler(h, "server", otelhttp.WithTracerProvider(tp), otelhttp.WithPropagators(propagation.TraceContext{}))
}

// sdk is a provider with a batch processor that discards.
func sdk(s sdktrace.Sampler) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(Discard{}))
}
