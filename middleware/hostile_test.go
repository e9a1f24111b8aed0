package middleware_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// nilError is the classic bug: its nil pointer is an error that is not nil, and
// every method of it panics.
type nilError struct{ inner error }

func (e *nilError) Error() string { return e.inner.Error() }
func (e *nilError) Timeout() bool { return e.inner == nil }
func (e *nilError) Unwrap() error { return e.inner }

type nilErrorWriter struct{ http.ResponseWriter }

func (nilErrorWriter) Write([]byte) (int, error) { return 0, (*nilError)(nil) }

type nilErrorBody struct{ io.ReadCloser }

func (nilErrorBody) Read([]byte) (int, error) { return 0, (*nilError)(nil) }

func TestAnErrorWhoseMethodsPanicBreaksNoRequest(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"write", "read"} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			h := middleware.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if in == "read" {
					_, _ = r.Body.Read(make([]byte, 1))
				} else {
					_, _ = io.WriteString(w, "ok")
				}
			}), middleware.WithTracerProvider(tr.TracerProvider()))
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
			r.Body = nilErrorBody{r.Body}
			h.ServeHTTP(nilErrorWriter{httptest.NewRecorder()}, r)
			tr.Span("POST").Attr("error.type", "*middleware_test.nilError")
		})
	}
}

type panickyPropagator struct{ propagation.TraceContext }

func (panickyPropagator) Extract(context.Context, propagation.TextMapCarrier) context.Context {
	panic("a bug in the propagator")
}

type panickySampler struct{ sdktrace.Sampler }

func (panickySampler) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	panic("a bug in the sampler")
}

type panickyProcessor struct{ sdktrace.SpanProcessor }

func (panickyProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (panickyProcessor) OnEnd(sdktrace.ReadOnlySpan)                     { panic("a bug in the processor") }
func (panickyProcessor) Shutdown(context.Context) error                  { return nil }

// Whatever is hooked into tracing and panics: the handler runs once and its
// response arrives.
func TestAHookThatPanicsBreaksNoRequest(t *testing.T) {
	t.Parallel()
	filter := func(*http.Request) bool { panic("a bug in the filter") }
	for name, opts := range map[string][]middleware.Option{
		"filter":     {middleware.WithFilter(filter)},
		"public":     {middleware.WithPublicEndpoint(filter)},
		"propagator": {middleware.WithPropagators(panickyPropagator{})},
		"sampler":    {middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(panickySampler{})))},
		"processor":  {middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(panickyProcessor{})))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			opts = append([]middleware.Option{middleware.WithTracerProvider(sdktrace.NewTracerProvider())}, opts...)
			srv := httptest.NewUnstartedServer(middleware.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls++
				_, _ = io.WriteString(w, "ok")
			}), opts...))
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.Start()
			defer srv.Close()
			resp, err := srv.Client().Get(srv.URL)
			if err != nil {
				t.Fatalf("the request is not answered: %v", err)
			}
			defer func() { _ = resp.Body.Close() }()
			if body, err := io.ReadAll(resp.Body); string(body) != "ok" || err != nil || calls != 1 {
				t.Errorf("answer %q, %v after %d calls", body, err, calls)
			}
		})
	}
}

// A finalizer can only be set on what begins an allocation, and ends the program otherwise. Handlers that watch
// their request so are served, whether the span is recorded or not.
func TestFinalizerOnTheRequest(t *testing.T) {
	t.Parallel()
	for name, sampler := range map[string]sdktrace.Sampler{"recorded": sdktrace.AlwaysSample(), "not recorded": sdktrace.NeverSample()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := false
			h := middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				runtime.SetFinalizer(r, func(*http.Request) {})
			}), middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))))
			h.ServeHTTP(httptest.NewRecorder(), get("/"))
			if !called {
				t.Error("the handler was not called")
			}
		})
	}
}
