package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/middleware"
)

const benchParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// discard is an exporter that keeps nothing.
type discard struct{}

func (discard) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (discard) Shutdown(context.Context) error                             { return nil }

// benchWriter costs nothing itself.
type benchWriter struct{ h http.Header }

func (w *benchWriter) Header() http.Header         { return w.h }
func (w *benchWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *benchWriter) WriteHeader(int)             {}

// benchRequest is routed, has a query, a User-Agent and a port, so that its span has every Required and
// Recommended attribute.
func benchRequest(traceparent bool) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://shop.example:8080/users/42?page=2&sort=name", http.NoBody)
	r.Header.Set("User-Agent", "bench/1.0")
	if traceparent {
		r.Header.Set("Traceparent", benchParent)
	}
	return r
}

func benchMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return mux
}

func benchProvider(tb testing.TB, sampler sdktrace.Sampler) trace.TracerProvider {
	tb.Helper()
	if sampler == nil {
		return noop.NewTracerProvider()
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithBatcher(discard{}))
	tb.Cleanup(func() { _ = tp.Shutdown(context.Background()) })
	return tp
}

func waymark(tp trace.TracerProvider) http.Handler {
	return middleware.New(benchMux(), middleware.WithTracerProvider(tp), middleware.WithPropagators(benchPropagators()))
}

func rival(tp trace.TracerProvider) http.Handler {
	return otelhttp.NewHandler(benchMux(), "", otelhttp.WithTracerProvider(tp), otelhttp.WithPropagators(benchPropagators()))
}

func benchPropagators() propagation.TextMapPropagator { return propagation.TraceContext{} }

// BenchmarkMiddleware compares the middleware with the bare mux and with otelhttp.
func BenchmarkMiddleware(b *testing.B) {
	cases := []struct {
		name        string
		sampler     sdktrace.Sampler // nil: off
		traceparent bool
	}{
		{"sampled", sdktrace.AlwaysSample(), false},
		{"sampled_traceparent", sdktrace.AlwaysSample(), true},
		{"notsampled", sdktrace.NeverSample(), false},
		{"notsampled_traceparent", sdktrace.NeverSample(), true},
		{"off", nil, false},
	}
	handlers := []struct {
		name string
		make func(trace.TracerProvider) http.Handler
	}{
		{"bare", func(trace.TracerProvider) http.Handler { return benchMux() }},
		{"otelhttp", rival},
		{"waymark", waymark},
	}
	for _, h := range handlers {
		for _, c := range cases {
			b.Run(h.name+"/"+c.name, func(b *testing.B) {
				handler := h.make(benchProvider(b, c.sampler))
				r, w := benchRequest(c.traceparent), &benchWriter{http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					handler.ServeHTTP(w, r)
				}
			})
		}
	}
}
