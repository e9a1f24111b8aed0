package recorder_test

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/recorder"
)

// ignoring is a processor that keeps nothing.
type ignoring struct{ queueing }

func (ignoring) OnEnd(sdktrace.ReadOnlySpan) {}

// BenchmarkSpan is a span as the middleware makes them: ten attributes at the
// start, three later.
func BenchmarkSpan(b *testing.B) {
	c := recorder.Config{Limits: unlimited(), Processors: []sdktrace.SpanProcessor{ignoring{}}, Resource: testResource}
	dropping := c
	dropping.Sampler = sdktrace.NeverSample()
	c.Sampler = sdktrace.AlwaysSample()
	for name, tp := range map[string]trace.TracerProvider{
		"ours": recorder.New(c), "SDK": newSDK(c), "ours/dropped": recorder.New(dropping), "SDK/dropped": newSDK(dropping),
	} {
		b.Run(name, func(b *testing.B) {
			var first []attribute.KeyValue
			for i := range 10 {
				first = append(first, attribute.Int(fmt.Sprint("key", i), i))
			}
			late := []attribute.KeyValue{attribute.Int("late1", 1), attribute.Int("late2", 1), attribute.Int("late3", 1)}
			tracer, ctx := tp.Tracer("t"), context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_, s := tracer.Start(ctx, "s", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(first...))
				s.SetAttributes(late...)
				s.End()
			}
		})
	}
}
