package recorder_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/recorder"
)

// This is the closed list of where our provider is not as the SDK's. Each test
// says what the SDK does. Beside them: ours has no variables, no lines in
// OpenTelemetry's log when a limit is reached, and no metrics about itself.

// recorded returns our provider and the processor that keeps its spans.
func recorded(c recorder.Config) (*recorder.Provider, *tracetest.SpanRecorder) {
	kept := tracetest.NewSpanRecorder()
	c.Processors = append(c.Processors, kept)
	return recorder.New(c), kept
}

func unlimited() sdktrace.SpanLimits {
	return sdktrace.SpanLimits{
		AttributeValueLengthLimit: -1, AttributeValueDepthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1,
		LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1,
	}
}

// The SDK's ended span says that nothing was dropped when nothing was kept.
func TestDroppedAtLimitZero(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{}) // all limits are 0
	_, s := p.Tracer("t").Start(t.Context(), "s", trace.WithLinks(trace.Link{Attributes: []attribute.KeyValue{attribute.Int("a", 1)}}))
	s.AddEvent("e")
	s.AddEvent("e")
	s.SetAttributes(attribute.Int("a", 1), attribute.Int("b", 1), attribute.Int("c", 1))
	s.End()
	got := kept.Ended()[0]
	if got.DroppedLinks() != 1 || got.DroppedEvents() != 2 || got.DroppedAttributes() != 3 {
		t.Errorf("dropped %d links, %d events, %d attributes; want 1, 2, 3", got.DroppedLinks(), got.DroppedEvents(), got.DroppedAttributes())
	}
}

// The SDK keeps the caller's slice, and what is written there later is exported.
func TestLinkIsCopied(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{Limits: unlimited()})
	attrs := []attribute.KeyValue{attribute.Int("a", 1)}
	_, s := p.Tracer("t").Start(t.Context(), "s")
	s.AddLink(trace.Link{Attributes: attrs})
	attrs[0] = attribute.Int("a", 2)
	s.End()
	if got := kept.Ended()[0].Links()[0].Attributes[0].Value.AsInt64(); got != 1 {
		t.Errorf("the link has %d, which the caller wrote later", got)
	}
}

// The SDK panics in the request that reports the error.
func TestErrorThatPanics(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{Limits: unlimited()})
	_, s := p.Tracer("t").Start(t.Context(), "s")
	s.RecordError((*sadError)(nil))
	s.End()
	got := showEvents(kept.Ended()[0].Events())
	want := `["exception" now {"exception.type" STRING "*recorder_test.sadError"}{"exception.message" STRING "panic in the method Error of *recorder_test.sadError"}-0]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

type sadError struct{ text string }

func (e *sadError) Error() string { return e.text }

// The SDK asks the panic for its text while it holds the span's lock, and hangs.
func TestPanicThatReadsTheSpan(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{Limits: unlimited()})
	_, s := p.Tracer("t").Start(t.Context(), "s")
	func() {
		defer func() { _ = recover() }()
		defer s.End()
		panic(readsSpan{s})
	}()
	if got := kept.Ended()[0].Events()[0].Attributes[1].Value.AsString(); got != "recording: true" {
		t.Errorf("the panic is %q", got)
	}
}

type readsSpan struct{ trace.Span }

func (r readsSpan) String() string { return fmt.Sprint("recording: ", r.IsRecording()) }

// The SDK calls a nil processor.
func TestNilProcessor(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{Processors: []sdktrace.SpanProcessor{nil}})
	p.RegisterSpanProcessor(nil)
	p.UnregisterSpanProcessor(nil)
	_, s := p.Tracer("t").Start(t.Context(), "s")
	s.End()
	if err := p.ForceFlush(t.Context()); err != nil || len(kept.Ended()) != 1 {
		t.Errorf("%d spans, %v", len(kept.Ended()), err)
	}
}

// The SDK panics when it compares such a processor.
func TestProcessorThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	kept := tracetest.NewSpanRecorder()
	odd := struct {
		sdktrace.SpanProcessor
		list []int
	}{kept, nil}
	p := recorder.New(recorder.Config{})
	p.RegisterSpanProcessor(odd)
	p.UnregisterSpanProcessor(odd)
	_, s := p.Tracer("t").Start(t.Context(), "s")
	s.End()
	if len(kept.Ended()) != 1 {
		t.Error("the processor sees no span")
	}
}

// The SDK keeps every tracer.
func TestTracersAreBounded(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{})
	for i := range 2000 {
		_, s := p.Tracer(strconv.Itoa(i)).Start(t.Context(), "s")
		s.End()
	}
	if p.Tracer("1") != p.Tracer("1") {
		t.Error("a tracer that is cached is made anew")
	}
	if p.Tracer("1999") == p.Tracer("1999") {
		t.Error("the cache has no bound")
	}
	if got := kept.Ended()[1999].InstrumentationScope().Name; got != "1999" {
		t.Errorf("a tracer beyond the bound has scope %q", got)
	}
}

// The tracer that the SDK gives after Shutdown panics.
func TestNilContextAfterShutdown(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{})
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var none context.Context
	ctx, s := p.Tracer("t").Start(none, "s")
	s.End()
	if ctx == nil || s.IsRecording() || len(kept.Ended()) != 0 {
		t.Errorf("context %v, recording %v, %d spans", ctx, s.IsRecording(), len(kept.Ended()))
	}
}

// A processor that calls the provider when it is shut down hangs in the SDK.
func TestShutdownCallsTheProvider(t *testing.T) {
	t.Parallel()
	caller := &callsBack{SpanProcessor: tracetest.NewSpanRecorder()}
	caller.provider = recorder.New(recorder.Config{Processors: []sdktrace.SpanProcessor{caller}})
	caller.provider.UnregisterSpanProcessor(caller)
	if !caller.called {
		t.Error("the processor was not shut down")
	}
}

type callsBack struct {
	sdktrace.SpanProcessor
	provider *recorder.Provider
	called   bool
}

func (c *callsBack) Shutdown(ctx context.Context) error {
	c.called = true
	c.provider.Tracer("new")
	c.provider.RegisterSpanProcessor(tracetest.NewSpanRecorder())
	return c.provider.Shutdown(ctx)
}

// OpenTelemetry's default resource reads variables; ours is empty.
func TestDefaults(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{})
	_, s := p.Tracer("").Start(t.Context(), "s")
	s.End()
	got := kept.Ended()[0]
	if got.Resource().Len() != 0 || !got.SpanContext().IsSampled() || !got.SpanContext().IsValid() {
		t.Errorf("got %s", show(got))
	}
	if got.InstrumentationScope().Name != "go.opentelemetry.io/otel/sdk/tracer" {
		t.Errorf("scope %q", got.InstrumentationScope().Name)
	}
	if got.EndTime().Before(got.StartTime()) {
		t.Error("it ends before it starts")
	}
}
