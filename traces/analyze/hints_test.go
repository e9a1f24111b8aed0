package analyze_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func hintsOf(spans []*traces.Span) []analyze.Hint {
	h := analyze.NewHints(analyze.HintOptions{})
	for _, t := range traces.NewSet(spans).Traces() {
		h.AddTrace(t)
	}
	return h.Hints()
}

func isHint(kind string) bool { return kind != "errors" && kind != "orphans" && kind != "skew" }

// Each fault that is in a file is found, with its route, its number of requests and its cost, and nothing else is.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		spans, truth := planted.Spans(planted.Options{Seed: seed, Requests: 100})
		want := map[string]*planted.Fault{}
		for kind, f := range truth {
			if isHint(kind) {
				want[kind] = f
			}
		}
		if len(want) != 8 {
			t.Fatalf("planted are %v", truth.Kinds())
		}
		for _, h := range hintsOf(spans) {
			f := want[string(h.Kind)]
			if f == nil {
				t.Errorf("seed %d: %s of %s %s: %s", seed, h.Kind, h.Service, h.Route, h.Text)
				continue
			}
			delete(want, string(h.Kind))
			wantHint(t, h, f)
		}
		for kind := range want {
			t.Errorf("seed %d: %s is not found", seed, kind)
		}
	}
}

func wantHint(t *testing.T, h analyze.Hint, f *planted.Fault) {
	t.Helper()
	if h.Service != f.Service || h.Route != f.Route || h.Requests != f.Requests {
		t.Errorf("%s: %s %s, %d of %d requests, want %s %s, %d of %d", h.Kind, h.Service, h.Route, h.Requests, h.Of, f.Service, f.Route, f.Requests, f.Of)
	}
	got, cost := time.Duration(h.CostP50), f.Median()
	if h.Kind == analyze.SlowMinority { // its cost is what it takes more than the others
		cost -= 15 * time.Millisecond
	}
	if off := (got - cost).Abs(); off > cost/10 || h.Kind != analyze.SlowMinority && off != 0 {
		t.Errorf("%s: costs %s, want %s", h.Kind, got, cost)
	}
	if len(h.Examples) != 3 || h.Text == "" || strings.Contains(h.Text, "%!") {
		t.Errorf("%s: %q with %d examples", h.Kind, h.Text, len(h.Examples))
	}
	if h.Kind == analyze.SlowMinority && fmt.Sprint(h.Attributes[0].Key, "=", h.Attributes[0].Value) != "tenant=big" {
		t.Errorf("the slow requests have %v in common", h.Attributes)
	}
}

func TestHealthyFileHasNoFinding(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		spans, _ := planted.Spans(planted.Options{Seed: seed, Requests: 100, Healthy: true, Big: seed == 0})
		for _, h := range hintsOf(spans) {
			t.Errorf("seed %d: %s of %s %s: %s", seed, h.Kind, h.Service, h.Route, h.Text)
		}
	}
}

// Three tries are retries, two are not; nor are calls at the same time, or such that none has failed.
func TestRetriesFromThreeOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failed string // of each call
		step   uint64
		want   int
	}{
		"two":              {"x-", 10, 0},
		"three":            {"xx-", 10, 3},
		"five":             {"xxxx-", 10, 5},
		"given up":         {"xxx", 10, 3},
		"at the same time": {"xx-", 0, 0},
		"none failed":      {"---", 10, 0},
	} {
		spans := []*traces.Span{request("/a", 1, 1000)}
		for i, c := range tt.failed {
			s := span("call")
			s.Kind, s.TraceID, s.SpanID, s.ParentID = traces.KindClient, spans[0].TraceID, traces.SpanID{9, byte(i)}, spans[0].SpanID
			s.StartUnixNano = 10 + uint64(i)*tt.step
			s.EndUnixNano = s.StartUnixNano + 5
			if c == 'x' {
				failing(s, "")
			}
			spans = append(spans, s)
		}
		got := 0
		for _, h := range hintsOf(spans) {
			if h.Kind == analyze.Retries {
				got = h.Times
			}
		}
		if got != tt.want {
			t.Errorf("%s: %d tries, want %d", name, got, tt.want)
		}
	}
}
