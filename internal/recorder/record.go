package recorder

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// record is what a span knows. Processors get it when the span has ended: from
// then on nothing in it changes, so that it needs neither a copy nor a lock.
type record struct {
	*later
	tracer     *tracer
	name       string
	context    trace.SpanContext
	parent     trace.SpanContext
	kind       trace.SpanKind
	children   int
	start, end time.Time // end is zero until the span has ended
	status     sdktrace.Status
	attributes attributes
	events     queue[sdktrace.Event]
	links      queue[sdktrace.Link]
}

var _ sdktrace.ReadOnlySpan = (*record)(nil)

// later is what makes record a span of the SDK's interface, which only a type
// that embeds one of the SDK's can be: its method that is not exported, and
// those that a later release adds, which answer as those of an empty span do.
type later struct{ sdktrace.ReadOnlySpan }

// unknown is the one that all spans share. It comes from tracetest, because a
// provider of the SDK, which could make one too, reports malformed variables.
var unknown = &later{tracetest.SpanStub{}.Snapshot()} //nolint:gochecknoglobals // never changes

func (r *record) Name() string                                { return r.name }
func (r *record) SpanContext() trace.SpanContext              { return r.context }
func (r *record) Parent() trace.SpanContext                   { return r.parent }
func (r *record) SpanKind() trace.SpanKind                    { return r.kind }
func (r *record) StartTime() time.Time                        { return r.start }
func (r *record) EndTime() time.Time                          { return r.end }
func (r *record) Attributes() []attribute.KeyValue            { return slices.Clip(r.attributes.list) }
func (r *record) Links() []sdktrace.Link                      { return slices.Clip(r.links.items) }
func (r *record) Events() []sdktrace.Event                    { return slices.Clip(r.events.items) }
func (r *record) Status() sdktrace.Status                     { return r.status }
func (r *record) InstrumentationScope() instrumentation.Scope { return r.tracer.scope }
func (r *record) Resource() *resource.Resource                { return r.tracer.provider.resource }
func (r *record) DroppedAttributes() int                      { return r.attributes.dropped }
func (r *record) DroppedLinks() int                           { return r.links.dropped }
func (r *record) DroppedEvents() int                          { return r.events.dropped }
func (r *record) ChildSpanCount() int                         { return r.children }

// InstrumentationLibrary is the old name of InstrumentationScope.
func (r *record) InstrumentationLibrary() instrumentation.Library { //nolint:staticcheck // part of the interface
	return r.tracer.scope
}

// queue holds the newest items up to a limit.
type queue[T any] struct {
	items   []T
	dropped int
}

// add appends v. At the limit the oldest goes; a negative one is none.
func (q *queue[T]) add(v T, limit int) {
	switch {
	case limit == 0:
		q.dropped++
	case limit > 0 && len(q.items) == limit:
		q.dropped++
		copy(q.items, q.items[1:])
		q.items[limit-1] = v
	default:
		q.items = append(q.items, v)
	}
}
