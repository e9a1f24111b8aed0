package recorder

import (
	"context"
	rt "runtime/trace"
	"time"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// maxCachedTracers bounds the cache: a program that makes up scopes gets tracers
// that work and are not kept.
const maxCachedTracers = 1024

// defaultTracerName is the SDK's name for a tracer without one.
const defaultTracerName = "go.opentelemetry.io/otel/sdk/tracer"

type tracer struct {
	embedded.Tracer
	provider *Provider
	scope    instrumentation.Scope
}

// Tracer returns the tracer of a scope, the same one each time; after Shutdown
// one that does nothing.
func (p *Provider) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	if p.isShutdown.Load() {
		return stopped{}
	}
	c := trace.NewTracerConfig(opts...)
	if name == "" {
		name = defaultTracerName
	}
	scope := instrumentation.Scope{
		Name: name, Version: c.InstrumentationVersion(), SchemaURL: c.SchemaURL(),
		Attributes: normalSet(c.InstrumentationAttributes(), p.limits.AttributeValueDepthLimit),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.tracers[scope]
	if !ok {
		t = &tracer{provider: p, scope: scope}
		if len(p.tracers) < maxCachedTracers {
			p.tracers[scope] = t
		}
	}
	return t
}

// stopped is the tracer after Shutdown: that of the API does not take a nil context.
type stopped struct{ noop.Tracer }

func (s stopped) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	if ctx == nil {
		ctx = context.Background()
	}
	return s.Tracer.Start(ctx, name, opts...)
}

// Start begins a span.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk.md#sdk-span-creation
func (t *tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(opts...)
	if ctx == nil {
		ctx = context.Background()
	}
	if parent, ok := trace.SpanFromContext(ctx).(*span); ok {
		parent.addChild() // also when the new span is a root of its own, as in the SDK
	}
	parent, sc, result := t.sample(ctx, name, &config)
	if result.Decision == sdktrace.Drop {
		s := &dropped{nothing, t, sc}
		return trace.ContextWithSpan(ctx, s), s
	}
	s := t.newSpan(name, parent, sc, result, &config)
	with := trace.ContextWithSpan(ctx, s)
	for _, p := range *t.provider.processors.Load() {
		p.OnStart(ctx, s) // the original context
	}
	if rt.IsEnabled() {
		with = s.startTask(with)
	}
	return with, s
}

// sample decides about a new span and gives it its context. A span that is
// dropped has an ID of its own too.
func (t *tracer) sample(ctx context.Context, name string, config *trace.SpanConfig) (parent, sc trace.SpanContext, result sdktrace.SamplingResult) {
	if config.NewRoot() {
		ctx = trace.ContextWithSpanContext(ctx, parent)
	} else {
		parent = trace.SpanContextFromContext(ctx)
	}
	own := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: parent.TraceFlags()}
	if own.TraceID.IsValid() {
		own.SpanID = t.provider.ids.NewSpanID(ctx, own.TraceID)
	} else {
		own.TraceID, own.SpanID = t.provider.ids.NewIDs(ctx)
	}
	result = t.provider.sampler.ShouldSample(sdktrace.SamplingParameters{
		ParentContext: ctx, TraceID: own.TraceID, Name: name, Kind: config.SpanKind(),
		Attributes: config.Attributes(), Links: config.Links(),
	})
	switch result.Decision {
	case sdktrace.RecordOnly, sdktrace.RecordAndSample:
	default:
		result.Decision = sdktrace.Drop // what no sampler should say
	}
	own.TraceFlags = own.TraceFlags.WithSampled(result.Decision == sdktrace.RecordAndSample)
	own.TraceState = result.Tracestate
	return parent, trace.NewSpanContext(own), result
}

// spareAttributes is the room for what a span with attributes gets later, such as
// route and status of a request: without it the array is made twice.
const spareAttributes = 4

func (t *tracer) newSpan(name string, parent, sc trace.SpanContext, result sdktrace.SamplingResult, config *trace.SpanConfig) *span {
	s := &span{Span: nothing}
	s.record = record{
		later: unknown, tracer: t, name: name, context: sc, parent: parent,
		kind: trace.ValidateSpanKind(config.SpanKind()), start: config.Timestamp(),
	}
	if s.start.IsZero() {
		s.start = time.Now()
	}
	for _, l := range config.Links() {
		s.AddLink(l)
	}
	limits := &t.provider.limits
	if n := len(result.Attributes) + len(config.Attributes()); n > 0 {
		s.attributes.reserve(n+spareAttributes, limits)
	}
	s.attributes.add(result.Attributes, limits)
	s.attributes.add(config.Attributes(), limits)
	return s
}
