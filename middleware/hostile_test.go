package middleware_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
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

type panickyInjector struct{ propagation.TraceContext }

func (panickyInjector) Inject(context.Context, propagation.TextMapCarrier) {
	panic("a bug in the propagator")
}

// The same of a client: the request goes out once, and its answer arrives.
func TestAHookThatPanicsBreaksNoCall(t *testing.T) {
	t.Parallel()
	provider := func(opts ...sdktrace.TracerProviderOption) middleware.Option {
		return middleware.WithTracerProvider(sdktrace.NewTracerProvider(opts...))
	}
	skip := middleware.WithFilter(func(*http.Request) bool { return false })
	for name, opts := range map[string][]middleware.Option{
		"filter":                  {middleware.WithFilter(func(*http.Request) bool { panic("a bug in the filter") })},
		"propagator":              {middleware.WithPropagators(panickyInjector{})},
		"propagator, no span":     {middleware.WithPropagators(panickyInjector{}), skip},
		"sampler":                 {provider(sdktrace.WithSampler(panickySampler{}))},
		"processor, at the end":   {provider(sdktrace.WithSpanProcessor(panickyProcessor{}))},
		"processor, at the start": {provider(sdktrace.WithSpanProcessor(panickyStart{}))},
	} {
		for _, failed := range []error{nil, (*nilError)(nil)} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				calls := 0
				rt := middleware.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
					calls++
					if failed != nil {
						return nil, failed
					}
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok"))}, nil
				}), append([]middleware.Option{provider()}, opts...)...)
				resp, err := rt.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.example/", http.NoBody))
				if calls != 1 || err != failed { //nolint:errorlint // the error itself is wanted
					t.Fatalf("error %T after %d calls", err, calls)
				}
				if failed != nil {
					return
				}
				defer func() { _ = resp.Body.Close() }()
				if body, err := io.ReadAll(resp.Body); string(body) != "ok" || err != nil {
					t.Errorf("answer %q, %v", body, err)
				}
			})
		}
	}
}

type panickyStart struct{ panickyProcessor }

func (panickyStart) OnStart(context.Context, sdktrace.ReadWriteSpan) { panic("a bug in the processor") }

// The span of a call whose transport panics ends, and the panic goes on. So does that of one whose error cannot be told.
func TestTransportThatPanics(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	opt := middleware.WithTracerProvider(tr.TracerProvider())
	func() {
		defer func() {
			if p := recover(); p != "a bug in the transport" {
				t.Errorf("recovered %v", p)
			}
		}()
		rt := middleware.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { panic("a bug in the transport") }), opt)
		_ = call(t, rt, t.Context(), "http://shop.example/")
	}()
	if s := tr.Span("GET").Times(1).Err().One(); s.Open() {
		t.Error("the span has not ended")
	}
	rt := middleware.NewTransport(&network{err: (*nilError)(nil)}, opt)
	_, err := rt.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.example/", http.NoBody)) //nolint:bodyclose // there is none
	if err != (*nilError)(nil) {                                                                                             //nolint:errorlint // the error itself is wanted
		t.Errorf("error %T", err)
	}
	if s := tr.Span("GET").Times(2).Err().Attr("error.type", "*middleware_test.nilError").One(); s.Open() {
		t.Error("the span has not ended")
	}
}

// collected reports whether the collector brings done to its end.
func collected(done <-chan struct{}) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		runtime.GC()
		select {
		case <-done:
			return true
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// A finalizer can only be set on what begins an allocation, and ends the program otherwise.
func TestFinalizerOnTheRequest(t *testing.T) {
	t.Parallel()
	for name, sampler := range map[string]sdktrace.Sampler{"recorded": sdktrace.AlwaysSample(), "not recorded": sdktrace.NeverSample()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				runtime.SetFinalizer(r, func(*http.Request) { close(done) })
			}), middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler)))).ServeHTTP(httptest.NewRecorder(), get("/"))
			if !collected(done) {
				t.Error("the finalizer has not run")
			}
		})
		t.Run(name+", on the context", func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				runtime.SetFinalizer(r.Context(), func(context.Context) { close(done) })
			}), middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler)))).ServeHTTP(httptest.NewRecorder(), get("/"))
			if !collected(done) {
				t.Error("the finalizer has not run")
			}
		})
	}
}

// changing is a provider whose tracers change the options they are given in place.
type changing struct{ trace.TracerProvider }

func (p changing) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return changingTracer{p.TracerProvider.Tracer(name, opts...)}
}

type changingTracer struct{ trace.Tracer }

func (t changingTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx, span := t.Tracer.Start(ctx, name, opts...)
	for i := range opts {
		opts[i] = trace.WithSpanKind(trace.SpanKindProducer)
	}
	return ctx, span
}

// A tracer may do with its options what it likes: the next span has its own, whatever the pool hands out.
func TestATracerThatChangesItsOptions(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	for range 100 {
		middleware.New(status(http.StatusOK), middleware.WithTracerProvider(changing{tr.TracerProvider()})).ServeHTTP(httptest.NewRecorder(), get("/"))
	}
	tr.Span("GET").Times(100).Kind(traces.KindServer)
}

type failingLate struct{ http.ResponseWriter }

func (failingLate) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A goroutine that writes after the handler's return looks at nothing of the request outside, which somebody else may have
// again. The race detector is the judge.
func TestALateWriteLooksAtNoRequest(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	h := middleware.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		wg.Go(func() {
			for range 100 {
				_, _ = w.Write([]byte("x"))
			}
		})
	}), middleware.WithTracerProvider(sdktrace.NewTracerProvider()))
	r := get("/")
	h.ServeHTTP(failingLate{httptest.NewRecorder()}, r)
	for range 100 {
		*r = *r.WithContext(t.Context())
	}
	wg.Wait()
}

// What others do to the request outside while it is served does not part a span's name from its method.
func TestTheMethodIsTheOneThatCame(t *testing.T) {
	t.Parallel()
	outer := httptest.NewRequest(http.MethodPost, "/x", http.NoBody)
	tr := one(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		outer.Method = http.MethodDelete
		middleware.SetRoute(r.Context(), "/x")
	}), outer)
	tr.Span("POST /x").Attr("http.request.method", "POST")
}
