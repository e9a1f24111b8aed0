package annotate_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/internal/experiment"
	"github.com/waymark-trace/waymark/traces"
)

func echo(_ context.Context, s string) (string, error) {
	if s == "fail" {
		return "", errOut
	}
	return "<" + s + ">", nil
}

func length(_ context.Context, s annotate.Sample) (annotate.Score, error) {
	out, _ := s.Output.(string)
	return annotate.Score{Value: float64(len(out)), Label: "ok", Explanation: fmt.Sprint(s.Input)}, nil
}

// A score comes after the call, off its path, as a span of its own that links to the root of the trace.
func TestScores(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, spans := start(t, func(c *annotate.Config) { c.GenAI = true })
		release := make(chan struct{})
		slow := annotate.MetricFunc("length", func(ctx context.Context, s annotate.Sample) (annotate.Score, error) {
			<-release
			_, inner := c.Span(ctx, "of the metric")
			inner.End(nil)
			return length(ctx, s)
		})
		answer := annotate.Func("answer", echo, annotate.Metrics(slow, nil), annotate.Tool, c)
		ctx, root := c.Span(t.Context(), "root")
		if got, err := answer(ctx, "hi"); got != "<hi>" || err != nil {
			t.Errorf("answer = %q, %v", got, err)
		}
		if _, err := answer(ctx, "fail"); !errors.Is(err, errOut) {
			t.Errorf("answer = %v", err)
		}
		root.End(nil)
		close(release)
		if err := c.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		s := spans.Span("evaluate length").One()
		if len(s.Links) != 1 || s.Links[0].SpanID.String() != root.SpanID() || s.TraceID.String() != root.TraceID() {
			t.Errorf("links %v", s.Links)
		}
		spans.has(t, "evaluate length", wanted{
			annotate.SpanKindKey:                            "EVALUATOR",
			"trace.evaluations.0.evaluation.name":           "length",
			"trace.evaluations.0.evaluation.score":          4.0,
			"trace.evaluations.0.evaluation.label":          "ok",
			"trace.evaluations.0.evaluation.explanation":    "hi",
			"trace.evaluations.0.evaluation.annotator_kind": "CODE",
		})
		if e := s.Events; len(e) != 1 || e[0].Name != "gen_ai.evaluation.result" || texts(e[0].Attributes)["gen_ai.evaluation.score.value"] != "4.0" {
			t.Errorf("events %v", e)
		}
		for _, s := range spans.Spans().All() {
			if s.Name == "of the metric" {
				t.Error("a metric makes spans")
			}
		}
		if got := c.Stats(); got != (annotate.Stats{Scored: 1}) {
			t.Errorf("stats %+v", got)
		}
	})
}

func TestScoresThatFail(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	metric := func(name string, f func() (annotate.Score, error)) annotate.Metric {
		return annotate.MetricFunc(name, func(context.Context, annotate.Sample) (annotate.Score, error) { return f() })
	}
	_, _ = annotate.Call(t.Context(), "x", "", echo, c, annotate.Metrics(
		metric("error", func() (annotate.Score, error) { return annotate.Score{}, errOut }),
		metric("panic", func() (annotate.Score, error) { panic("metric") }),
		metric("nothing", func() (annotate.Score, error) { return annotate.Score{NoValue: true}, nil }),
		metric("nan", func() (annotate.Score, error) { return annotate.Score{Value: math.NaN(), Label: "l"}, nil }),
		metric("exit", func() (annotate.Score, error) { runtime.Goexit(); return annotate.Score{}, nil }),
	))
	_, _ = annotate.Call(t.Context(), "y", "", echo, c, annotate.Metrics(namelessMetric{}))
	_, _ = annotate.Call(t.Context(), "z", "", echo, c, annotate.Metrics(metric("last", func() (annotate.Score, error) { return annotate.Score{}, nil })))
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"error": "out of paper", "panic": "panic: metric", "nothing": "neither a value nor a label", "nan": "", "exit": "runtime.Goexit", "metric": "panic: no name", "last": "",
	} {
		s := spans.Span("evaluate " + name).One()
		if s.Status.Message != want || (s.Status.Code == traces.StatusError) != (want != "") {
			t.Errorf("%s: status %+v", name, s.Status)
		}
	}
	if got := c.Stats(); got.Scored != 2 || got.Failed != 5 {
		t.Errorf("stats %+v", got)
	}
	spans.has(t, "evaluate nan", wanted{"trace.evaluations.0.evaluation.score": "", "trace.evaluations.0.evaluation.label": "l"})
}

type namelessMetric struct{}

func (namelessMetric) Name() string { panic("no name") }

func (namelessMetric) Score(context.Context, annotate.Sample) (annotate.Score, error) {
	return annotate.Score{}, nil
}

// Traces that are not sampled, and calls inside of experiments, are not scored; of the others the share asked
// for, the same traces as the SDK's ratio sampler takes.
func TestWhatIsScored(t *testing.T) {
	t.Parallel()
	c, _ := start(t)
	var mu sync.Mutex
	scored := map[string]bool{}
	metric := annotate.Metrics(annotate.MetricFunc("m", func(_ context.Context, s annotate.Sample) (annotate.Score, error) {
		mu.Lock()
		defer mu.Unlock()
		scored[s.TraceID] = true
		return annotate.Score{}, nil
	}))
	const share = 0.3
	sampler := sdktrace.TraceIDRatioBased(share)
	var want []string
	for i := range 400 {
		var id trace.TraceID
		binary.BigEndian.PutUint64(id[8:], uint64(i)*0x9E3779B97F4A7C15)
		id[0] = 1
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled, Remote: true})
		ctx := trace.ContextWithSpanContext(t.Context(), sc)
		for range 2 {
			_, _ = annotate.Call(ctx, "x", "", echo, metric, annotate.MetricsSampleRate(share), c)
			_, _ = annotate.Call(experiment.Mark(ctx), "x", "", echo, metric, c)
			_, _ = annotate.Call(ctx, "x", "", echo, metric, annotate.MetricsSampleRate(0), c)
			_, _ = annotate.Call(trace.ContextWithSpanContext(t.Context(), sc.WithTraceFlags(0)), "x", "", echo, metric, c)
		}
		if sampler.ShouldSample(sdktrace.SamplingParameters{TraceID: id}).Decision == sdktrace.RecordAndSample {
			want = append(want, id.String())
		}
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(scored) != len(want) || len(want) < 60 || len(want) > 180 || slices.ContainsFunc(want, func(id string) bool { return !scored[id] }) {
		t.Errorf("%d traces are scored, want %d", len(scored), len(want))
	}
}

// The queue is bounded, and neither a call nor Flush waits for a metric that hangs.
func TestMetricsThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := start(t, func(c *annotate.Config) { c.MetricsWorkers = 3 })
		var mu sync.Mutex
		running, most := 0, 0
		hang := annotate.Metrics(annotate.MetricFunc("hang", func(ctx context.Context, _ annotate.Sample) (annotate.Score, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			running--
			mu.Unlock()
			return annotate.Score{}, ctx.Err()
		}))
		call := annotate.Func("x", echo, hang, c)
		begin := time.Now()
		for range 1100 {
			_, _ = call(t.Context(), "")
			synctest.Wait()
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the calls waited %v", took)
		}
		err := c.Flush(t.Context())
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
			t.Errorf("Flush took %v: %v", took, err)
		}
		if got := c.Stats().Unscored; got != 1100-1024-3 || most != 3 {
			t.Errorf("%d were dropped, at most %d ran", got, most)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "annotate: shutdown: metrics: ") {
			t.Errorf("Shutdown: %v", err)
		}
		synctest.Wait()
		if running != 0 {
			t.Errorf("%d metrics still run", running)
		}
		_, _ = call(t.Context(), "after")
		if got := c.Stats().Unscored; got != 1100-3+1 {
			t.Errorf("%d were dropped after Shutdown, want 1098", got)
		}
	})
}

// Spans first, then metrics, then the scores that they made; one budget.
func TestFlushOrder(t *testing.T) {
	t.Parallel()
	notes := &flushNotes{}
	c, _ := startWith(t, []sdktrace.SpanProcessor{notes})
	_, _ = annotate.Call(t.Context(), "x", "", echo, c, annotate.Metrics(annotate.MetricFunc("m", func(ctx context.Context, s annotate.Sample) (annotate.Score, error) {
		notes.waitFlushed(t)
		notes.note("metric")
		return length(ctx, s)
	})))
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := notes.String(), "end x, flush, metric, end evaluate m, flush"; got != want {
		t.Errorf("order %q, want %q", got, want)
	}
}

// flushNotes is a processor that notes what happens.
type flushNotes struct {
	mu    sync.Mutex
	list  []string
	first chan struct{}
}

func (n *flushNotes) flushed() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil {
		n.first = make(chan struct{})
	}
	return n.first
}

func (n *flushNotes) waitFlushed(t *testing.T) {
	t.Helper()
	select {
	case <-n.flushed():
	case <-time.After(30 * time.Second):
		t.Error("no flush")
	}
}

func (n *flushNotes) note(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *flushNotes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, ", ")
}

func (*flushNotes) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (n *flushNotes) OnEnd(s sdktrace.ReadOnlySpan) { n.note("end " + s.Name()) }

func (n *flushNotes) ForceFlush(context.Context) error {
	n.note("flush")
	first := n.flushed()
	select {
	case <-first:
	default:
		close(first)
	}
	return nil
}

func (*flushNotes) Shutdown(context.Context) error { return nil }
