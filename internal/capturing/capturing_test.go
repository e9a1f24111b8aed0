package capturing

import (
	"context"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func decide(ctx context.Context, s *Sampler, id byte) sdktrace.SamplingDecision {
	return s.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: trace.TraceID{id}}).Decision
}

func TestFirstRootClaims(t *testing.T) {
	t.Parallel()
	s := NewSampler(sdktrace.NeverSample(), sdktrace.RecordOnly)
	c := &Trace{}
	ctx := With(t.Context(), c)
	for i, step := range []struct {
		id   byte
		ctx  context.Context //nolint:containedctx // a test case
		want sdktrace.SamplingDecision
	}{
		{1, t.Context(), sdktrace.Drop}, // not captured
		{2, ctx, sdktrace.RecordOnly},   // claims the capture
		{3, ctx, sdktrace.Drop},         // another root inside
		{2, t.Context(), sdktrace.RecordOnly},
		{2, nil, sdktrace.RecordOnly},
	} {
		if got := decide(step.ctx, s, step.id); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	c.End()
	if got := decide(ctx, s, 2); got != sdktrace.Drop {
		t.Errorf("after the end: %v", got)
	}
	if len(s.ids) > 0 || s.count.Load() != 0 {
		t.Errorf("left behind: %v, %d", s.ids, s.count.Load())
	}
}

// A child in another trace than the capture's does not claim it.
func TestChildDoesNotClaim(t *testing.T) {
	t.Parallel()
	s := NewSampler(sdktrace.NeverSample(), sdktrace.RecordOnly)
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	ctx := trace.ContextWithSpanContext(With(t.Context(), &Trace{}), parent)
	if got := decide(ctx, s, 1); got != sdktrace.Drop {
		t.Errorf("%v, want Drop", got)
	}
}

func TestManyTraces(t *testing.T) {
	t.Parallel()
	s := NewSampler(sdktrace.NeverSample(), sdktrace.RecordAndSample)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			c := &Trace{}
			if got := decide(With(t.Context(), c), s, byte(i+1)); got != sdktrace.RecordAndSample {
				t.Errorf("%d: %v", i, got)
			}
			c.End()
		})
	}
	wg.Wait()
	if len(s.ids) > 0 || s.count.Load() != 0 {
		t.Errorf("left behind: %v, %d", s.ids, s.count.Load())
	}
}

// Two captures of one trace ID, which an ID generator that repeats itself makes: the
// end of one is not the other's.
func TestTwoOfOneID(t *testing.T) {
	t.Parallel()
	s := NewSampler(sdktrace.NeverSample(), sdktrace.RecordOnly)
	one, two := &Trace{}, &Trace{}
	for _, c := range []*Trace{one, two} {
		if got := decide(With(t.Context(), c), s, 1); got != sdktrace.RecordOnly {
			t.Errorf("%v", got)
		}
		if !s.isCaptured(sdktrace.SamplingParameters{TraceID: trace.TraceID{1}}) {
			t.Error("not captured")
		}
	}
	two.claim(s, trace.TraceID{1})
	one.End()
	if got := decide(t.Context(), s, 1); got != sdktrace.RecordOnly {
		t.Errorf("after the end of one: %v", got)
	}
	two.End()
	if got := decide(t.Context(), s, 1); got != sdktrace.Drop || len(s.ids) > 0 {
		t.Errorf("after the end of both: %v, %v", got, s.ids)
	}
}
