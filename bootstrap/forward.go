package bootstrap

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// maxCachedTracers bounds the cache: a program that makes up tracer names gets
// tracers that work and are not kept.
const maxCachedTracers = 1024

// forwarder is a provider whose target changes: Start points it at a
// provider that makes spans, Shutdown at nothing. OTel's own delegating provider does that only
// once in the life of a process.
type forwarder struct {
	embedded.TracerProvider
	target atomic.Pointer[target]

	mu      sync.RWMutex
	tracers map[scopeKey]*forwardTracer
}

// target is one life of the forwarder, compared by address.
type target struct {
	provider trace.TracerProvider
	spans    spanProvider // nil for the no-op target
	late     func()       // told of each span that is not made after Shutdown; nil: nobody is
}

type scopeKey struct {
	name, version, schema string
	attrs                 attribute.Distinct
}

func newForwarder() *forwarder {
	f := &forwarder{tracers: map[scopeKey]*forwardTracer{}}
	f.stop(nil)
	return f
}

// spanProvider is a provider that can be a target.
type spanProvider interface {
	registrar
	ForceFlush(context.Context) error
	Shutdown(context.Context) error
}

func (f *forwarder) point(tp spanProvider) {
	f.target.Store(&target{provider: tp, spans: tp})
}

func (f *forwarder) stop(late func()) {
	f.target.Store(&target{provider: noop.NewTracerProvider(), late: late})
}

// Tracer returns the tracer of a scope, the same one each time.
func (f *forwarder) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	c := trace.NewTracerConfig(opts...)
	attrs := c.InstrumentationAttributes()
	key := scopeKey{name, c.InstrumentationVersion(), c.SchemaURL(), attrs.Equivalent()}
	f.mu.RLock()
	tracer, ok := f.tracers[key]
	f.mu.RUnlock()
	if ok {
		return tracer
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if tracer, ok = f.tracers[key]; ok {
		return tracer
	}
	tracer = &forwardTracer{forward: f, name: name, opts: opts}
	if len(f.tracers) < maxCachedTracers {
		f.tracers[key] = tracer
	}
	return tracer
}

// Unwrap returns the provider that spans come from now. Whoever attaches a
// processor remembers this one: the next Start brings another.
func (f *forwarder) Unwrap() trace.TracerProvider { return f.target.Load().provider }

// RegisterSpanProcessor adds sp to the running provider.
func (f *forwarder) RegisterSpanProcessor(sp sdktrace.SpanProcessor) {
	if t := f.target.Load(); t.spans != nil {
		t.spans.RegisterSpanProcessor(sp)
	}
}

// UnregisterSpanProcessor removes sp from the running provider.
func (f *forwarder) UnregisterSpanProcessor(sp sdktrace.SpanProcessor) {
	if t := f.target.Load(); t.spans != nil {
		t.spans.UnregisterSpanProcessor(sp)
	}
}

// ForceFlush flushes the running provider.
func (f *forwarder) ForceFlush(ctx context.Context) error {
	if t := f.target.Load(); t.spans != nil {
		return t.spans.ForceFlush(ctx)
	}
	return nil
}

// forwardTracer asks the forwarder's target for its tracer once per life.
type forwardTracer struct {
	embedded.Tracer
	forward *forwarder
	name    string
	opts    []trace.TracerOption
	current atomic.Pointer[resolved]
}

type resolved struct {
	target *target
	tracer trace.Tracer
}

// Start begins a span of the provider that runs now.
func (t *forwardTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	now := t.forward.target.Load()
	r := t.current.Load()
	if r == nil || r.target != now {
		r = &resolved{now, now.provider.Tracer(t.name, t.opts...)}
		t.current.Store(r)
	}
	if now.late != nil {
		now.late()
	}
	return r.tracer.Start(ctx, name, opts...) //nolint:spancheck // the caller ends it
}
