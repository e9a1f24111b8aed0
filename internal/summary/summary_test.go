package summary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/summary"
	"github.com/waymark-trace/waymark/internal/textwidth"
	"github.com/waymark-trace/waymark/traces"
)

func resource(service string) *traces.Resource {
	return &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String(service)}}}
}

func sum(spans ...*traces.Span) summary.Summary {
	b := summary.New()
	for _, s := range spans {
		b.Add(s, true)
	}
	return b.Sum()
}

func TestTotals(t *testing.T) {
	t.Parallel()
	s := sum(
		&traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{1}, StartUnixNano: 1000, EndUnixNano: 9000, Status: traces.Status{Code: traces.StatusError}},
		&traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, ParentID: traces.SpanID{1}, StartUnixNano: 500, Status: traces.Status{Code: traces.StatusOK}},
		&traces.Span{TraceID: traces.TraceID{2}, SpanID: traces.SpanID{1}, StartUnixNano: 7000, EndUnixNano: 6000},
		&traces.Span{TraceID: traces.TraceID{3}},
	)
	want := summary.Total{Spans: 4, Traces: 3, Roots: 3, Open: 2, Reversed: 1, Unset: 2, OK: 1, Failed: 1, Start: 500, End: 9000}
	if diff := cmp.Diff(want, s.Total); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := s.Total.Duration(); got != 8500 {
		t.Errorf("duration %v: want the latest end minus the earliest start", got)
	}
	var text strings.Builder
	if err := s.WriteText(&text, 0); err != nil {
		t.Fatal(err)
	}
	if want := "1 span that ends before it starts, in no duration below\n"; !strings.Contains(text.String(), want) {
		t.Errorf("the text is\n%s\nwithout %q", &text, want)
	}
}

// TestDepthsAgreeWithTheTree compares with package traces, over random forests
// with orphans, duplicates and circles, in random order.
func TestDepthsAgreeWithTheTree(t *testing.T) {
	t.Parallel()
	circles, halves := 0, 0
	for seed := range uint64(100) {
		spans := forest(rand.New(rand.NewPCG(seed, 1)))
		depths := summary.NewDepths()
		for _, s := range spans {
			depths.Add(s)
		}
		tree := depths.Tree(func(i int) uint64 { return spans[i].StartUnixNano })
		var want []uint64
		set, circle := traces.NewSet(spans), false
		for n := range set.All() {
			if depth, marks := tree.At(n.Index()); depth != n.Depth() || !isMarked(n, marks) {
				t.Errorf("seed %d, span %d: depth %d, marks %b; in the tree %d", seed, n.Index(), depth, marks, n.Depth())
			}
			circle = circle || n.Is(traces.Cycle)
			if p := n.Parent(); p != nil && p.Span().SpanID == n.Span().SpanID {
				halves++
			}
			for len(want) <= n.Depth() {
				want = append(want, 0)
			}
			want[n.Depth()]++
		}
		if circle {
			circles++
			continue // the sum cuts it in another place
		}
		if got := sum(spans...).Depths; !slices.Equal(got, want) {
			t.Errorf("seed %d: depths %v, want %v", seed, got, want)
		}
	}
	if circles < 10 || circles > 90 {
		t.Errorf("%d of 100 forests have a circle: the test shows little", circles)
	}
	if halves < 50 {
		t.Errorf("%d calls with halves of one ID: the test shows little", halves)
	}
}

func isMarked(n *traces.Node, marks traces.Mark) bool {
	for _, m := range []traces.Mark{traces.Orphan, traces.Duplicate, traces.Cycle} {
		if n.Is(m) != (marks&m != 0) {
			return false
		}
	}
	return true
}

func forest(r *rand.Rand) []*traces.Span {
	var spans []*traces.Span
	services := []*traces.Resource{nil}
	for _, name := range []string{"web", "pay"} {
		services = append(services, &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String(name)}}})
	}
	for i := range 200 {
		s := &traces.Span{TraceID: traces.TraceID{byte(r.IntN(3))}, SpanID: traces.SpanID{1, byte(i)}, StartUnixNano: 1 + r.Uint64N(50), EndUnixNano: 1000}
		switch p := r.IntN(i + 20); {
		case p < i:
			s.ParentID = traces.SpanID{1, byte(p)} // in another trace as often as not: an orphan
		case p == i && r.IntN(4) == 0:
			s.ParentID = s.SpanID
		}
		s.Kind, s.Resource = []traces.Kind{traces.KindInternal, traces.KindServer, traces.KindClient}[r.IntN(3)], services[r.IntN(3)]
		switch r.IntN(20) {
		case 0:
			s.SpanID = traces.SpanID{1, byte(max(i-1, 0))}
		case 2, 3:
			s.SpanID = traces.SpanID{1, byte(i &^ 7)} // of several
		case 1:
			s.SpanID = traces.SpanID{}
		}
		spans = append(spans, s)
	}
	if r.IntN(3) == 0 { // a circle of three, and a tail that leads into it
		for i, p := range []byte{11, 12, 10, 10, 13} {
			spans[10+i].TraceID, spans[10+i].SpanID = traces.TraceID{1}, traces.SpanID{1, byte(10 + i)}
			spans[10+i].ParentID = traces.SpanID{1, p}
		}
	}
	r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
	return spans
}

func TestDepthsOfBadTrees(t *testing.T) {
	t.Parallel()
	span := func(id, parent byte) *traces.Span {
		return &traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{7: id}, ParentID: traces.SpanID{7: parent}}
	}
	for _, c := range []struct {
		name  string
		spans []*traces.Span
		want  []uint64
	}{
		{"orphan is a root", []*traces.Span{span(1, 9), span(2, 1)}, []uint64{1, 1}},
		{"its own parent", []*traces.Span{span(1, 1)}, []uint64{1}},
		{"circle", []*traces.Span{span(1, 2), span(2, 1)}, []uint64{1, 1}},
		{"without ids", []*traces.Span{span(0, 0), span(0, 0)}, []uint64{2}},
	} {
		s := sum(c.spans...)
		if !slices.Equal(s.Depths, c.want) {
			t.Errorf("%s: %v, want %v", c.name, s.Depths, c.want)
		}
	}
	// A chain deeper than a stack would bear counts at the last depth.
	b := summary.New()
	const n = 200_000
	for i := range uint64(n) {
		s := &traces.Span{TraceID: traces.TraceID{1}}
		for k := range 8 {
			s.SpanID[k], s.ParentID[k] = byte((i+1)>>(8*k)), byte(i>>(8*k))
		}
		b.Add(s, true)
	}
	got := b.Sum().Depths
	if len(got) != summary.MaxDepth+1 || got[0] != 1 || got[summary.MaxDepth] != n-summary.MaxDepth {
		t.Errorf("a chain of %d: %v", n, got)
	}
}

func TestOnlyCountedSpans(t *testing.T) {
	t.Parallel()
	b := summary.New()
	b.Add(&traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, ParentID: traces.SpanID{1}, StartUnixNano: 1, EndUnixNano: 2}, true)
	b.Add(&traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{1}, StartUnixNano: 1, EndUnixNano: 900}, false)
	s := b.Sum()
	if s.Total.Spans != 1 || s.Total.End != 2 || !slices.Equal(s.Depths, []uint64{0, 1}) {
		t.Errorf("%+v: want one span, at depth 1", s)
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	var spans []*traces.Span
	for i := range uint64(1000) {
		spans = append(spans, &traces.Span{StartUnixNano: 1, EndUnixNano: 1 + (i+1)*uint64(time.Millisecond), Resource: resource("shop")})
	}
	spans = append(spans, &traces.Span{StartUnixNano: 5, Resource: resource("shop")}) // open
	d := sum(spans...).Services[0]
	if d.Count != 1000 || d.Min != time.Millisecond || d.Max != time.Second || d.Mean() != 500500*time.Microsecond {
		t.Errorf("count %d, min %v, max %v, mean %v", d.Count, d.Min, d.Max, d.Mean())
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.9: 900 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if got := d.Quantile(q); got > want || got < want-want/64-1 {
			t.Errorf("p%v = %v, want %v or up to a sixty-fourth less", 100*q, got, want)
		}
	}
	want := []summary.Bucket{
		{time.Millisecond, 1},
		{2 * time.Millisecond, 3},
		{5 * time.Millisecond, 5},
		{10 * time.Millisecond, 10},
		{20 * time.Millisecond, 30},
		{50 * time.Millisecond, 50},
		{100 * time.Millisecond, 100},
		{200 * time.Millisecond, 300},
		{500 * time.Millisecond, 500},
		{time.Second, 1},
	}
	if diff := cmp.Diff(want, d.Histogram()); diff != "" {
		t.Errorf("histogram -want +got\n%s", diff)
	}
}

// TestQuantileIsTheNearestRank takes durations so short that each has a bucket
// of its own: the quantile is the one at rank ⌈q·n⌉, never the one below it.
func TestQuantileIsTheNearestRank(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 60; n++ {
		var spans []*traces.Span
		for i := range uint64(n) {
			spans = append(spans, &traces.Span{StartUnixNano: 1, EndUnixNano: 1 + (i + 1)})
		}
		d := sum(spans...).Services[0]
		for _, percent := range []int{1, 25, 50, 90, 99, 100} {
			want := time.Duration((n*percent + 99) / 100)
			if got := d.Quantile(float64(percent) / 100); got != want {
				t.Errorf("p%d of %d spans of 1 ns, 2 ns … = %d, want %d", percent, n, got, want)
			}
		}
	}
}

func TestExtremeTimes(t *testing.T) {
	t.Parallel()
	s := sum(
		&traces.Span{StartUnixNano: 1, EndUnixNano: math.MaxUint64, Name: "all"},
		&traces.Span{StartUnixNano: math.MaxUint64, EndUnixNano: math.MaxUint64, Name: "last"},
		&traces.Span{StartUnixNano: math.MaxUint64, EndUnixNano: 1, Name: "back"},
		&traces.Span{EndUnixNano: 77, Name: "no start"},
	)
	if s.Services[0].Max != math.MaxInt64 || s.Timeline.Columns == 0 || s.Timeline.Columns > summary.Columns {
		t.Errorf("%+v", s)
	}
	if err := s.WriteText(&bytes.Buffer{}, 0); err != nil {
		t.Error(err)
	}
}

// TestBusyDoesNotWrap adds up more time at work than fits into a number.
func TestBusyDoesNotWrap(t *testing.T) {
	t.Parallel()
	b := summary.New()
	last := uint64(0)
	for range 300 {
		b.Add(&traces.Span{Name: "x", StartUnixNano: 1, EndUnixNano: math.MaxUint64}, true)
		s := b.Sum()
		if now := s.Names[0].Busy[10]; now < last {
			t.Fatalf("at work for %d after %d", now, last)
		} else {
			last = now
		}
	}
}

// TestTimeline compares the columns with those of a second pass, for spans that
// arrive in any order, so that columns are widened and moved.
func TestTimeline(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		var spans []*traces.Span
		for range 40 {
			start := 1 + r.Uint64N(1<<r.UintN(40))
			spans = append(spans, &traces.Span{Name: "x", StartUnixNano: start, EndUnixNano: start + 1 + r.Uint64N(1<<r.UintN(40))})
		}
		s := sum(spans...)
		want := make([]uint64, s.Timeline.Columns)
		for _, span := range spans {
			for i := range want {
				lo := max(span.StartUnixNano, s.Timeline.Start+uint64(i)*s.Timeline.Width)
				hi := min(span.EndUnixNano, s.Timeline.Start+uint64(i+1)*s.Timeline.Width)
				if hi > lo {
					want[i] += hi - lo
				}
			}
		}
		got := s.Names[0].Busy
		if len(got) != len(want) || s.Timeline.Columns > summary.Columns || s.Timeline.Columns < summary.Columns/2-1 {
			t.Fatalf("seed %d: %d columns, timeline %+v", seed, len(got), s.Timeline)
		}
		for i := range got {
			// Where an end falls on a column's edge, the column gets a nanosecond.
			if diff := int64(got[i] - want[i]); diff < 0 || diff > int64(len(spans))*s2(s.Timeline.Width) {
				t.Errorf("seed %d, column %d: busy for %d, want %d", seed, i, got[i], want[i])
			}
		}
	}
}

// s2 is how often a column of this width was put together of two.
func s2(width uint64) int64 { return int64(math.Log2(float64(width))) + 1 }

func TestBounds(t *testing.T) {
	t.Parallel()
	b := summary.New()
	for i := range 7000 {
		name := fmt.Sprint("name ", i)
		b.Add(&traces.Span{Name: name, Resource: resource(name), StartUnixNano: 1, EndUnixNano: 2}, true)
	}
	s := b.Sum()
	if len(s.Names) != 5001 || s.Names[0].Name != summary.Other || s.Names[0].Spans != 2000 {
		t.Errorf("%d names, the first is %q with %d", len(s.Names), s.Names[0].Name, s.Names[0].Spans)
	}
	if len(s.Services) != 501 || s.Services[0].Spans != 6500 {
		t.Errorf("%d services, the first with %d", len(s.Services), s.Services[0].Spans)
	}
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\x07\u202e\n" + strings.Repeat("x", 1000)
	s := sum(&traces.Span{Name: evil, Resource: resource(evil), StartUnixNano: 1, EndUnixNano: 2})
	var b bytes.Buffer
	if err := s.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\x07\u202e") || len(line) > 400 {
			t.Errorf("line %q", line)
		}
	}
	out, err := json.Marshal(s)
	if err != nil || !json.Valid(out) {
		t.Errorf("%s, %v", out, err)
	}
}

// wideNames are names that take more columns than characters, or fewer.
func wideNames() summary.Summary {
	long := strings.Repeat("GET /an/endless/path", 5)
	span := func(name, service string, start, end uint64) *traces.Span {
		return &traces.Span{Name: name, Resource: resource(service), StartUnixNano: start, EndUnixNano: end}
	}
	const ms = uint64(time.Millisecond)
	return sum(
		span("日本語の長い名前です、とても長い", "店", ms, 400*ms), span(long, long, ms, 9*ms),
		span("👩\u200d👩\u200d👧", "e\u0301", 2*ms, 3*ms), span("GET", "shop", 5*ms, 6*ms), &traces.Span{Name: "open", StartUnixNano: 9},
	)
}

func TestTextFits(t *testing.T) {
	t.Parallel()
	s := wideNames()
	for _, columns := range []int{40, 60, 80, 120} {
		var b strings.Builder
		if err := s.WriteText(&b, columns); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := textwidth.Of(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns where %d are wanted: %s", n, columns, line)
			}
		}
		if !strings.Contains(b.String(), "█████") || strings.Count(b.String(), "│") != 10 || strings.Contains(b.String(), "│…") || strings.Contains(b.String(), "█…") {
			t.Errorf("no bars, or timelines that are cut, at %d columns:\n%s", columns, &b)
		}
		// What is wrapped is not lost.
		if words := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(words, "its height is the time that spans of the name were at work") {
			t.Errorf("the words of the timeline are cut at %d columns:\n%s", columns, &b)
		}
	}
	var b strings.Builder
	if err := s.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "0001-01-01") {
		t.Errorf("a time before the first second of 1970 is the year 1:\n%s", &b)
	}
	if !strings.Contains(b.String(), "total duration 400.00 ms, from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:00.400Z\n") {
		t.Errorf("lines are wrapped that have no limit:\n%s", &b)
	}
}

// TestTextKeepsColumns holds numbers and pictures to one column each, whatever
// the names before them are made of.
func TestTextKeepsColumns(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := wideNames()
	if err := s.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	_, timeline, _ := strings.Cut(b.String(), "timeline by name")
	want, rows := 0, 0
	for line := range strings.Lines(timeline) {
		before, _, found := strings.Cut(line, "│")
		if !found {
			continue
		}
		if rows++; want == 0 {
			want = textwidth.Of(before)
		}
		if got := textwidth.Of(before); got != want {
			t.Errorf("the picture begins at column %d, not %d: %s", got, want, line)
		}
	}
	if rows != 5 {
		t.Errorf("%d rows in\n%s\nwant 5", rows, timeline)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	s := sum()
	var b bytes.Buffer
	if err := s.WriteText(&b, 0); err != nil || b.String() != "0 spans in 0 traces of 0 services, 0 errors\n" {
		t.Errorf("%q, %v", &b, err)
	}
}
