package middleware

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

const sentParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestAskedFor(t *testing.T) {
	t.Parallel()
	type k struct{}
	for name, tt := range map[string]struct {
		ask  func(context.Context)
		want any
	}{
		"one":     {func(ctx context.Context) { ctx.Value(k{}) }, k{}},
		"none":    {func(context.Context) {}, nil},
		"several": {func(ctx context.Context) { ctx.Value(k{}); ctx.Value(1) }, nil},
	} {
		if got := askedFor(tt.ask); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	if spanKey == nil {
		t.Error("the key of package trace was not found: requests with a traceparent cost two allocations more")
	}
}

// The context is in all that package trace's is.
func TestCallerIsARemoteSpanContext(t *testing.T) {
	t.Parallel()
	type k struct{}
	parent, cancel := context.WithDeadline(context.WithValue(t.Context(), k{}, "v"), time.Now().Add(time.Hour))
	defer cancel()
	state, err := trace.ParseTraceState("a=1")
	if err != nil {
		t.Fatal(err)
	}
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state})
	ours, theirs := callerCarrier{}.ContextWithRemoteSpanContext(parent, sc), trace.ContextWithRemoteSpanContext(parent, sc)
	if _, ok := ours.(*caller); !ok {
		t.Fatalf("a %T, want a caller", ours)
	}

	a, b := trace.SpanFromContext(ours), trace.SpanFromContext(theirs)
	if !a.SpanContext().Equal(b.SpanContext()) || !a.SpanContext().IsRemote() {
		t.Errorf("span context %v, want %v, remote", a.SpanContext(), b.SpanContext())
	}
	if a.IsRecording() != b.IsRecording() || reflect.TypeOf(a.TracerProvider()) != reflect.TypeOf(b.TracerProvider()) {
		t.Errorf("recording %v, provider %T; want %v, %T", a.IsRecording(), a.TracerProvider(), b.IsRecording(), b.TracerProvider())
	}
	a.SetName("no effect")
	a.End()
	if ours.Value(k{}) != "v" || ours.Value(1) != nil {
		t.Error("values of the parent are not there")
	}
	if d, ok := ours.Deadline(); !ok || !d.Equal(deadline(theirs, t)) {
		t.Error("the deadline of the parent is not there")
	}
	child, stop := context.WithCancel(ours)
	defer stop()
	cancel()
	<-child.Done()
}

func deadline(ctx context.Context, t *testing.T) time.Time {
	t.Helper()
	d, ok := ctx.Deadline()
	if !ok {
		t.Fatal("no deadline")
	}
	return d
}

// served returns what the handler finds in its context when the caller has sent a trace.
func served(t *testing.T, look func(context.Context), opts ...Option) {
	t.Helper()
	called := false
	h := New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called = true
		look(r.Context())
	}), opts...)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Traceparent", sentParent)
	r.Header.Set("Baggage", "k=v")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if !called {
		t.Error("the handler was not called")
	}
}

// Whatever package trace does with its key, the caller's trace goes on: recorded or not, alone or with other
// propagators.
func TestCallersTraceGoesOn(t *testing.T) { //nolint:paralleltest // it takes the key away
	key := spanKey
	defer func() { spanKey = key }()
	propagators := map[string]propagation.TextMapPropagator{
		"ours":     tracecontext.New(),
		"several":  propagation.NewCompositeTextMapPropagator(tracecontext.New(), propagation.Baggage{}),
		"reversed": propagation.NewCompositeTextMapPropagator(propagation.Baggage{}, tracecontext.New()),
		"theirs":   propagation.TraceContext{},
	}
	for _, spanKey = range []any{key, nil} {
		for name, p := range propagators {
			for _, sampler := range []sdktrace.Sampler{sdktrace.AlwaysSample(), sdktrace.NeverSample(), sdktrace.ParentBased(sdktrace.NeverSample())} {
				tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))
				served(t, func(ctx context.Context) {
					span := trace.SpanFromContext(ctx)
					if got := span.SpanContext().TraceID().String(); got != sentParent[3:35] || span.SpanContext().IsRemote() {
						t.Errorf("%s, %s, key %v: the server span is %v, want one of the caller's trace", name, sampler.Description(), spanKey, span.SpanContext())
					}
					if want := sampler != sdktrace.NeverSample(); span.IsRecording() != want {
						t.Errorf("%s, %s, key %v: recording: %v", name, sampler.Description(), spanKey, span.IsRecording())
					}
					if ro, ok := span.(sdktrace.ReadOnlySpan); ok && (!ro.Parent().IsRemote() || ro.Parent().SpanID().String() != sentParent[36:52]) {
						t.Errorf("%s, %s, key %v: the parent is %v", name, sampler.Description(), spanKey, ro.Parent())
					}
				}, WithTracerProvider(tp), WithPropagators(p))
			}
		}
	}
}

// Without a span of ours the handler's context is package trace's own, which its deprecated no-op tracer asks for.
func TestCallersTraceWithoutASpan(t *testing.T) {
	t.Parallel()
	noop := trace.NewNoopTracerProvider() //nolint:staticcheck // that it is deprecated is the point
	refuse := func(*http.Request) bool { return false }
	fail := func(*http.Request) bool { panic("a bug in the filter") }
	for name, opts := range map[string][]Option{
		"a provider that does nothing": {WithTracerProvider(noop)},
		"a filter":                     {WithTracerProvider(testProvider(t)), WithFilter(refuse)},
		"a filter that panics":         {WithTracerProvider(testProvider(t)), WithFilter(fail)},
		"a sampler that panics":        {WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(brokenSampler{})))},
	} {
		served(t, func(ctx context.Context) {
			_, span := noop.Tracer("handler").Start(ctx, "inner")
			if got := span.SpanContext().TraceID().String(); got != sentParent[3:35] {
				t.Errorf("%s: a span of the deprecated no-op tracer is in trace %s, want the caller's", name, got)
			}
		}, append(opts, WithPropagators(tracecontext.New()))...)
	}
}

type brokenSampler struct{ sdktrace.Sampler }

func (brokenSampler) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	panic("a bug in the sampler")
}
