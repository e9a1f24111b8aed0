package capture_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture"
)

// Spans past the bound are counted, however many they are.
func TestMoreSpansThanTheBound(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many spans")
	}
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	const n, most = 200_000, 1000
	res, err := capture.Run(t.Context(), "many", func(ctx context.Context) error {
		tracer := tp.Tracer("x")
		for range n {
			_, s := tracer.Start(ctx, "one")
			s.End()
		}
		return nil
	}, capture.WithTracerProvider(tp), capture.WithMaxSpans(most))
	if err != nil || len(res.Spans()) > most || len(res.Spans())+res.Dropped() != n+1 {
		t.Errorf("%d spans and %d dropped, %v; want %d together, at most %d kept", len(res.Spans()), res.Dropped(), err, n+1, most)
	}
}

// The program may set another provider in the middle of a window: what the first
// one made is in the result, and the window ends.
func TestProviderSwappedInside(t *testing.T) { // not parallel: it changes the global provider
	before := otel.GetTracerProvider()
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	first, _ := provider()
	otel.SetTracerProvider(first)
	second := sdktrace.NewTracerProvider()
	res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		ctx, s := otel.Tracer("x").Start(ctx, "before")
		otel.SetTracerProvider(second)
		_, other := otel.Tracer("x").Start(ctx, "of the second")
		other.End()
		s.End()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range res.Spans() {
		names[s.Name] = true
	}
	if !names["block"] || !names["before"] || res.Root() == nil {
		t.Errorf("spans:\n%s", res)
	}
	after, err := capture.Run(t.Context(), "again", func(ctx context.Context) error {
		_, s := otel.Tracer("x").Start(ctx, "after")
		s.End()
		return nil
	})
	if err != nil || len(after.Spans()) != 2 {
		t.Errorf("%d spans, %v, want 2:\n%s", len(after.Spans()), err, after)
	}
}
