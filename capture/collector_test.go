package capture

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// plain is a processor that does nothing, so that the SDK does what it does for
// any processor.
type plain struct{}

func (plain) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (plain) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (plain) ForceFlush(context.Context) error                { return nil }
func (plain) Shutdown(context.Context) error                  { return nil }

func nothing(context.Context) error { return nil }

func stub(id trace.TraceID, span byte) sdktrace.ReadOnlySpan {
	return tracetest.SpanStub{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: trace.SpanID{span},
	})}.Snapshot()
}

func TestBeginTwice(t *testing.T) {
	t.Parallel()
	c, id := &collector{}, trace.TraceID{1}
	first, late := newWindow(10, trace.SpanID{1}, nil), &atomic.Int64{}
	if !c.begin(id, first, late) {
		t.Fatal("the first begin failed")
	}
	if c.begin(id, newWindow(10, trace.SpanID{2}, nil), &atomic.Int64{}) {
		t.Error("a second window for the same trace ID")
	}
	c.OnEnd(stub(id, 1))
	if spans, _ := first.close(); len(spans) != 1 || spans[0] == nil {
		t.Errorf("the first window has %v", spans)
	}
	c.end(id, late)
	c.end(id, late)
	if c.open.Load() != 0 {
		t.Errorf("%d windows open", c.open.Load())
	}
	if !c.begin(id, newWindow(10, trace.SpanID{3}, nil), &atomic.Int64{}) {
		t.Error("no window after the first one has ended")
	}
}

func TestShutdownForgetsWindows(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	var c *Capture
	var inside context.Context
	inside, c = Start(t.Context(), "block", WithTracerProvider(tp))
	col := collectorOf(attached, tp)
	if col.open.Load() != 1 || col.ForceFlush(t.Context()) != nil {
		t.Error("the window is not open")
	}
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if col.open.Load() != 0 || col.known.Load() != nil {
		t.Error("something is left after Shutdown")
	}
	_ = inside
	c.End(nil)
	if res := c.Result(); len(res.Spans()) != 1 || res.Root().Open() {
		t.Errorf("what was captured is lost: %v", res)
	}
	if col.open.Load() != 0 {
		t.Errorf("%d windows open", col.open.Load())
	}
}

// A collector remembers only so many captures, and none whose result is gone.
func TestPastIsBounded(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	col := collectorOf(attached, tp)
	func() {
		results := make([]*Result, 0, 3*maxPast)
		for range cap(results) {
			res, err := Run(t.Context(), "block", nothing, WithTracerProvider(tp))
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, res)
		}
		if n := len(col.known.Load().byID); n != maxPast {
			t.Errorf("%d trace IDs are remembered, want %d", n, maxPast)
		}
		runtime.KeepAlive(results)
	}()
	eventually(t, "the trace IDs are remembered after the results are gone", func() bool {
		return col.known.Load() == nil
	})
}

// A trace ID that is captured again is not forgotten with the first capture of it,
// neither when as many others have ended nor when that one's result goes.
func TestTraceIDCapturedAgain(t *testing.T) {
	t.Parallel()
	c, id, first := &collector{}, trace.TraceID{1}, &atomic.Int64{}
	c.begin(id, newWindow(10, trace.SpanID{1}, nil), first)
	c.end(id, first)
	again, late := newWindow(10, trace.SpanID{1}, nil), &atomic.Int64{}
	c.begin(id, again, late)
	for i := range maxPast {
		other, n := trace.TraceID{2, 15: byte(i)}, &atomic.Int64{}
		c.begin(other, newWindow(1, trace.SpanID{1}, nil), n)
		c.end(other, n)
	}
	c.forget(id, first)
	c.OnEnd(stub(id, 1))
	if spans, _ := again.close(); len(spans) != 1 || spans[0] == nil || late.Load() != 0 {
		t.Errorf("the second window has %v, %d late", spans, late.Load())
	}
}

// A span that starts in a capture that is over belongs to none, also while another
// one is open.
func TestLateStart(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	after, c := Start(t.Context(), "first", WithTracerProvider(tp))
	c.End(nil)
	first := c.Result()
	second, err := Run(t.Context(), "second", func(context.Context) error {
		_, s := tp.Tracer("test").Start(after, "late")
		s.End()
		return nil
	}, WithTracerProvider(tp))
	if err != nil || len(first.Spans()) != 1 || len(second.Spans()) != 1 || first.Late() != 1 || second.Late() != 0 {
		t.Errorf("%v and %v, %d and %d late, %v", first, second, first.Late(), second.Late(), err)
	}
}

// A span may start while its window closes.
func TestStartInAClosedWindow(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	_, s := tp.Tracer("test").Start(t.Context(), "s")
	defer s.End()
	span, ok := s.(sdktrace.ReadWriteSpan)
	if !ok {
		t.Fatalf("%T", s)
	}
	w := newWindow(10, trace.SpanID{1}, nil)
	w.close()
	w.start(span)
	if spans, dropped := w.close(); len(spans) != 0 || dropped != 0 {
		t.Errorf("%d spans, %d dropped", len(spans), dropped)
	}
}

// eventually collects garbage until done, for at most half a minute.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal(what)
		}
		runtime.GC()
	}
}

func TestProviderIsHeldWeakly(t *testing.T) {
	t.Parallel()
	key := func() weak.Pointer[sdktrace.TracerProvider] {
		tp := sdktrace.NewTracerProvider()
		if _, err := Run(t.Context(), "block", nothing, WithTracerProvider(tp)); err != nil {
			t.Error(err)
		}
		return weak.Make(tp)
	}()
	eventually(t, "the provider or its collector is held", func() bool {
		attached.mu.Lock()
		defer attached.mu.Unlock()
		_, kept := attached.collectors[key]
		return key.Value() == nil && !kept
	})
}

func TestOneCollectorPerProvider(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	first := collectorOf(attached, tp)
	for range 5 {
		if _, err := Run(t.Context(), "block", nothing, WithTracerProvider(tp)); err != nil {
			t.Fatal(err)
		}
	}
	if collectorOf(attached, tp) != first {
		t.Error("another collector")
	}
	if other := collectorOf(attached, sdktrace.NewTracerProvider()); other == first {
		t.Error("two providers share a collector")
	}
	res, _ := Run(t.Context(), "block", func(ctx context.Context) error {
		_, s := tp.Tracer("test").Start(ctx, "inside")
		s.End()
		return nil
	}, WithTracerProvider(tp))
	if len(res.Spans()) != 2 {
		t.Errorf("%d spans, want 2: processors pile up or are gone", len(res.Spans()))
	}
}

// Outside of a window a span costs two looks at a number.
func TestNoWindowNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(plain{}))
	tracer := tp.Tracer("test")
	perSpan := func() float64 {
		return testing.AllocsPerRun(2000, func() {
			_, s := tracer.Start(t.Context(), "s")
			s.End()
		})
	}
	before := perSpan()
	res, err := Run(t.Context(), "block", nothing, WithTracerProvider(tp))
	if err != nil {
		t.Fatal(err)
	}
	if got := perSpan(); got != before {
		t.Errorf("%v allocations a span with a collector, %v without", got, before)
	}
	_, s := tracer.Start(t.Context(), "s")
	defer s.End()
	span, ok := s.(sdktrace.ReadWriteSpan)
	if !ok {
		t.Fatalf("%T", s)
	}
	c := collectorOf(attached, tp)
	if got := testing.AllocsPerRun(2000, func() { c.OnStart(t.Context(), span); c.OnEnd(span) }); got != 0 {
		t.Errorf("%v allocations of the collector, want 0", got)
	}
	runtime.KeepAlive(res)
}

// A million spans outside of any window leave nothing behind.
func TestFlatMemory(t *testing.T) {
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(plain{}))
	if _, err := Run(t.Context(), "block", nothing, WithTracerProvider(tp)); err != nil {
		t.Fatal(err)
	}
	spans := 1_000_000
	if testing.Short() || raceEnabled {
		spans = 100_000
	}
	tracer := tp.Tracer("test")
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range spans {
		_, s := tracer.Start(t.Context(), "s")
		s.End()
	}
	// One word a span would be 8 MB.
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d spans left %d bytes", spans, after-before)
	}
	runtime.KeepAlive(tp)
}

// BenchmarkNoWindow is what a span costs more with a collector attached and no
// block open: "direct" the collector's own calls, the others a whole span.
func BenchmarkNoWindow(b *testing.B) {
	whole := func(capture bool) func(b *testing.B) {
		return func(b *testing.B) {
			b.Helper()
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(plain{}))
			if capture {
				_, _ = Run(b.Context(), "block", nothing, WithTracerProvider(tp))
			}
			tracer, ctx := tp.Tracer("test"), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_, s := tracer.Start(ctx, "s")
				s.End()
			}
		}
	}
	b.Run("whole/without_capture", whole(false))
	b.Run("whole/with_capture", whole(true))
	direct := func(p sdktrace.SpanProcessor, remembered int) func(b *testing.B) {
		return func(b *testing.B) {
			b.Helper()
			c, _ := p.(*collector)
			for i := range remembered {
				id, late := trace.TraceID{1, 14: byte(i * 7), 15: byte(i * 13)}, &atomic.Int64{}
				c.begin(id, newWindow(1, trace.SpanID{1}, nil), late)
				c.end(id, late)
			}
			tp := sdktrace.NewTracerProvider()
			_, s := tp.Tracer("test").Start(b.Context(), "s")
			defer s.End()
			rw, ok := s.(sdktrace.ReadWriteSpan)
			if !ok {
				b.Fatalf("%T", s)
			}
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				p.OnStart(ctx, rw)
				p.OnEnd(rw)
			}
		}
	}
	b.Run("direct/no_op_processor", direct(plain{}, 0))
	b.Run("direct/capture", direct(&collector{}, 0))
	b.Run("direct/capture_results_held", direct(&collector{}, maxPast))
}

// BenchmarkRun is a capture of an empty block.
func BenchmarkRun(b *testing.B) {
	tp := sdktrace.NewTracerProvider()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Run(b.Context(), "block", nothing, WithTracerProvider(tp))
	}
}

func TestMain(m *testing.M) {
	if child := children[os.Getenv("CAPTURE_CHILD")]; child != nil {
		if err := child(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
