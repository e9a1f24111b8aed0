package capturetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture"
)

// maxMetrics is how many span names a benchmark reports: those that took longest.
const maxMetrics = 20

// Bench runs fn as the body of a benchmark, with spans of a provider of its own in
// the context, and reports besides ns/op for each span name the time in its spans
// per operation, as NAME-ns/op, and the number of spans, as spans/op. Spaces in
// names read "_". Spans are added up, not kept. What recording them costs is in
// the time.
func Bench(b *testing.B, fn func(ctx context.Context)) {
	b.Helper()
	sum := &adder{time: map[string]time.Duration{}}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithSpanProcessor(sum))
	ctx, root := tp.Tracer(capture.ScopeName).Start(b.Context(), b.Name())
	for b.Loop() {
		fn(ctx)
	}
	sum.mu.Lock()
	for _, name := range sum.longest() {
		b.ReportMetric(float64(sum.time[name].Nanoseconds())/float64(b.N), unit(name))
	}
	b.ReportMetric(float64(sum.spans)/float64(b.N), "spans/op")
	sum.mu.Unlock()
	root.End()
	if err := tp.Shutdown(context.WithoutCancel(ctx)); err != nil {
		b.Errorf("capturetest: shut down the provider: %v", err)
	}
}

func unit(name string) string { return strings.Join(strings.Fields(name), "_") + "-ns/op" }

// adder adds up the time in spans by name.
type adder struct {
	mu    sync.Mutex
	spans int
	time  map[string]time.Duration
}

func (a *adder) longest() []string {
	names := slices.SortedFunc(maps.Keys(a.time), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.time[y], a.time[x]), cmp.Compare(x, y))
	})
	return names[:min(len(names), maxMetrics)]
}

func (a *adder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (a *adder) OnEnd(s sdktrace.ReadOnlySpan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spans++
	a.time[s.Name()] += s.EndTime().Sub(s.StartTime())
}

func (*adder) ForceFlush(context.Context) error { return nil }
func (*adder) Shutdown(context.Context) error   { return nil }
