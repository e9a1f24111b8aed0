package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

const (
	patience   = 30 * time.Second // for what happens at once unless something is broken
	callerSpan = "00f067aa0ba902b7"
	callerID   = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerHead = "00-" + callerID + "-" + callerSpan + "-01"
)

// wrap wraps next with spans that go to tr, and W3C propagation.
func wrap(tr *capturetest.Trace, next http.Handler, opts ...middleware.Option) http.Handler {
	base := []middleware.Option{middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c())}
	return middleware.New(next, append(base, opts...)...)
}

func w3c() propagation.TextMapPropagator {
	return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
}

// one serves one request in process and returns its spans.
func one(tb testing.TB, next http.Handler, r *http.Request, opts ...middleware.Option) *capturetest.Trace {
	tb.Helper()
	_, tr := capturetest.Start(tb)
	wrap(tr, next, opts...).ServeHTTP(httptest.NewRecorder(), r)
	return tr
}

// panicsWith serves one request whose handler panics, and returns its spans and the value that came out.
func panicsWith(tb testing.TB, next http.Handler, r *http.Request) (tr *capturetest.Trace, value any) {
	tb.Helper()
	_, tr = capturetest.Start(tb)
	defer func() { value = recover() }()
	wrap(tr, next).ServeHTTP(httptest.NewRecorder(), r)
	return tr, nil
}

// text asks for an attribute as a table has it: "" stands for "absent".
func text(s *capturetest.Spans, key, want string) *capturetest.Spans {
	if want == "" {
		return s.NoAttr(key)
	}
	return s.Attr(key, want)
}

func get(target string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func muxOf(pattern string, h http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, h)
	return mux
}

type ctxKey struct{}

// copying is a layer that passes on a copy of the request.
func copying(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ctxKey{}, 1)))
	})
}

// as asserts a type.
func as[T any](v any) T {
	t, ok := v.(T)
	if !ok {
		panic("wrong type")
	}
	return t
}
