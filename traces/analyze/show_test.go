package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func TestShow(t *testing.T) {
	t.Parallel()
	set := forest(at{0, 100, 200}, at{1, 110, 120}, at{1, 120, 130}, at{1, 130, 140}, at{1, 150, 210}, at{5, 160, 0})
	names := []string{"root", "query 1", "query 2", "query 3", "call", "inside"}
	for n := range set.All() {
		n.Span().Name = names[n.Index()]
	}
	got := analyze.NewShow(set.Traces()[0])
	var lines []string
	for i := range got.Spans {
		s := &got.Spans[i]
		lines = append(lines, fmt.Sprintf("%d %s %d self=%d critical=%d x%d %s", s.Depth, s.Shape, s.Duration, s.Self, s.Critical, s.Repeats, strings.Join(s.Marks, ",")))
	}
	want := []string{
		"0 root 100 self=20 critical=20 x1 ",
		"1 query * 10 self=10 critical=10 x3 ", "1 query * 10 self=10 critical=10 x0 ", "1 query * 10 self=10 critical=10 x0 ",
		"1 call 60 self=60 critical=50 x1 outside", "2 inside 0 self=0 critical=0 x1 open",
	}
	if diff := gocmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	parts := map[string]float64{}
	for _, p := range got.Shapes {
		parts[p.Shape] = p.Share
	}
	if diff := gocmp.Diff(map[string]float64{"root": 0.2, "query *": 0.3, "call": 0.5, "inside": 0}, parts); diff != "" {
		t.Error(diff)
	}
	if len(got.Services) != 1 || got.Services[0].Spans != 6 || got.Services[0].Critical != 100 || got.Duration != 100 {
		t.Errorf("services %+v, duration %d", got.Services, got.Duration)
	}
}

// How far a clock is ahead is known to the half of what the call takes longer than what it calls.
func TestShowTellsSkew(t *testing.T) {
	t.Parallel()
	spans, truth := planted.Spans(planted.Options{Seed: 1, Requests: 20})
	found := 0
	for _, trace := range traces.NewSet(spans).Traces() {
		s := analyze.NewShow(trace)
		for _, skew := range s.Skews {
			found++
			ahead, want := skew.Ahead, int64(truth["skew"].Median())
			if skew.Service != "stock" || skew.Than != "pay" || max(ahead-want, want-ahead) > 1_000_000 || s.Route.Name != truth["skew"].Route {
				t.Errorf("%s: %+v", s.Route.Name, skew)
			}
		}
	}
	if found != truth["skew"].Requests {
		t.Errorf("%d traces with skew, want %d", found, truth["skew"].Requests)
	}
}

// Calls in a row are one line only when all of them failed, or none.
func TestFailedCallsAreNotFolded(t *testing.T) {
	t.Parallel()
	set := forest(at{0, 100, 200}, at{1, 110, 120}, at{1, 120, 130}, at{1, 130, 140}, at{1, 140, 150})
	for n := range set.All() {
		if n.Span().Name = "query"; n.Index() == 2 {
			failing(n.Span(), "")
		}
	}
	s := analyze.NewShow(set.Traces()[0])
	var repeats []int
	for i := range s.Spans {
		repeats = append(repeats, s.Spans[i].Repeats)
	}
	if diff := gocmp.Diff([]int{1, 1, 1, 2, 0}, repeats); diff != "" {
		t.Error(diff)
	}
}
