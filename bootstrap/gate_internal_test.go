package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/otlpsend"
	"github.com/waymark-trace/waymark/internal/secrets"
)

// exporterFunc is an exporter of one function.
type exporterFunc func(ctx context.Context, n int) error

func (f exporterFunc) ExportSpans(ctx context.Context, s []sdktrace.ReadOnlySpan) error {
	return f(ctx, len(s))
}
func (exporterFunc) Shutdown(context.Context) error { return nil }

func testBatch() env.Batch {
	return env.Batch{
		ScheduleDelay:      env.Value[time.Duration]{V: 5 * time.Second},
		ExportTimeout:      env.Value[time.Duration]{V: 30 * time.Second},
		MaxQueueSize:       env.Value[int]{V: 100},
		MaxExportBatchSize: env.Value[int]{V: 10},
	}
}

func quietDiagnostics() *diagnostics { return newDiagnostics(slog.New(slog.DiscardHandler), nil) }

func testGate(f exporterFunc) *gate {
	return newGate(&exporterSender{SpanExporter: f}, testBatch(), view{}, quietDiagnostics(), "test")
}

// senderFunc is a sender of one function.
type senderFunc func(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) result

func (f senderFunc) send(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) result {
	return f(ctx, spans, t)
}
func (senderFunc) Shutdown(context.Context) error { return nil }

func senderGate(f senderFunc) *gate {
	return newGate(f, testBatch(), view{}, quietDiagnostics(), "test")
}

func sampledSpan() sdktrace.ReadOnlySpan {
	return tracetest.SpanStub{
		Name: "x",
		SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled,
		}),
	}.Snapshot()
}

func endSpans(g *gate, n int) {
	s := sampledSpan()
	for range n {
		g.OnEnd(s)
	}
}

func wantAccount(t *testing.T, g *gate, want DestinationReport) {
	t.Helper()
	if got := g.acc.report(); got != want {
		t.Errorf("account:\n got %+v\nwant %+v", got, want)
	}
}

func TestGateOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  func(ctx context.Context) error
		want DestinationReport // of 10 spans
	}{
		{"success", func(context.Context) error { return nil }, DestinationReport{Exported: 10}},
		{"failure", func(context.Context) error { return errors.New("no") }, DestinationReport{Failed: 10}},
		{"panic", func(context.Context) error { panic("exporter") }, DestinationReport{Failed: 10}},
		{"timeout", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, DestinationReport{Failed: 10, Uncertain: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := testGate(func(ctx context.Context, _ int) error { return c.err(ctx) })
				endSpans(g, 10)
				time.Sleep(time.Minute)
				c.want.Ended = 10
				wantAccount(t, g, c.want)
				if err := g.Shutdown(t.Context()); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
				wantAccount(t, g, c.want)
			})
		})
	}
}

// A sender tells how many of a batch were not taken.
func TestGateOfPartialSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := senderGate(func(context.Context, []sdktrace.ReadOnlySpan, *otlpsend.Tries) result {
			return result{failed: 3, uncertain: 1, err: errors.New("some")}
		})
		endSpans(g, 10)
		time.Sleep(time.Minute)
		wantAccount(t, g, DestinationReport{Ended: 10, Exported: 7, Failed: 3, Uncertain: 1})
		if err := g.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

// largeSpan is a span of so many bytes.
func largeSpan(bytes int) sdktrace.ReadOnlySpan {
	s := tracetest.SpanStubFromReadOnlySpan(sampledSpan())
	s.Attributes = []attribute.KeyValue{attribute.String("large", strings.Repeat("x", bytes))}
	return s.Snapshot()
}

// The queue is bounded in bytes: what is with the exporter counts until the SDK lets
// go of it, and one span may be too large for all of it.
func TestGateBoundInBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := senderGate(func(context.Context, []sdktrace.ReadOnlySpan, *otlpsend.Tries) result {
			<-release
			return result{}
		})
		s := largeSpan(10 << 20)
		for range 10 {
			g.OnEnd(s)
		}
		wantAccount(t, g, DestinationReport{Ended: 10, Queued: 6, Dropped: 4})
		endSpans(g, 1)
		wantAccount(t, g, DestinationReport{Ended: 11, Queued: 7, Dropped: 4})
		release <- struct{}{}
		synctest.Wait() // one is exported, and in the SDK's batch
		wantAccount(t, g, DestinationReport{Ended: 11, Exported: 1, Queued: 6, Dropped: 4})
		g.OnEnd(s)
		wantAccount(t, g, DestinationReport{Ended: 12, Exported: 1, Queued: 6, Dropped: 5})
		close(release)
		time.Sleep(time.Minute)
		for range 6 {
			g.OnEnd(s)
		}
		g.OnEnd(largeSpan(maxQueuedBytes))
		wantAccount(t, g, DestinationReport{Ended: 19, Exported: 7, Queued: 6, Dropped: 6})
		if err := g.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		wantAccount(t, g, DestinationReport{Ended: 19, Exported: 13, Dropped: 6})
	})
}

// A batch is cut by bytes, and each piece has a fate and a time of its own.
func TestGateCutsByBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pieces []int
		g := senderGate(func(ctx context.Context, spans []sdktrace.ReadOnlySpan, _ *otlpsend.Tries) result {
			pieces = append(pieces, len(spans))
			select {
			case <-time.After(20 * time.Second): // the export timeout is 30 s
			case <-ctx.Done():
				t.Errorf("piece %d: %v", len(pieces), context.Cause(ctx))
			}
			if len(pieces) == 2 {
				return result{failed: len(spans), err: errors.New("no")}
			}
			return result{}
		})
		for _, size := range []int{300, 300, 300, 300, 2000, 10, 10, 900, 10, 10} {
			g.OnEnd(largeSpan(size << 10))
		}
		time.Sleep(25 * time.Second)
		wantAccount(t, g, DestinationReport{Ended: 10, Queued: 7, Exported: 3})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(pieces); got != "[3 1 1 5]" {
			t.Errorf("pieces of %s spans", got)
		}
		wantAccount(t, g, DestinationReport{Ended: 10, Exported: 9, Failed: 1})
		if err := g.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

// At the deadline the pieces before the one that is sent are exported, it has
// failed, and those after it are dropped. It may have arrived when it has left.
func TestGateDeadlineBetweenPieces(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"left": true, "not left": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				g := senderGate(func(ctx context.Context, spans []sdktrace.ReadOnlySpan, tries *otlpsend.Tries) result {
					if calls++; calls == 1 {
						tries.Leave()
						return result{}
					}
					if leaves {
						tries.Leave()
					}
					<-ctx.Done()
					return result{failed: len(spans), err: context.Cause(ctx)}
				})
				for range 10 {
					g.OnEnd(largeSpan(300 << 10))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := g.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Shutdown: %v", err)
				}
				want := DestinationReport{Ended: 10, Exported: 3, Failed: 3, Dropped: 4}
				if leaves {
					want.Uncertain = 3
				}
				wantAccount(t, g, want)
				synctest.Wait()
				wantAccount(t, g, want)
				if calls != 2 {
					t.Errorf("%d pieces were sent, want 2", calls)
				}
			})
		})
	}
}

// The gate drops at the queue's bound: what is being exported counts, and the
// SDK never drops unseen.
func TestGateBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		exported := 0
		g := testGate(func(_ context.Context, n int) error {
			<-release
			exported += n
			return nil
		})
		endSpans(g, 250)
		wantAccount(t, g, DestinationReport{Ended: 250, Queued: 100, Dropped: 150})
		close(release)
		synctest.Wait()
		endSpans(g, 10)
		if err := g.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		endSpans(g, 5) // too late
		wantAccount(t, g, DestinationReport{Ended: 265, Exported: 110, Dropped: 155})
		if exported != 110 {
			t.Errorf("the exporter got %d spans, want 110", exported)
		}
	})
}

// At the deadline what is with the exporter may have arrived, what waits has
// not; the exporter is cut, and what it says later changes nothing.
func TestGateShutdownDeadline(t *testing.T) {
	t.Parallel()
	for name, obeys := range map[string]bool{"an exporter that obeys": true, "one that does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				calls := 0
				g := testGate(func(ctx context.Context, _ int) error {
					calls++
					if obeys {
						<-ctx.Done()
						return ctx.Err()
					}
					<-release
					return nil
				})
				endSpans(g, 50)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				if err := g.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Shutdown: %v", err)
				}
				if d := time.Since(begin); d != time.Second {
					t.Errorf("Shutdown took %v", d)
				}
				want := DestinationReport{Ended: 50, Failed: 10, Uncertain: 10, Dropped: 40}
				wantAccount(t, g, want)
				close(release)
				synctest.Wait()
				wantAccount(t, g, want)
				if calls != 1 {
					t.Errorf("%d exports, want 1: none begins after the deadline", calls)
				}
			})
		})
	}
}

func TestGateForceFlush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fail := false
		delay := time.Duration(0)
		g := testGate(func(context.Context, int) error {
			time.Sleep(delay)
			if fail {
				return errors.New("no")
			}
			return nil
		})
		endSpans(g, 3)
		if err := g.ForceFlush(t.Context()); err != nil {
			t.Errorf("ForceFlush: %v", err)
		}
		wantAccount(t, g, DestinationReport{Ended: 3, Exported: 3})
		fail = true
		endSpans(g, 2)
		if err := g.ForceFlush(t.Context()); err == nil || !strings.Contains(err.Error(), "2 spans lost") {
			t.Errorf("ForceFlush with a failing exporter: %v", err)
		}
		// A flush that is not waited for does not cut the export, nor fill the
		// SDK's queue with its markers.
		// (Less than the batch delay: the SDK would wait for a mutex, which stops
		// the time of the bubble.)
		fail, delay = false, time.Second
		endSpans(g, 5)
		for range 300 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := g.ForceFlush(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ForceFlush: %v", err)
			}
			cancel()
		}
		time.Sleep(time.Second)
		endSpans(g, 95)
		if err := g.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		wantAccount(t, g, DestinationReport{Ended: 105, Exported: 103, Failed: 2})
		if err := g.ForceFlush(t.Context()); err != nil {
			t.Errorf("ForceFlush after Shutdown: %v", err)
		}
	})
}

// Many goroutines end spans while others flush and one shuts down.
func TestGateUnderLoad(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := 0
	g := testGate(func(_ context.Context, n int) error {
		mu.Lock()
		defer mu.Unlock()
		got += n
		return nil
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { endSpans(g, 5000) })
		wg.Go(func() { _ = g.ForceFlush(t.Context()) })
	}
	wg.Go(func() { _ = g.Shutdown(t.Context()) })
	wg.Wait()
	r := g.acc.report()
	mu.Lock()
	defer mu.Unlock()
	if r.Ended != 40000 || r.Ended != r.Exported+r.Failed+r.Dropped || r.Queued != 0 || r.Exported != uint64(got) {
		t.Errorf("account %+v, the exporter got %d", r, got)
	}
}

func TestMaskedSampler(t *testing.T) {
	t.Parallel()
	var seen []attribute.KeyValue
	s := maskedSampler{samplerFunc(func(p sdktrace.SamplingParameters) {
		seen = append(seen, p.Attributes...)
		for _, l := range p.Links {
			seen = append(seen, l.Attributes...)
		}
	}), func(kv attribute.KeyValue) (attribute.KeyValue, bool) { return kv, kv.Key != "secret" }}
	attrs := []attribute.KeyValue{attribute.Int("secret", 1), attribute.Int("kept", 1)}
	links := []trace.Link{{Attributes: attrs}}
	s.ShouldSample(sdktrace.SamplingParameters{Attributes: attrs, Links: links})
	if len(seen) != 2 || seen[0].Key != "kept" || seen[1].Key != "kept" {
		t.Errorf("the sampler saw %v", seen)
	}
	if attrs[0].Key != "secret" || len(links[0].Attributes) != 2 {
		t.Error("the caller's attributes were changed")
	}
}

type samplerFunc func(sdktrace.SamplingParameters)

func (f samplerFunc) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	f(p)
	return sdktrace.SamplingResult{}
}
func (samplerFunc) Description() string { return "func" }

func TestDiagnosticsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		d := newDiagnostics(slog.New(slog.NewTextHandler(&out, nil)), secrets.New("topsecret", "abc"))
		lines := func() int {
			defer out.Reset()
			return strings.Count(out.String(), "\n")
		}
		d.Handle(nil)
		for i := range 50 {
			d.Handle(fmt.Errorf("dial 127.0.0.1:%d with topsecret at https://ada:pw@x/?", i))
		}
		text := out.String()
		if n := lines(); n != 1 {
			t.Errorf("%d lines for one kind of error, want 1", n)
		}
		for _, secret := range []string{"topsecret", "ada", "pw@"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
		time.Sleep(repeatInterval)
		d.Handle(errors.New("dial 127.0.0.1:1 with topsecret at https://ada:pw@x/?"))
		if text := out.String(); !strings.Contains(text, "count=50") {
			t.Errorf("an error that lasts is not logged again with its count: %s", text)
		}
		out.Reset()
		for i := range 1000 {
			d.report("x", errors.New(strings.Repeat("x", i+1)))
		}
		if n := lines(); n > maxErrorKinds+1 {
			t.Errorf("%d lines, want at most %d", n, maxErrorKinds+1)
		}
		d.report("x", errors.New(strings.Repeat("long ", 100_000)))
		d.summary(t.Context())
		if text := out.String(); len(text) > 3*maxErrorBytes || !strings.Contains(text, "other errors") {
			t.Errorf("summary of %d bytes: %.2000s", len(text), text)
		}
		out.Reset()
		d.summary(t.Context())
		if out.Len() > 0 {
			t.Errorf("a second summary: %s", &out)
		}
	})
}
