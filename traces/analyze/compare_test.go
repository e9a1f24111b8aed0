package analyze_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchmath"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func sideOf(spans []*traces.Span) *analyze.Side {
	s := analyze.NewSide(analyze.Window{})
	for _, t := range traces.NewSet(spans).Traces() {
		s.AddTrace(t)
	}
	return s
}

// run is requests of five routes whose durations are spread by a tenth; those of the first take more by a factor.
func run(seed uint64, factor float64) (spans []*traces.Span, durations map[string][]float64) {
	r := rand.New(rand.NewPCG(seed, 7))
	durations = map[string][]float64{}
	for i := range 500 {
		route := fmt.Sprint("/r", i%5)
		took := 1e6 * math.Exp(r.NormFloat64()*0.1)
		if i%5 == 0 {
			took *= factor
		}
		s := request(route, uint64(1+i), uint64(took))
		binary.BigEndian.PutUint64(s.TraceID[:], uint64(i+1))
		spans = append(spans, s)
		durations["GET "+route] = append(durations["GET "+route], float64(uint64(took)))
	}
	return spans, durations
}

// Of equal runs, at most one in a hundred is said to differ; of one that differs, what does and nothing else.
func TestWhatIsSignificant(t *testing.T) {
	t.Parallel()
	alarms, missed, wrong := 0, 0, 0
	for seed := range uint64(200) {
		one, durations := run(2*seed, 1)
		two, others := run(2*seed+1, 1)
		for _, r := range analyze.Compare(sideOf(one), sideOf(two)).Routes {
			if r.Significant {
				alarms++
			}
			want := benchmath.AssumeNothing.Compare(
				benchmath.NewSample(durations[r.Route], &benchmath.DefaultThresholds), benchmath.NewSample(others[r.Route], &benchmath.DefaultThresholds)).P
			if got := r.PValue; got != min(1, 5*want) {
				t.Errorf("p value %v, want %v", got, min(1, 5*want))
			}
		}
		three, _ := run(2*seed+1, 1.15)
		for _, r := range analyze.Compare(sideOf(one), sideOf(three)).Routes {
			if r.Significant != (r.Route == "GET /r0") {
				if r.Significant {
					wrong++
				} else {
					missed++
				}
			}
		}
	}
	if alarms > 2 || wrong > 2 || missed > 2 {
		t.Errorf("of 200: %d false alarms of equal runs, %d wrong and %d missed of others", alarms, wrong, missed)
	}
}

// Two milliseconds more in one route are found there, and nowhere else.
func TestASleepIsFound(t *testing.T) {
	t.Parallel()
	before, _ := planted.Spans(planted.Options{Seed: 1, Requests: 80, Healthy: true})
	after, _ := planted.Spans(planted.Options{Seed: 2, Requests: 80, Healthy: true, Slower: 2 * time.Millisecond})
	c := analyze.Compare(sideOf(before), sideOf(after))
	var found []string
	for _, r := range c.Routes {
		if r.Significant {
			found = append(found, fmt.Sprintf("%s %.1f %s", r.Route, float64(r.After.P50-r.Before.P50)/1e6, r.Calls[0].Shape))
		}
	}
	if diff := gocmp.Diff([]string{"GET /about 2.0 sleep"}, found); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]analyze.RouteShape{{Route: analyze.Route{Service: "shop", Name: "GET /about"}, Shape: "sleep"}}, c.Appeared.Shapes); diff != "" {
		t.Error(diff)
	}
	if len(c.Routes) != 24 || len(c.Appeared.Routes)+len(c.Vanished.Routes)+len(c.Vanished.Shapes)+len(c.Appeared.Errors) != 0 {
		t.Errorf("%d routes, appeared %+v, vanished %+v", len(c.Routes), c.Appeared, c.Vanished)
	}
}

// Errors that come up in one route are significant there.
func TestErrorRateRises(t *testing.T) {
	t.Parallel()
	before, _ := run(1, 1)
	after, _ := run(2, 1)
	for i, s := range after {
		if i%5 == 1 && i%2 == 0 {
			failing(s, "no such table")
		}
	}
	c := analyze.Compare(sideOf(before), sideOf(after))
	for _, r := range c.Routes {
		if r.FailedSignificant != (r.Route == "GET /r1") {
			t.Errorf("%s: %d of %d failed, %d of %d before: %v", r.Route, r.After.Failed, r.After.Count, r.Before.Failed, r.Before.Count, r.FailedPValue)
		}
	}
	if len(c.Appeared.Errors) != 1 || c.Appeared.Errors[0].Message != "no such table" || len(c.Vanished.Errors) != 0 {
		t.Errorf("errors %+v", c.Appeared.Errors)
	}
}

func TestRoutesThatComeAndGo(t *testing.T) {
	t.Parallel()
	c := analyze.Compare(sideOf([]*traces.Span{request("/a", 1, 1), request("/b", 300, 1)}), sideOf([]*traces.Span{request("/b", 1, 1), request("/c", 300, 1)}))
	got := fmt.Sprint(len(c.Routes), c.Vanished.Routes, c.Appeared.Routes)
	if want := "1 [{ GET /a}] [{ GET /c}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAlign(t *testing.T) {
	t.Parallel()
	named := func(set *traces.Set, names ...string) *traces.Trace {
		for n := range set.All() {
			n.Span().Name = names[n.Index()]
		}
		return set.Traces()[0]
	}
	before := named(forest(at{0, 1, 101}, at{1, 2, 12}, at{1, 20, 30}, at{1, 40, 60}, at{4, 41, 45}), "root", "query 1", "query 2", "call", "inner")
	after := named(forest(at{0, 1, 201}, at{1, 2, 12}, at{1, 20, 70}, at{1, 80, 90}), "root", "query 7", "call", "new")
	var got []string
	for _, r := range analyze.Align(before, after) {
		got = append(got, fmt.Sprintf("%d %s %d×%d %d×%d %d", r.Depth, r.Shape, r.Before.Count, r.Before.Duration, r.After.Count, r.After.Duration, r.Change))
	}
	want := []string{"0 root 1×100 1×200 100", "1 query * 2×20 1×10 -10", "1 call 1×20 1×50 30", "2 inner 1×4 0×0 -4", "1 new 0×0 1×10 10"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
