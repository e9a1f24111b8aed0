package bootstrap_test

import (
	"context"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
)

func withProcessor(p sdktrace.SpanProcessor) func(*bootstrap.Config) {
	return func(c *bootstrap.Config) { c.Processors = append(c.Processors, p) }
}

func none() env.Map { return env.Map{"OTEL_TRACES_EXPORTER": "none"} }

func TestTracersAreCachedByScope(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, none(), withProcessor(&notingProcessor{}))
	tp := tracing.TracerProvider()
	version := trace.WithInstrumentationVersion("v1")
	attrs := trace.WithInstrumentationAttributes(attribute.String("a", "b"))
	if tp.Tracer("x", version, attrs) != tp.Tracer("x", version, attrs) {
		t.Error("one scope has two tracers")
	}
	if tp.Tracer("x", version) == tp.Tracer("x", attrs) || tp.Tracer("x") == tp.Tracer("y") {
		t.Error("two scopes have one tracer")
	}
}

func TestManyTracersWork(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	tracing, _ := start(t, none(), withProcessor(tr.Processor()))
	for i := range 3000 {
		_, span := tracing.TracerProvider().Tracer(strconv.Itoa(i)).Start(t.Context(), "x")
		span.End()
	}
	tr.Span("x").Times(3000)
}

func TestScopeReachesTheSpan(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	tracing, _ := start(t, none(), withProcessor(tr.Processor()))
	tracer := tracing.TracerProvider().Tracer("shop/basket", trace.WithInstrumentationVersion("v2"), trace.WithSchemaURL("https://x/1"))
	_, span := tracer.Start(t.Context(), "x")
	span.End()
	if s := tr.Span("x").One().Scope; s.Name != "shop/basket" || s.Version != "v2" || s.SchemaURL != "https://x/1" {
		t.Errorf("scope %+v", s)
	}
}

func TestNoSpansAfterShutdown(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	tracing, _ := start(t, none(), withProcessor(tr.Processor()))
	tracer := tracing.TracerProvider().Tracer("x")
	if err := shutdown(t, tracing); err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Start(t.Context(), "late")
	span.End()
	if span.IsRecording() {
		t.Error("a span was made after Shutdown")
	}
	tr.None("late")
}

// The forwarding provider adds nothing to what the SDK allocates.
func TestForwardingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	tracing, _ := start(t, none(), withProcessor(discard{}))
	sdk := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}))
	ctx := context.Background()
	measure := func(tracer trace.Tracer) float64 {
		kind := trace.WithSpanKind(trace.SpanKindServer)
		return testing.AllocsPerRun(1000, func() {
			_, span := tracer.Start(ctx, "x", kind)
			span.End()
		})
	}
	direct, forwarded := measure(sdk.Tracer("x")), measure(tracing.TracerProvider().Tracer("x"))
	if forwarded > direct {
		t.Errorf("%v allocations a span, the SDK alone %v", forwarded, direct)
	}
	tp := tracing.TracerProvider()
	tp.Tracer("y")
	if n := testing.AllocsPerRun(1000, func() { tp.Tracer("y") }); n > 0 {
		t.Errorf("%v allocations to look a tracer up", n)
	}
}

type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) ForceFlush(context.Context) error                { return nil }
func (discard) Shutdown(context.Context) error                  { return nil }

// capture attaches to the provider, whichever runs.
func TestForwarderTakesProcessors(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, none(), withProcessor(discard{}))
	tp, ok := tracing.TracerProvider().(interface {
		RegisterSpanProcessor(sdktrace.SpanProcessor)
		UnregisterSpanProcessor(sdktrace.SpanProcessor)
		ForceFlush(context.Context) error
		Unwrap() trace.TracerProvider
	})
	if !ok {
		t.Fatal("the provider takes no processors")
	}
	if _, ok := tp.Unwrap().(interface{ Shutdown(context.Context) error }); !ok {
		t.Errorf("Unwrap: %T", tp.Unwrap())
	}
	_, tr := capturetest.Start(t)
	tp.RegisterSpanProcessor(tr.Processor())
	makeSpans(t, tracing.TracerProvider(), 2)
	if err := tp.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	tp.UnregisterSpanProcessor(tr.Processor())
	makeSpans(t, tracing.TracerProvider(), 2)
	tr.Spans().Times(2)
	if err := shutdown(t, tracing); err != nil {
		t.Error(err)
	}
	tp.RegisterSpanProcessor(tr.Processor())
	tp.UnregisterSpanProcessor(tr.Processor())
	if err := tp.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
}
