package recorder

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// What of a span never changes is read without the lock.

func (s *span) SpanContext() trace.SpanContext              { return s.context }
func (s *span) Parent() trace.SpanContext                   { return s.parent }
func (s *span) SpanKind() trace.SpanKind                    { return s.kind }
func (s *span) StartTime() time.Time                        { return s.start }
func (s *span) Resource() *resource.Resource                { return s.record.Resource() }
func (s *span) InstrumentationScope() instrumentation.Scope { return s.tracer.scope }

// InstrumentationLibrary is the old name of InstrumentationScope.
func (s *span) InstrumentationLibrary() instrumentation.Library { //nolint:staticcheck // part of the interface
	return s.tracer.scope
}

func (s *span) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

func (s *span) EndTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

func (s *span) Status() sdktrace.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Attributes returns the attributes as they are: what is returned never changes.
func (s *span) Attributes() []attribute.KeyValue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attributes.lend()
}

func (s *span) Links() []sdktrace.Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.links.items)
}

func (s *span) Events() []sdktrace.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events.items)
}

func (s *span) DroppedAttributes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attributes.dropped
}

func (s *span) DroppedLinks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links.dropped
}

func (s *span) DroppedEvents() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.dropped
}

func (s *span) ChildSpanCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.children
}

// dropped is a span that the sampler has dropped: it has a context and records
// nothing.
type dropped struct {
	*noop.Span
	tracer  *tracer
	context trace.SpanContext
}

func (s *dropped) SpanContext() trace.SpanContext       { return s.context }
func (s *dropped) TracerProvider() trace.TracerProvider { return s.tracer.provider }
