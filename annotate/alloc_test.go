package annotate_test

import (
	"context"
	"maps"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// bare is a client over a provider that keeps nothing.
func bare(tb testing.TB, vars env.Map) *annotate.Client {
	tb.Helper()
	all := env.Map{"SHOP_TRACING": "true", "OTEL_TRACES_EXPORTER": "none"}
	maps.Copy(all, vars)
	tracing, err := bootstrap.Start(tb.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard, Lookup: all, Processors: []sdktrace.SpanProcessor{annotate.NewProcessor()},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = tracing.Shutdown(context.Background()) })
	c, err := annotate.New(annotate.Config{Tracing: tracing})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// spanWithTwo is a span with two attributes.
func spanWithTwo(ctx context.Context, c *annotate.Client) {
	_, s := c.Span(ctx, "x", annotate.LLM)
	s.SetAttribute("a", "b")
	s.SetAttribute("c", 1)
	s.End(nil)
}

// sdkSpanWithTwo is the same with OpenTelemetry alone: what ours costs more is the handle's and the values'.
func sdkSpanWithTwo(ctx context.Context, tracer trace.Tracer) {
	_, s := tracer.Start(ctx, "x", trace.WithAttributes(annotate.SpanKindKey.String("LLM")))
	s.SetAttributes(attribute.String("a", "b"))
	s.SetAttributes(attribute.Int("c", 1))
	s.End()
}

// kinds of tracing that a span meets.
func allocCases(tb testing.TB) map[string]*annotate.Client {
	tb.Helper()
	return map[string]*annotate.Client{
		"recording":   bare(tb, nil),
		"not sampled": bare(tb, env.Map{"OTEL_TRACES_SAMPLER": "always_off"}),
		"off":         offClient(tb),
	}
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	for name, c := range allocCases(t) {
		most := map[string]float64{"recording": 14, "not sampled": 7, "off": 0}[name]
		if got := testing.AllocsPerRun(500, func() { spanWithTwo(context.Background(), c) }); got > most {
			t.Errorf("%s: %v allocations, want at most %v", name, got, most)
		} else {
			t.Logf("%s: %v allocations", name, got)
		}
	}
}

func BenchmarkSpanWithTwoAttributes(b *testing.B) {
	for name, c := range allocCases(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spanWithTwo(context.Background(), c)
			}
		})
	}
	for name, tp := range map[string]trace.TracerProvider{
		"recording": sdktrace.NewTracerProvider(), "not sampled": sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())), "off": noop.NewTracerProvider(),
	} {
		b.Run("otel/"+name, func(b *testing.B) {
			tracer := tp.Tracer("x")
			b.ReportAllocs()
			for b.Loop() {
				sdkSpanWithTwo(context.Background(), tracer)
			}
		})
	}
}
