package bootstrap

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// unexported is the provider while spans go nowhere: OTEL_TRACES_EXPORTER is
// none and the program has no processor. Its spans have what others see of a
// span, the IDs, the sampler's decision and the trace state, and record nothing.
// While somebody has registered a processor, such as a capture, spans record.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk.md#sdk-span-creation
// A provider would record a sampled span for nobody, which costs as much as one
// that is exported.
type unexported struct {
	spanProvider // makes spans while somebody sees them
	sampler      sdktrace.Sampler
	watched      atomic.Bool // a processor is registered

	mu         sync.Mutex
	processors []sdktrace.SpanProcessor
}

var _ spanProvider = (*unexported)(nil)

// Tracer returns a tracer of the scope.
func (u *unexported) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return &unexportedTracer{provider: u, watched: u.spanProvider.Tracer(name, opts...)}
}

// RegisterSpanProcessor adds sp. Spans record until it is removed.
func (u *unexported) RegisterSpanProcessor(sp sdktrace.SpanProcessor) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spanProvider.RegisterSpanProcessor(sp)
	u.processors = append(u.processors, sp)
	u.watched.Store(true)
}

// UnregisterSpanProcessor removes sp; one that is not registered changes nothing.
func (u *unexported) UnregisterSpanProcessor(sp sdktrace.SpanProcessor) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := slices.Index(u.processors, sp); i >= 0 {
		u.processors = slices.Delete(u.processors, i, i+1)
		u.watched.Store(len(u.processors) > 0)
	}
	u.spanProvider.UnregisterSpanProcessor(sp)
}

type unexportedTracer struct {
	embedded.Tracer
	provider *unexported
	watched  trace.Tracer
}

// Start begins a span that records nothing.
func (t *unexportedTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.provider.watched.Load() {
		return t.watched.Start(ctx, name, opts...) //nolint:spancheck // the caller ends it
	}
	if ctx == nil {
		ctx = context.Background()
	}
	span := &unexportedSpan{provider: t.provider}
	span.context = t.provider.spanContext(ctx, name, trace.NewSpanStartConfig(opts...))
	return trace.ContextWithSpan(ctx, span), span
}

// spanContext is the context of a new span, as the SDK makes it.
func (u *unexported) spanContext(ctx context.Context, name string, config trace.SpanConfig) trace.SpanContext {
	if config.NewRoot() {
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	}
	parent := trace.SpanContextFromContext(ctx)
	sc := trace.SpanContextConfig{TraceID: parent.TraceID(), SpanID: newSpanID()}
	if !sc.TraceID.IsValid() {
		sc.TraceID = newTraceID()
	}
	result := u.sampler.ShouldSample(sdktrace.SamplingParameters{
		ParentContext: ctx, TraceID: sc.TraceID, Name: name, Kind: config.SpanKind(),
		Attributes: config.Attributes(), Links: config.Links(),
	})
	sc.TraceState = result.Tracestate
	sc.TraceFlags = parent.TraceFlags().WithSampled(result.Decision == sdktrace.RecordAndSample)
	return trace.NewSpanContext(sc)
}

// unexportedSpan has a context and nothing else.
type unexportedSpan struct {
	noop.Span
	context  trace.SpanContext
	provider *unexported
}

func (s *unexportedSpan) SpanContext() trace.SpanContext       { return s.context }
func (s *unexportedSpan) TracerProvider() trace.TracerProvider { return s.provider }

func newTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // an ID is no secret
		binary.BigEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // an ID is no secret
	}
	return id
}

func newSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // an ID is no secret
	}
	return id
}
