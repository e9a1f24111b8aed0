package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/tracecontext"
)

// served shows look the context of a handler whose caller has sent a trace, that of benchParent.
func served(t *testing.T, look func(context.Context), opts ...middleware.Option) {
	t.Helper()
	called := false
	h := middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called = true
		look(r.Context())
	}), opts...)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Traceparent", benchParent)
	r.Header.Set("Baggage", "k=v")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if !called {
		t.Error("the handler was not called")
	}
}

// The caller's trace goes on: recorded or not, alone or with other propagators.
func TestCallersTraceGoesOn(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]propagation.TextMapPropagator{
		"ours":     tracecontext.New(),
		"several":  propagation.NewCompositeTextMapPropagator(tracecontext.New(), propagation.Baggage{}),
		"reversed": propagation.NewCompositeTextMapPropagator(propagation.Baggage{}, tracecontext.New()),
		"theirs":   propagation.TraceContext{},
	} {
		for _, sampler := range []sdktrace.Sampler{sdktrace.AlwaysSample(), sdktrace.NeverSample(), sdktrace.ParentBased(sdktrace.NeverSample())} {
			tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))
			served(t, func(ctx context.Context) {
				span := trace.SpanFromContext(ctx)
				if got := span.SpanContext().TraceID().String(); got != benchParent[3:35] || span.SpanContext().IsRemote() {
					t.Errorf("%s, %s: the server span is %v, want one of the caller's trace", name, sampler.Description(), span.SpanContext())
				}
				if want := sampler != sdktrace.NeverSample(); span.IsRecording() != want {
					t.Errorf("%s, %s: recording: %v", name, sampler.Description(), span.IsRecording())
				}
				if ro, ok := span.(sdktrace.ReadOnlySpan); ok && (!ro.Parent().IsRemote() || ro.Parent().SpanID().String() != benchParent[36:52]) {
					t.Errorf("%s, %s: the parent is %v", name, sampler.Description(), ro.Parent())
				}
			}, middleware.WithTracerProvider(tp), middleware.WithPropagators(p))
		}
	}
}

// Without a span of ours the caller's is the current one, also for the deprecated no-op tracer, which knows only
// package trace's own: otelhttp's transport starts its span with it.
func TestCallersTraceWithoutASpan(t *testing.T) {
	t.Parallel()
	deprecated := trace.NewNoopTracerProvider() //nolint:staticcheck // that it is deprecated is the point
	working := middleware.WithTracerProvider(sdktrace.NewTracerProvider())
	for name, opts := range map[string][]middleware.Option{
		"a provider that does nothing": {middleware.WithTracerProvider(deprecated)},
		"it, wrapped":                  {middleware.WithTracerProvider(wrapped{deprecated})},
		"it, wrapped, with its timing": {middleware.WithTracerProvider(wrapped{deprecated}), middleware.WithServerTiming()},
		"its successor, wrapped":       {middleware.WithTracerProvider(wrapped{noop.NewTracerProvider()})},
		"a provider that is shut down": {middleware.WithTracerProvider(shutDown(t))},
		"a tracer without spans":       {middleware.WithTracerProvider(spanless{})},
		"a filter":                     {working, middleware.WithFilter(refuse)},
		"a filter that panics":         {working, middleware.WithFilter(func(*http.Request) bool { panic("a bug in the filter") })},
		"a sampler that panics":        {middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(panickySampler{})))},
	} {
		served(t, func(ctx context.Context) {
			_, span := deprecated.Tracer("handler").Start(ctx, "inner")
			if got := span.SpanContext().TraceID().String(); got != benchParent[3:35] {
				t.Errorf("%s: a span of the deprecated no-op tracer is in trace %s, want the caller's", name, got)
			}
		}, append(opts, middleware.WithPropagators(tracecontext.New()))...)
	}
}

func refuse(*http.Request) bool { return false }

// wrapped is a provider that does nothing and does not look so.
type wrapped struct{ trace.TracerProvider }

func shutDown(t *testing.T) trace.TracerProvider {
	t.Helper()
	tp := sdktrace.NewTracerProvider()
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return tp
}

// spanless is a provider whose tracers make no spans, not even those that do nothing.
type spanless struct{ trace.TracerProvider }

func (spanless) Tracer(string, ...trace.TracerOption) trace.Tracer { return spanlessTracer{} }

type spanlessTracer struct{ trace.Tracer }

func (spanlessTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	return ctx, nil
}

// forgetful is a propagator that loses the context.
type forgetful struct{ propagation.TraceContext }

func (forgetful) Extract(context.Context, propagation.TextMapCarrier) context.Context { return nil }

// A context that a propagator does not give, or that cannot be compared, costs no response.
func TestStrangeContexts(t *testing.T) {
	t.Parallel()
	type incomparable struct {
		context.Context //nolint:containedctx // this is a context
		_               map[string]string
	}
	refused := middleware.WithFilter(refuse)
	broken := middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(panickySampler{})))
	for name, opts := range map[string][]middleware.Option{
		"none, refused":         {middleware.WithPropagators(forgetful{}), refused},
		"none, no span":         {middleware.WithPropagators(forgetful{}), broken},
		"none, a span":          {middleware.WithPropagators(forgetful{})},
		"incomparable, refused": {middleware.WithPropagators(tracecontext.New()), refused},
		"incomparable, a span":  {middleware.WithPropagators(tracecontext.New())},
	} {
		called := false
		h := middleware.New(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }),
			append([]middleware.Option{middleware.WithTracerProvider(sdktrace.NewTracerProvider())}, opts...)...)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(incomparable{Context: t.Context()}, http.MethodGet, "/", http.NoBody))
		if !called {
			t.Errorf("%s: the handler was not called", name)
		}
	}
}
