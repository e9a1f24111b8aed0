package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/middleware"
)

const (
	patience   = 30 * time.Second // for what happens at once unless something is broken
	callerSpan = "00f067aa0ba902b7"
	callerID   = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerHead = "00-" + callerID + "-" + callerSpan + "-01"
)

// recorder collects ended spans. ended has a token for each.
type recorder struct {
	*tracetest.SpanRecorder
	tp    *sdktrace.TracerProvider
	ended chan struct{}
	taken int // by next
}

func (r *recorder) OnEnd(s sdktrace.ReadOnlySpan) {
	r.SpanRecorder.OnEnd(s)
	r.ended <- struct{}{}
}

func newRecorder(tb testing.TB, opts ...sdktrace.TracerProviderOption) *recorder {
	tb.Helper()
	r := &recorder{SpanRecorder: tracetest.NewSpanRecorder(), ended: make(chan struct{}, 1<<16)}
	r.tp = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(r))...)
	tb.Cleanup(func() { _ = r.tp.Shutdown(context.Background()) })
	return r
}

// next waits for the next span to end.
func (r *recorder) next(tb testing.TB) span {
	tb.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		tb.Fatal("no span has ended")
	}
	r.taken++
	return span{tb, r.Ended()[r.taken-1]}
}

// only returns the one span there is.
func (r *recorder) only(tb testing.TB) span {
	tb.Helper()
	all := r.Ended()
	if len(all) != 1 {
		tb.Fatalf("%d spans, want 1", len(all))
	}
	return span{tb, all[0]}
}

// wrap wraps next with spans that go to r, and W3C propagation.
func (r *recorder) wrap(next http.Handler, opts ...middleware.Option) http.Handler {
	base := []middleware.Option{middleware.WithTracerProvider(r.tp), middleware.WithPropagators(w3c())}
	return middleware.New(next, append(base, opts...)...)
}

func w3c() propagation.TextMapPropagator {
	return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
}

// span is a span with questions.
type span struct {
	tb testing.TB
	sdktrace.ReadOnlySpan
}

// attr returns an attribute as text, and "" when it is missing.
func (s span) attr(key string) string {
	for _, kv := range s.Attributes() {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

// want checks attributes in pairs; the value "" stands for "absent".
func (s span) want(pairs ...string) span {
	s.tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := s.attr(pairs[i]); got != pairs[i+1] {
			s.tb.Errorf("%s = %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
	return s
}

func (s span) wantName(want string) span {
	s.tb.Helper()
	if got := s.Name(); got != want {
		s.tb.Errorf("name = %q, want %q", got, want)
	}
	return s
}

func (s span) wantStatus(want codes.Code) span {
	s.tb.Helper()
	if got := s.Status().Code; got != want {
		s.tb.Errorf("status = %v (%q), want %v", got, s.Status().Description, want)
	}
	return s
}

// one serves one request in process and returns its span.
func one(tb testing.TB, next http.Handler, r *http.Request, opts ...middleware.Option) (span, *httptest.ResponseRecorder) {
	tb.Helper()
	rec := newRecorder(tb)
	w := httptest.NewRecorder()
	rec.wrap(next, opts...).ServeHTTP(w, r)
	return rec.only(tb), w
}

// panicsWith serves one request whose handler panics, and returns the span and the value that came out.
func panicsWith(tb testing.TB, next http.Handler, r *http.Request, opts ...middleware.Option) (s span, value any) {
	tb.Helper()
	rec := newRecorder(tb)
	func() {
		defer func() { value = recover() }()
		rec.wrap(next, opts...).ServeHTTP(httptest.NewRecorder(), r)
	}()
	return rec.only(tb), value
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
