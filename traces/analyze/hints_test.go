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

// What comes near to a finding is none.
func TestNearFindings(t *testing.T) {
	t.Parallel()
	ms := uint64(time.Millisecond)
	child := func(parent *traces.Span, id byte, start, end uint64) *traces.Span {
		s := span("call " + string(rune('a'+id%26)) + string(rune('a'+id/26)))
		s.TraceID, s.SpanID, s.ParentID, s.Kind = parent.TraceID, traces.SpanID{9, id}, parent.SpanID, traces.KindClient
		s.StartUnixNano, s.EndUnixNano = start, end
		return s
	}
	root := func(length uint64) *traces.Span { return request("/a", 1, length) }
	row := func(step, length uint64) []*traces.Span {
		spans := []*traces.Span{root(1000 * ms)}
		for i := range byte(60) {
			at := 1 + uint64(i)*step
			spans = append(spans, child(spans[0], i, at, at+length))
		}
		return spans
	}
	call := func(length uint64) []*traces.Span {
		r := root(5000 * ms)
		return []*traces.Span{r, failing(child(r, 1, 2, 2+length), "")}
	}
	for name, tt := range map[string]struct {
		spans []*traces.Span
		kind  analyze.HintKind
		want  bool
	}{
		"60 at once":                    {row(0, ms), analyze.FanOut, true},
		"60 one after another":          {row(ms, ms), analyze.FanOut, false},
		"50 at once":                    {row(0, ms)[:51], analyze.FanOut, false},
		"failed after 2.04 s":           {call(2040 * ms), analyze.Timeouts, true},
		"failed after 2.1 s":            {call(2100 * ms), analyze.Timeouts, false},
		"failed after 1.97 s":           {call(1970 * ms), analyze.Timeouts, true},
		"failed after 1.9 s":            {call(1900 * ms), analyze.Timeouts, false},
		"six tenths of it unexplained":  {[]*traces.Span{root(100 * ms), child(root(0), 1, 2, 40*ms)}, analyze.UnexplainedTime, true},
		"four tenths of it unexplained": {[]*traces.Span{root(100 * ms), child(root(0), 1, 2, 60*ms)}, analyze.UnexplainedTime, false},
		"of 40 ms":                      {[]*traces.Span{root(40 * ms), child(root(0), 1, 2, ms)}, analyze.UnexplainedTime, false},
	} {
		got := false
		for _, h := range hintsOf(tt.spans) {
			got = got || h.Kind == tt.kind
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// What the slow requests have in common must be much rarer among the others, and the two groups apart.
func TestSlowMinority(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		slow, has int    // of 100 requests; of the others, so many have the value as well
		factor    uint64 // how much slower
		want      bool
	}{
		"a fifth, and 20 others have it":     {20, 20, 8, true},
		"a fifth, and 60 others have it":     {20, 60, 8, false},
		"half":                               {50, 0, 8, false},
		"four":                               {4, 0, 8, false},
		"a fifth, not twice as slow":         {20, 0, 2, false},
		"a fifth, all have it":               {20, 80, 8, false},
		"a fifth that is three times slower": {20, 0, 3, true},
	} {
		var spans []*traces.Span
		for i := range 100 {
			took, value := uint64(1_000_000+1000*i), "no"
			if i < tt.slow {
				took *= tt.factor
			}
			if i < tt.slow+tt.has {
				value = "yes"
			}
			s := request("/a", uint64(i+1), took, "big", value)
			spans = append(spans, s)
		}
		got := false
		for _, h := range hintsOf(spans) {
			if h.Kind == analyze.SlowMinority {
				got = true
				if h.Shape != "big=yes" || h.Requests != tt.slow || h.Of != 100 {
					t.Errorf("%s: %+v", name, h)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
