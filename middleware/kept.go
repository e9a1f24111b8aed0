package middleware

import (
	"context"
	"reflect"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/internal/request"
)

// kept is what a program may keep of a recorded request for as long as it likes: the context and the writer. From
// the request's end on it holds neither the request nor the span (ADR 0131).
type kept struct {
	ctx   request.Context // first, since a finalizer needs the start of an allocation
	w     writer
	after ended
}

// init makes the context of the handler: a child of live.Context, which Start has made of before for span.
func (k *kept) init(before context.Context, span trace.Span, live *request.Live) {
	if !isSDKs(span) || !isWithSpan(live.Context, before, span) {
		k.ctx.Init(live.Context, live) //nolint:contextcheck // it is the request's
		return
	}
	k.after = ended{before, endedSpan{nothing, span.SpanContext(), span.TracerProvider()}}
	k.ctx.Init(&k.after, live) //nolint:contextcheck // it is the request's
}

// end lets go of the exchange.
func (k *kept) end() {
	k.w.x.Store(nil)
	k.ctx.End()
}

// ended is the context of a request whose span has ended: in the place of the span, which with its attributes is 1.7
// KB, stands what of it still counts.
type ended struct {
	context.Context //nolint:containedctx // this is a context
	span            endedSpan
}

// Value returns the span for the key of package trace, and what the context before Start has for all others.
func (e *ended) Value(key any) any {
	if key == spanKey {
		return &e.span
	}
	return e.Context.Value(key)
}

// spanKey is the key under which package trace keeps the span of a context, and which it does not export.
var spanKey = func() any { //nolint:gochecknoglobals // never changes
	var p probe
	trace.SpanFromContext(&p)
	return p.key
}()

// valueContext is the type of what context.WithValue returns.
var valueContext = reflect.TypeOf(context.WithValue(context.Background(), spanKey, 0)) //nolint:gochecknoglobals // never changes

// nothing is a span that does nothing. As a value inside of another it would take 64 bytes more.
var nothing trace.Span = noop.Span{} //nolint:gochecknoglobals // never changes

// probe is a context that notes what it is asked for.
type probe struct {
	context.Context //nolint:containedctx // this is a context
	key             any
}

func (p *probe) Value(key any) any {
	p.key = key
	return nil
}

// isSDKs reports whether span is the SDK's, or as it is ours, which only passes its identity on to the children of one
// that has ended. Other tracers may look for more of theirs in the context.
func isSDKs(span trace.Span) bool {
	t := reflect.TypeOf(span)
	if t.Kind() != reflect.Pointer {
		return false
	}
	switch t.Elem().PkgPath() {
	case "go.opentelemetry.io/otel/sdk/trace", "github.com/waymark-trace/waymark/internal/recorder":
		return true
	default:
		return false
	}
}

// isWithSpan reports whether ctx is trace.ContextWithSpan(before, span), and nothing more.
func isWithSpan(ctx, before context.Context, span trace.Span) bool {
	v := reflect.ValueOf(ctx)
	if v.Type() != valueContext || trace.SpanFromContext(ctx) != span {
		return false
	}
	parent := v.Elem().Field(0)
	return parent.CanInterface() && same(parent.Interface(), before)
}

// same reports whether a and b are one. What cannot be compared, such as a struct with a map, is two.
func same(a, b any) bool {
	defer func() { _ = recover() }() // out of the comparison
	return a == b
}

// endedSpan is a span that has ended: it records nothing, and is the parent of what starts below it.
type endedSpan struct {
	trace.Span
	sc       trace.SpanContext
	provider trace.TracerProvider
}

// SpanContext returns the identity of the span.
func (s *endedSpan) SpanContext() trace.SpanContext { return s.sc }

// TracerProvider returns the provider of the span.
func (s *endedSpan) TracerProvider() trace.TracerProvider { return s.provider }
