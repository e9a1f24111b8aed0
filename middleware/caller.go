package middleware

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/request"
)

// caller is the context that a span is started in when the caller has sent a trace, and the one that the handler
// gets when nobody records the span. All of it, with the caller's span, is one allocation (ADR 0126).
//
// The caller's span is not of the private type that the deprecated no-op tracer of package trace asks for: that one
// would drop the caller's trace. So it is only for a tracer that makes spans.
type caller struct {
	context.Context //nolint:containedctx // this is a context
	span            callerSpan
	inner           request.Context
}

// callerSpan is a span of which only the span context is known.
type callerSpan struct {
	trace.Span // the one that does nothing
	sc         trace.SpanContext
}

// SpanContext returns what the caller has sent.
func (s *callerSpan) SpanContext() trace.SpanContext { return s.sc }

// Value returns the caller's span for package trace's key and what the parent has for all others.
func (c *caller) Value(key any) any {
	if key == spanKey {
		return &c.span
	}
	return c.Context.Value(key)
}

// callerCarrier is the headers of a request whose span is started next.
type callerCarrier struct{ headerCarrier }

// ContextWithRemoteSpanContext is trace.ContextWithRemoteSpanContext; package tracecontext asks for it.
func (callerCarrier) ContextWithRemoteSpanContext(parent context.Context, sc trace.SpanContext) context.Context {
	if spanKey == nil {
		return trace.ContextWithRemoteSpanContext(parent, sc)
	}
	return &caller{Context: parent, span: callerSpan{Span: noSpan, sc: sc.WithRemote(true)}}
}

var (
	// noSpan is the span that does nothing.
	noSpan = trace.SpanFromContext(context.Background()) //nolint:gochecknoglobals // a constant
	// spanKey is the key under which package trace keeps the current span. It is private there, but every context
	// is asked for it.
	spanKey = askedFor(func(ctx context.Context) { trace.SpanFromContext(ctx) }) //nolint:gochecknoglobals // a constant
)

// askedFor returns the one key that f asks a context for, and nil when there are none or several.
func askedFor(f func(context.Context)) any {
	q := questions{Context: context.Background()}
	f(&q)
	if len(q.keys) != 1 {
		return nil
	}
	return q.keys[0]
}

// questions is a context that notes what it is asked for.
type questions struct {
	context.Context //nolint:containedctx // this is a context
	keys            []any
}

// Value has nothing.
func (q *questions) Value(key any) any {
	q.keys = append(q.keys, key)
	return nil
}
