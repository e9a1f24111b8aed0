package recorder_test

import (
	"bytes"
	"context"
	"fmt"
	rt "runtime/trace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/recorder"
)

// The end is when End is called, whatever takes its time after that.
func TestEndIsTakenFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, kept := recorded(recorder.Config{Limits: unlimited()})
		_, s := p.Tracer("t").Start(t.Context(), "s")
		time.Sleep(time.Second)
		func() {
			defer func() { _ = recover() }()
			defer s.End()
			panic(slow{})
		}()
		got := kept.Ended()[0]
		if d := got.EndTime().Sub(got.StartTime()); d != time.Second {
			t.Errorf("the span took %s, want 1s", d)
		}
	})
}

type slow struct{}

func (slow) String() string {
	time.Sleep(time.Minute)
	return "slow"
}

// A span is a task of the execution tracer while that runs.
//
//nolint:paralleltest // one trace at a time
func TestExecutionTracer(t *testing.T) {
	var out bytes.Buffer
	if err := rt.Start(&out); err != nil {
		t.Skip("another execution trace runs: ", err)
	}
	p, _ := recorded(recorder.Config{Limits: unlimited()})
	ctx, s := p.Tracer("t").Start(t.Context(), "name-of-the-task")
	_, child := p.Tracer("t").Start(ctx, "name-of-the-child")
	child.End()
	s.End()
	s.End()
	rt.Stop()
	for _, name := range []string{"name-of-the-task", "name-of-the-child"} {
		if !bytes.Contains(out.Bytes(), []byte(name)) {
			t.Errorf("%s is not in the execution trace", name)
		}
	}
}

// Of many who end one span, one is heard, and nobody writes to an ended one.
func TestConcurrentCallers(t *testing.T) {
	t.Parallel()
	p, kept := recorded(recorder.Config{Limits: unlimited()})
	const spans = 50
	for i := range spans {
		ctx, s := p.Tracer("t").Start(t.Context(), "s")
		rw, _ := s.(sdktrace.ReadWriteSpan)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for j := range 10 {
					s.SetAttributes(attribute.Int(fmt.Sprint("k", j), g))
					s.AddEvent("e", trace.WithAttributes(attribute.Int("a", g)))
					s.SetStatus(codes.Error, "x")
					s.SetName("n")
					s.AddLink(trace.Link{SpanContext: s.SpanContext()})
					_, child := p.Tracer("t").Start(ctx, "child", trace.WithNewRoot())
					_ = child.SpanContext()
					if j == g {
						s.End()
					}
					_ = show(rw)
				}
			})
		}
		wg.Wait()
		if got := len(kept.Ended()); got != i+1 {
			t.Fatalf("%d spans ended, want %d", got, i+1)
		}
		if show(kept.Ended()[i]) != show(rw) {
			t.Fatal("the ended span has changed")
		}
	}
}

// Handlers go on with span, context and what they have read after the end,
// while processors that keep spans read them.
func TestUseAfterEnd(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 5000
	var read sync.WaitGroup
	queue := make(chan sdktrace.ReadOnlySpan, 64)
	read.Go(func() {
		for s := range queue {
			if len(s.Attributes()) != 2 || s.Name() != "s" || s.ChildSpanCount() != 1 {
				t.Errorf("got %s", show(s))
			}
		}
	})
	p := recorder.New(recorder.Config{Limits: unlimited(), Processors: []sdktrace.SpanProcessor{queueing(queue)}})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				ctx, s := p.Tracer("t").Start(context.Background(), "s", trace.WithAttributes(attribute.Int("a", 1), attribute.Int("b", 1)))
				_, child := p.Tracer("t").Start(ctx, "", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindClient))
				s.End()
				s.SetAttributes(attribute.Int("a", 2), attribute.Int("c", 3))
				s.SetName("late")
				s.AddEvent("late")
				_, late := p.Tracer("t").Start(ctx, "")
				late.SetName("late")
				child.SetAttributes(attribute.Int("late", 1))
				s.End()
			}
		})
	}
	wg.Wait()
	close(queue)
	read.Wait()
}

// queueing hands ended spans to another goroutine.
type queueing chan sdktrace.ReadOnlySpan

func (queueing) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (q queueing) OnEnd(s sdktrace.ReadOnlySpan)                 { q <- s }
func (queueing) ForceFlush(context.Context) error                { return nil }
func (queueing) Shutdown(context.Context) error                  { return nil }

// A text that is cut is copied: the long one is not kept.
func TestCutTextIsCopied(t *testing.T) {
	t.Parallel()
	limits := unlimited()
	limits.AttributeValueLengthLimit = 4
	p, kept := recorded(recorder.Config{Limits: limits})
	_, s := p.Tracer("t").Start(t.Context(), "s")
	s.SetAttributes(attribute.String("a", "äöüß long"), attribute.StringSlice("b", []string{"long text", "ok"}),
		attribute.ByteSlice("c", []byte("bytes")), attribute.Map("d", attribute.String("e", "nested")))
	s.End()
	got := showAll(kept.Ended()[0].Attributes())
	want := `{"a" STRING "äöüß"}{"b" STRINGSLICE "[\"long\",\"ok\"]"}{"c" BYTESLICE "Ynl0ZQ=="}{"d" MAP "{\"e\":\"nest\"}"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A span costs fewer allocations than the SDK's, in the same calls.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	late := []attribute.KeyValue{attribute.Int("k11", 1), attribute.Int("k12", 1), attribute.Int("k13", 1)}
	var first []attribute.KeyValue
	for i := range 10 {
		first = append(first, attribute.Int(fmt.Sprint("k", i), i))
	}
	count := func(tp trace.TracerProvider) float64 {
		tracer, ctx := tp.Tracer("t"), context.Background()
		return testing.AllocsPerRun(500, func() {
			_, s := tracer.Start(ctx, "s", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(first...))
			s.SetAttributes(late...)
			s.End()
		})
	}
	discard := queueing(make(chan sdktrace.ReadOnlySpan, 4096))
	ours := count(recorder.New(recorder.Config{Limits: unlimited(), Processors: []sdktrace.SpanProcessor{discard}}))
	for len(discard) > 0 {
		<-discard
	}
	theirs := count(newSDK(recorder.Config{Limits: unlimited(), Processors: []sdktrace.SpanProcessor{discard}, Resource: testResource}))
	if ours > 7 || ours > theirs-5 {
		t.Errorf("%v allocations a span, want at most 7; the SDK's has %v", ours, theirs)
	}
	t.Logf("%v allocations a span, the SDK's has %v", ours, theirs)
}
