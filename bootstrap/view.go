package bootstrap

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maskFunc changes an attribute, or hides it (false).
type maskFunc func(attribute.KeyValue) (attribute.KeyValue, bool)

// attributes applies m to kvs, which it leaves as they are.
func (m maskFunc) attributes(kvs []attribute.KeyValue) []attribute.KeyValue {
	if m == nil || len(kvs) == 0 {
		return kvs
	}
	out := make([]attribute.KeyValue, 0, len(kvs))
	for _, kv := range kvs {
		if kv, keep := m(kv); keep {
			out = append(out, kv)
		}
	}
	return out
}

// view is how our processors and exporters see spans: masked, and with the
// resource that was decided. The SDK reads OTEL_RESOURCE_ATTRIBUTES again
// behind our back, also a value that is to be discarded as a whole, and has no
// option against it.
type view struct {
	mask     maskFunc
	resource *resource.Resource // nil: the span's own is right
	masked   *lastMasked
}

// lastMasked is the last resource that was masked, as it was and as it is shown.
type lastMasked = atomic.Pointer[[2]*resource.Resource]

func newView(mask maskFunc, res *resource.Resource) view {
	return view{mask: mask, resource: res, masked: &lastMasked{}}
}

func (v view) isPlain() bool { return v.mask == nil && v.resource == nil }

// resourceOf is the resource to show for one of a span. There is one resource
// per provider, so that it is masked once.
func (v view) resourceOf(own *resource.Resource) *resource.Resource {
	if v.resource != nil {
		own = v.resource
	}
	if v.mask == nil {
		return own
	}
	if last := v.masked.Load(); last != nil && last[0] == own {
		return last[1]
	}
	shown := resource.NewWithAttributes(own.SchemaURL(), v.mask.attributes(own.Attributes())...)
	v.masked.Store(&[2]*resource.Resource{own, shown})
	return shown
}

func (v view) scopeOf(scope instrumentation.Scope) instrumentation.Scope {
	if v.mask != nil && scope.Attributes.Len() > 0 {
		scope.Attributes = attribute.NewSet(v.mask.attributes(scope.Attributes.ToSlice())...)
	}
	return scope
}

func (v view) span(s sdktrace.ReadOnlySpan) sdktrace.ReadOnlySpan {
	if v.isPlain() {
		return s
	}
	return viewedSpan{s, v}
}

func (v view) spans(spans []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	if v.isPlain() {
		return spans
	}
	out := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		out[i] = viewedSpan{s, v}
	}
	return out
}

// processor wraps p so that it sees the view.
func (v view) processor(p sdktrace.SpanProcessor) sdktrace.SpanProcessor {
	if v.isPlain() {
		return p
	}
	return viewedProcessor{p, v}
}

type viewedProcessor struct {
	sdktrace.SpanProcessor
	view view
}

func (p viewedProcessor) OnEnd(s sdktrace.ReadOnlySpan) { p.SpanProcessor.OnEnd(p.view.span(s)) }

// viewedSpan is a finished span behind a view.
type viewedSpan struct {
	sdktrace.ReadOnlySpan
	view view
}

func (s viewedSpan) Resource() *resource.Resource {
	return s.view.resourceOf(s.ReadOnlySpan.Resource())
}

func (s viewedSpan) InstrumentationScope() instrumentation.Scope {
	return s.view.scopeOf(s.ReadOnlySpan.InstrumentationScope())
}

func (s viewedSpan) Attributes() []attribute.KeyValue {
	return s.view.mask.attributes(s.ReadOnlySpan.Attributes())
}

func (s viewedSpan) Events() []sdktrace.Event {
	return maskEvents(s.view.mask, s.ReadOnlySpan.Events())
}

func (s viewedSpan) Links() []sdktrace.Link {
	return maskLinks(s.view.mask, s.ReadOnlySpan.Links())
}

func maskEvents(m maskFunc, events []sdktrace.Event) []sdktrace.Event {
	if m == nil || len(events) == 0 {
		return events
	}
	out := make([]sdktrace.Event, len(events))
	for i, e := range events {
		e.Attributes = m.attributes(e.Attributes)
		out[i] = e
	}
	return out
}

func maskLinks(m maskFunc, links []sdktrace.Link) []sdktrace.Link {
	if m == nil || len(links) == 0 {
		return links
	}
	out := make([]sdktrace.Link, len(links))
	for i, l := range links {
		l.Attributes = m.attributes(l.Attributes)
		out[i] = l
	}
	return out
}

// userProcessor is one of Config.Processors: it sees the view in UTF-8, and is
// shut down once although both we and the provider do it. Its panics are errors:
// they would break the request whose span it is.
type userProcessor struct {
	next sdktrace.SpanProcessor
	view view
	utf8 cleaner
	diag *diagnostics
	once sync.Once
}

func (p *userProcessor) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	defer p.caught(nil)
	if !p.view.isPlain() {
		s = viewedRunningSpan{s, viewedSpan{s, p.view}}
	}
	p.next.OnStart(ctx, s)
}

func (p *userProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	defer p.caught(nil)
	s, _ = p.utf8.span(p.view.span(s))
	p.next.OnEnd(s)
}

func (p *userProcessor) ForceFlush(ctx context.Context) (err error) {
	defer p.caught(&err)
	return p.next.ForceFlush(ctx)
}

// Shutdown has the error at the first call alone, as the hub's.
func (p *userProcessor) Shutdown(ctx context.Context) (err error) {
	p.once.Do(func() {
		defer p.caught(&err)
		err = p.next.Shutdown(ctx)
	})
	return err
}

// caught turns a panic into the error, or into a line of the log when there is
// none to return.
func (p *userProcessor) caught(err *error) {
	r := recover()
	switch {
	case r == nil:
	case err != nil:
		*err = fmt.Errorf("%w: %v", errPanic, r)
	default:
		p.diag.report("processor", fmt.Errorf("%w: %v", errPanic, r))
	}
}

// viewedRunningSpan is a span that has begun behind a view: reading is masked.
type viewedRunningSpan struct {
	trace.Span
	viewedSpan
}
