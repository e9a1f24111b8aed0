package recorder

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	rt "runtime/trace"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// span is one that records until it ends.
type span struct {
	*noop.Span // for the methods that a later release of the API adds
	record
	mu   sync.Mutex
	task *rt.Task // of the execution tracer; nil: it does not run
}

var _ sdktrace.ReadWriteSpan = (*span)(nil)

// nothing is a span that does nothing, shared because one inside of another
// would take 16 bytes.
var nothing = &noop.Span{} //nolint:gochecknoglobals // never changes

// change runs f while the span records.
func (s *span) change(f func(*record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.IsZero() {
		f(&s.record)
	}
}

// IsRecording reports whether the span has not ended.
func (s *span) IsRecording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end.IsZero()
}

// SetName changes the name.
func (s *span) SetName(name string) {
	s.change(func(r *record) { r.name = name })
}

// SetStatus sets the status: Ok wins over Error, and Error over Unset.
func (s *span) SetStatus(code codes.Code, description string) {
	if code != codes.Error {
		description = ""
	}
	s.change(func(r *record) {
		if code >= r.status.Code {
			r.status = sdktrace.Status{Code: code, Description: description}
		}
	})
}

// SetAttributes adds attributes; the last value of a key wins.
func (s *span) SetAttributes(kvs ...attribute.KeyValue) {
	if len(kvs) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.IsZero() {
		s.attributes.add(kvs, &s.tracer.provider.limits)
	}
}

// AddLink adds a link. One that says nothing, without a context, a trace state
// and attributes, is left out.
func (s *span) AddLink(l trace.Link) {
	if !l.SpanContext.IsValid() && len(l.Attributes) == 0 && l.SpanContext.TraceState().Len() == 0 {
		return
	}
	limits := &s.tracer.provider.limits
	own := sdktrace.Link{SpanContext: l.SpanContext}
	own.Attributes, own.DroppedAttributeCount = normalAll(l.Attributes, limits.AttributePerLinkCountLimit, limits)
	s.change(func(r *record) { r.links.add(own, limits.LinkCountLimit) })
}

// AddEvent adds an event.
func (s *span) AddEvent(name string, opts ...trace.EventOption) {
	if s.IsRecording() {
		e := s.newEvent(name, opts)
		s.change(func(r *record) { r.events.add(e, r.tracer.provider.limits.EventCountLimit) })
	}
}

func (s *span) newEvent(name string, opts []trace.EventOption) sdktrace.Event {
	limits := &s.tracer.provider.limits
	c := trace.NewEventConfig(opts...)
	e := sdktrace.Event{Name: name, Time: c.Timestamp()}
	e.Attributes, e.DroppedAttributeCount = normalAll(c.Attributes(), limits.AttributePerEventCountLimit, limits)
	return e
}

// RecordError adds the exception event of err, with the stack if it is asked
// for. It leaves the status as it is.
func (s *span) RecordError(err error, opts ...trace.EventOption) {
	if err == nil || !s.IsRecording() {
		return
	}
	opts = append(slices.Clip(opts), trace.WithAttributes(
		semconv.ExceptionTypeKey.String(typeOf(err)),
		semconv.ExceptionMessageKey.String(messageOf(err)),
	))
	if c := trace.NewEventConfig(opts...); c.StackTrace() {
		opts = append(opts, withStack())
	}
	s.AddEvent(semconv.ExceptionEventName, opts...)
}

// TracerProvider returns the provider of the span.
func (s *span) TracerProvider() trace.TracerProvider { return s.tracer.provider }

func (s *span) addChild() {
	s.change(func(r *record) { r.children++ })
}

// startTask makes the span a task of the execution tracer.
func (s *span) startTask(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, s.task = rt.NewTask(ctx, s.name)
	return ctx
}

// End ends the span and shows it to the processors. Deferred as such while the
// goroutine panics it adds the exception event, and the panic goes on. Only the
// first call does anything.
func (s *span) End(opts ...trace.SpanEndOption) {
	// First, so that nothing below counts, and by the monotonic clock.
	now := s.start.Add(time.Since(s.start))
	if !s.IsRecording() {
		return
	}
	c := trace.NewSpanEndConfig(opts...)
	if t := c.Timestamp(); !t.IsZero() {
		now = t
	}
	if s.tracer.provider.recordPanics {
		if cause := recover(); cause != nil {
			defer panic(cause)
			s.AddEvent(semconv.ExceptionEventName, panicked(cause, c.StackTrace())...)
		}
	}
	if !s.close(now) {
		return // another goroutine has ended it
	}
	for _, p := range *s.tracer.provider.processors.Load() {
		p.OnEnd(&s.record)
	}
}

// close marks the span as ended and reports whether it was not before.
func (s *span) close(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.end.IsZero() {
		return false
	}
	s.end = now
	if s.task != nil {
		s.task.End()
		s.task = nil
	}
	return true
}

// panicked are the attributes of the event of a panic.
func panicked(cause any, stack bool) []trace.EventOption {
	opts := []trace.EventOption{trace.WithAttributes(
		semconv.ExceptionTypeKey.String(typeOf(cause)),
		semconv.ExceptionMessageKey.String(fmt.Sprint(cause)),
	)}
	if stack {
		opts = append(opts, withStack())
	}
	return opts
}

func typeOf(v any) string {
	t := reflect.TypeOf(v)
	if t.PkgPath() == "" && t.Name() == "" {
		return t.String() // a pointer or another type without a name
	}
	return t.PkgPath() + "." + t.Name()
}

// messageOf is the text of err. A method Error that panics, such as that of a
// nil pointer, must not end the request that reports it.
func messageOf(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("panic in the method Error of %T", err)
		}
	}()
	return err.Error()
}

// maxStackBytes is how much of a stack the SDK records.
const maxStackBytes = 2048

func withStack() trace.EventOption {
	stack := make([]byte, maxStackBytes)
	stack = stack[:runtime.Stack(stack, false)]
	return trace.WithAttributes(semconv.ExceptionStacktraceKey.String(string(stack)))
}
