package analyze_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

// at is a span of a tree for tests: its parent's number (0: none), start and end.
type at struct{ parent, start, end uint64 }

// forest makes a trace of spans, whose ids are their numbers from 1.
func forest(spans ...at) *traces.Set {
	list := make([]*traces.Span, 0, len(spans))
	for i, a := range spans {
		s := &traces.Span{TraceID: traces.TraceID{1}, StartUnixNano: a.start, EndUnixNano: a.end, Name: strconv.Itoa(i + 1)}
		binary.BigEndian.PutUint64(s.SpanID[:], uint64(i+1))
		binary.BigEndian.PutUint64(s.ParentID[:], a.parent)
		list = append(list, s)
	}
	return traces.NewSet(list)
}

// pathText is a critical path as "1:100-200".
func pathText(n *traces.Node) string {
	var parts []string
	for _, s := range analyze.CriticalPath(n) {
		parts = append(parts, fmt.Sprintf("%s:%d-%d", s.Node.Span().Name, s.From, s.To))
	}
	return strings.Join(parts, " ")
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spans []at
		want  string
	}{
		"alone":                        {[]at{{0, 10, 20}}, "1:10-20"},
		"one child":                    {[]at{{0, 10, 20}, {1, 12, 15}}, "1:10-12 2:12-15 1:15-20"},
		"one after another":            {[]at{{0, 10, 20}, {1, 11, 13}, {1, 14, 18}}, "1:10-11 2:11-13 1:13-14 3:14-18 1:18-20"},
		"side by side":                 {[]at{{0, 10, 20}, {1, 11, 15}, {1, 12, 18}}, "1:10-12 3:12-18 1:18-20"},
		"inside of a sibling":          {[]at{{0, 10, 20}, {1, 11, 18}, {1, 12, 14}}, "1:10-11 2:11-18 1:18-20"},
		"ends after its parent":        {[]at{{0, 10, 20}, {1, 15, 30}}, "1:10-15 2:15-20"},
		"starts before its parent":     {[]at{{0, 10, 20}, {1, 5, 15}}, "2:10-15 1:15-20"},
		"after its parent":             {[]at{{0, 10, 20}, {1, 21, 30}}, "1:10-20"},
		"grandchild beyond its parent": {[]at{{0, 10, 20}, {1, 12, 15}, {2, 14, 19}}, "1:10-12 2:12-14 3:14-15 1:15-20"},
		"end together":                 {[]at{{0, 10, 20}, {1, 11, 18}, {1, 15, 18}, {1, 15, 18}}, "1:10-15 3:15-18 1:18-20"},
		"child without a duration":     {[]at{{0, 10, 20}, {1, 15, 15}}, "1:10-20"},
		"open child":                   {[]at{{0, 10, 20}, {1, 15, 0}}, "1:10-20"},
		"request without a duration":   {[]at{{0, 10, 10}, {1, 5, 15}}, ""},
		"open request":                 {[]at{{0, 10, 0}, {1, 11, 15}}, ""},
		"reversed request":             {[]at{{0, 10, 5}, {1, 6, 8}}, ""},
	} {
		if got := pathText(forest(tt.spans...).Roots()[0]); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestSelfTime(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spans []at
		want  time.Duration
	}{
		"alone":                      {[]at{{0, 10, 20}}, 10},
		"one after another":          {[]at{{0, 10, 20}, {1, 11, 13}, {1, 14, 18}}, 4},
		"side by side":               {[]at{{0, 10, 20}, {1, 11, 15}, {1, 12, 18}}, 3},
		"inside of a sibling":        {[]at{{0, 10, 20}, {1, 11, 18}, {1, 12, 14}}, 3},
		"beyond their parent":        {[]at{{0, 10, 20}, {1, 5, 12}, {1, 19, 30}, {1, 40, 50}}, 7},
		"grandchildren do not count": {[]at{{0, 10, 20}, {1, 11, 12}, {2, 13, 20}}, 9},
		"open":                       {[]at{{0, 10, 0}, {1, 11, 12}}, 0},
		"reversed":                   {[]at{{0, 20, 10}}, 0},
		"no start":                   {[]at{{0, 0, 10}}, 0},
	} {
		if got := analyze.SelfTime(forest(tt.spans...).Roots()[0]); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// slowPath says of each nanosecond of a request what it waited for, by the definition read word for word.
func slowPath(n *traces.Node, lo, hi uint64, owner map[uint64]*traces.Node) {
	t := hi
	for {
		var best *traces.Node
		var from, to uint64
		for _, c := range n.Children() {
			s := c.Span()
			start, end := max(s.StartUnixNano, lo), min(s.EndUnixNano, hi)
			if s.StartUnixNano == 0 || start >= end || end > t {
				continue
			}
			if best == nil || end > to || end == to && (start > from || start == from && c.Index() < best.Index()) {
				best, from, to = c, start, end
			}
		}
		if best == nil {
			break
		}
		for i := to; i < t; i++ {
			owner[i] = n
		}
		slowPath(best, from, to, owner)
		t = from
	}
	for i := lo; i < t; i++ {
		owner[i] = n
	}
}

// slowSelf counts the nanoseconds in which no child is at work.
func slowSelf(n *traces.Node) (count time.Duration) {
	s := n.Span()
	for i := s.StartUnixNano; s.StartUnixNano > 0 && i < s.EndUnixNano; i++ {
		busy := false
		for _, c := range n.Children() {
			busy = busy || c.Span().StartUnixNano > 0 && c.Span().StartUnixNano <= i && i < c.Span().EndUnixNano
		}
		if !busy {
			count++
		}
	}
	return count
}

func wantTimes(t *testing.T, set *traces.Set) {
	t.Helper()
	for n := range set.All() {
		if got, want := analyze.SelfTime(n), slowSelf(n); got != want {
			t.Fatalf("the self time of %s is %d, want %d", n.Span().Name, got, want)
		}
		s := n.Span()
		want := map[uint64]*traces.Node{}
		if s.StartUnixNano > 0 && s.StartUnixNano < s.EndUnixNano {
			slowPath(n, s.StartUnixNano, s.EndUnixNano, want)
		}
		got := map[uint64]*traces.Node{}
		end := s.StartUnixNano
		for _, segment := range analyze.CriticalPath(n) {
			if segment.From != end || segment.From >= segment.To {
				t.Fatalf("a segment from %d to %d after one up to %d", segment.From, segment.To, end)
			}
			end = segment.To
			for i := segment.From; i < segment.To; i++ {
				got[i] = segment.Node
			}
		}
		if len(want) > 0 && end != s.EndUnixNano {
			t.Fatalf("the path ends at %d, want %d", end, s.EndUnixNano)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *traces.Node) bool { return a == b })); diff != "" {
			t.Fatal(diff)
		}
	}
}

// FuzzTimes compares self time and critical path with what counts nanosecond by nanosecond.
func FuzzTimes(f *testing.F) {
	f.Add(uint64(1), byte(5), byte(20))
	f.Add(uint64(2), byte(12), byte(8))
	f.Add(uint64(3), byte(30), byte(60))
	f.Fuzz(func(t *testing.T, seed uint64, spans, length byte) {
		r := rand.New(rand.NewPCG(seed, 0))
		list := make([]at, 1+spans%40)
		for i := range list {
			start := r.Uint64N(uint64(length%64) + 2)
			list[i] = at{r.Uint64N(uint64(i) + 1), start, start + r.Uint64N(uint64(length%64)+2) - r.Uint64N(2)}
		}
		wantTimes(t, forest(list...))
	})
}

// A trace may be very deep, or very wide.
func TestTimesOfLargeTraces(t *testing.T) {
	t.Parallel()
	const size = 100_000
	deep, wide := make([]at, size), make([]at, size)
	for i := range uint64(size) {
		deep[i] = at{i, 1 + i, 3*size - i}
		wide[i] = at{min(i, 1), 1 + 2*i, 2 + 2*i}
	}
	wide[0] = at{0, 1, 3 * size}
	if got := len(analyze.CriticalPath(forest(deep...).Roots()[0])); got != 2*size-1 {
		t.Errorf("%d segments of a deep trace", got)
	}
	root := forest(wide...).Roots()[0]
	if got := len(analyze.CriticalPath(root)); got != 2*size-1 {
		t.Errorf("%d segments of a wide trace", got)
	}
	if got := analyze.SelfTime(root); got != 3*size-1-(size-1) {
		t.Errorf("self time %d", got)
	}
}
