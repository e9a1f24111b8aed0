package traces_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
)

func span(trace, id, parent byte, name string, start, end uint64) *traces.Span {
	return &traces.Span{
		TraceID: traces.TraceID{15: trace}, SpanID: traces.SpanID{7: id}, ParentID: traces.SpanID{7: parent},
		Name: name, StartUnixNano: start, EndUnixNano: end,
	}
}

// of makes a span one of a kind and a service.
func of(s *traces.Span, kind traces.Kind, service string) *traces.Span {
	s.Kind = kind
	s.Resource = &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String(service)}}}
	return s
}

// outline prints a set as indented names with their marks.
func outline(set *traces.Set) []string {
	var lines []string
	for n := range set.All() {
		line := fmt.Sprintf("%x:%*s%s", n.Trace().ID()[15], 2*n.Depth(), "", n.Span().Name)
		if n.Is(traces.Orphan) {
			line += "?"
		}
		if n.Is(traces.Duplicate) {
			line += "="
		}
		if n.Is(traces.Cycle) {
			line += "@"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestNewSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spans []*traces.Span
		want  []string
	}{
		{"empty", nil, nil},
		{"nil spans", []*traces.Span{nil, span(1, 1, 0, "a", 1, 2), nil}, []string{"1:a"}},
		{
			"children before parents, sorted by start",
			[]*traces.Span{span(1, 3, 1, "late", 5, 6), span(1, 2, 1, "early", 2, 3), span(1, 1, 0, "root", 1, 9)},
			[]string{"1:root", "1:  early", "1:  late"},
		},
		{
			"same start keeps the order, unknown start is first",
			[]*traces.Span{span(1, 1, 0, "root", 1, 9), span(1, 3, 1, "b", 2, 3), span(1, 2, 1, "a", 2, 9), span(1, 4, 1, "none", 0, 9)},
			[]string{"1:root", "1:  none", "1:  b", "1:  a"},
		},
		{
			"traces by start, same span IDs in both",
			[]*traces.Span{span(2, 1, 0, "two", 5, 6), span(2, 2, 1, "in two", 5, 6), span(1, 1, 0, "one", 3, 4), span(1, 2, 1, "in one", 3, 4)},
			[]string{"1:one", "1:  in one", "2:two", "2:  in two"},
		},
		{
			"orphans stand among roots",
			[]*traces.Span{span(1, 1, 0, "root", 5, 6), span(1, 2, 77, "orphan", 3, 4), span(1, 3, 2, "child", 3, 4)},
			[]string{"1:orphan?", "1:  child", "1:root"},
		},
		{
			"the first of duplicates has the children",
			[]*traces.Span{span(1, 1, 0, "root", 1, 9), span(1, 1, 0, "root", 1, 9), span(1, 2, 1, "child", 2, 3)},
			[]string{"1:root", "1:  child", "1:root="},
		},
		{
			"a duplicate under its twin's child",
			[]*traces.Span{span(1, 1, 0, "root", 1, 9), span(1, 2, 1, "child", 2, 3), span(1, 1, 2, "twin", 2, 3)},
			[]string{"1:root", "1:  child", "1:    twin="},
		},
		{
			"no ID: never a duplicate, never a parent",
			[]*traces.Span{span(1, 0, 0, "a", 1, 9), span(1, 0, 0, "b", 2, 3)},
			[]string{"1:a", "1:b"},
		},
		{"its own parent", []*traces.Span{span(1, 1, 1, "self", 1, 2), span(1, 2, 1, "child", 1, 2)}, []string{"1:self@", "1:  child"}},
		{
			"its own parent, twice",
			[]*traces.Span{span(1, 1, 1, "self", 1, 2), span(1, 1, 1, "self again", 1, 2)},
			[]string{"1:self@", "1:self again=@"},
		},
		{
			"a cycle with a tail is cut at its earliest span",
			[]*traces.Span{
				span(1, 9, 2, "tail", 0, 1),
				span(1, 1, 3, "c", 7, 8), span(1, 2, 1, "a", 4, 8), span(1, 3, 2, "b", 6, 8),
			},
			[]string{"1:a@", "1:  tail", "1:  b", "1:    c"},
		},
		{
			"two cycles",
			[]*traces.Span{span(1, 1, 2, "a", 1, 2), span(1, 2, 1, "b", 2, 3), span(1, 3, 4, "c", 1, 2), span(1, 4, 3, "d", 2, 3)},
			[]string{"1:a@", "1:  b", "1:c@", "1:  d"},
		},
		{
			"a cycle through the halves of a call",
			[]*traces.Span{
				of(span(1, 1, 2, "client", 1, 9), traces.KindClient, "web"), of(span(1, 1, 2, "server", 2, 8), traces.KindServer, "api"),
				of(span(1, 2, 1, "child", 3, 4), traces.KindInternal, "api"),
			},
			[]string{"1:client@", "1:  server", "1:    child"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, outline(traces.NewSet(c.spans))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestHalvesOfACall reads what Zipkin writes: a server span with the ID of its
// client's. Whatever the order of the file, each child is under the half of its own
// service.
func TestHalvesOfACall(t *testing.T) {
	t.Parallel()
	spans := []*traces.Span{
		of(span(1, 9, 0, "root", 1, 99), traces.KindServer, "web"),
		of(span(1, 1, 9, "client", 10, 60), traces.KindClient, "web"),
		of(span(1, 1, 9, "server", 20, 50), traces.KindServer, "api"),
		of(span(1, 2, 1, "connect", 11, 12), traces.KindInternal, "web"),
		of(span(1, 3, 1, "query", 21, 22), traces.KindInternal, "api"),
		of(span(1, 4, 1, "other service", 30, 31), traces.KindServer, "db"),
		of(span(1, 5, 1, "no service", 40, 41), traces.KindInternal, ""),
	}
	want := []string{
		"1:root", "1:  client", "1:    connect", "1:    server", "1:      query", "1:      other service", "1:      no service",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		if diff := cmp.Diff(want, outline(traces.NewSet(spans))); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
	for _, c := range []struct {
		name  string
		spans []*traces.Span
		want  []string
	}{
		{
			"one service calls itself",
			[]*traces.Span{
				of(span(1, 1, 0, "server", 2, 8), traces.KindServer, "web"), of(span(1, 2, 1, "child", 3, 4), traces.KindInternal, "web"),
				of(span(1, 1, 0, "client", 1, 9), traces.KindClient, "web"),
			},
			[]string{"1:client", "1:  server", "1:    child"},
		},
		{
			"each half twice",
			[]*traces.Span{
				of(span(1, 1, 0, "client", 1, 9), traces.KindClient, "web"), of(span(1, 1, 0, "client again", 1, 9), traces.KindClient, "web"),
				of(span(1, 1, 0, "server", 2, 8), traces.KindServer, "api"), of(span(1, 1, 0, "server again", 2, 8), traces.KindServer, "api"),
			},
			[]string{"1:client", "1:  server", "1:client again=", "1:server again="},
		},
		{
			"other kinds are no halves",
			[]*traces.Span{
				of(span(1, 1, 0, "a", 1, 9), traces.KindClient, "web"), of(span(1, 1, 0, "b", 2, 8), traces.KindInternal, "api"),
				of(span(1, 2, 0, "c", 3, 9), traces.KindServer, "web"), of(span(1, 2, 0, "d", 4, 8), traces.KindConsumer, "api"),
			},
			[]string{"1:a", "1:b=", "1:c", "1:d="},
		},
		{
			"the caller's parent is elsewhere",
			[]*traces.Span{
				of(span(1, 1, 7, "server", 2, 8), traces.KindServer, "api"), of(span(1, 1, 7, "client", 1, 9), traces.KindClient, "web"),
			},
			[]string{"1:client?", "1:  server"},
		},
		{
			"the same ID in another trace",
			[]*traces.Span{
				of(span(1, 1, 0, "client", 1, 9), traces.KindClient, "web"), of(span(2, 1, 0, "server", 2, 8), traces.KindServer, "api"),
			},
			[]string{"1:client", "2:server"},
		},
	} {
		if diff := cmp.Diff(c.want, outline(traces.NewSet(c.spans))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// Whatever the ids say, each span is in one place, and the rules of a tree hold.
func TestNewSetLosesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := r.IntN(60)
		spans := make([]*traces.Span, n)
		for i := range spans {
			ids := byte(1 + r.IntN(40))
			spans[i] = span(byte(r.IntN(3)), byte(r.IntN(int(ids))), byte(r.IntN(int(ids))), "s", uint64(r.IntN(9)), uint64(r.IntN(9)))
			of(spans[i], traces.Kind(r.IntN(4)), []string{"", "a", "b"}[r.IntN(3)])
		}
		checkTree(t, spans)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkTree(t *testing.T, spans []*traces.Span) {
	t.Helper()
	set := traces.NewSet(spans)
	seen := map[*traces.Span]int{}
	for n := range set.All() {
		seen[n.Span()]++
		if spans[n.Index()] != n.Span() {
			t.Errorf("Index() = %d is another span", n.Index())
		}
		if p := n.Parent(); p != nil {
			half := p.Span().SpanID == n.Span().SpanID && p.Span().Kind == traces.KindClient && n.Span().Kind == traces.KindServer
			if p.Span().SpanID != n.Span().ParentID && !half || p.Trace() != n.Trace() || n.Depth() != p.Depth()+1 {
				t.Errorf("span %d hangs under the wrong parent", n.Index())
			}
			if !slices.Contains(p.Children(), n) {
				t.Errorf("span %d is not a child of its parent", n.Index())
			}
		} else if n.Depth() != 0 || !slices.Contains(n.Trace().Roots(), n) || !slices.Contains(set.Roots(), n) {
			t.Errorf("span %d without parent is no root", n.Index())
		}
	}
	if len(seen) != len(spans) || set.Len() != len(spans) {
		t.Errorf("%d of %d spans in the trees", len(seen), len(spans))
	}
	for _, count := range seen {
		if count != 1 {
			t.Errorf("a span is there %d times", count)
		}
	}
	if !slices.Equal(outline(set), outline(traces.NewSet(spans))) {
		t.Error("the same spans gave two sets")
	}
}

func FuzzNewSet(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 2, 1, 2, 1, 3, 4})
	f.Add([]byte{1, 1, 2, 1, 2, 1, 2, 1, 3, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		var spans []*traces.Span
		for ; len(b) >= 5; b = b[5:] {
			spans = append(spans, of(span(b[0]%4, b[1], b[2], "s", uint64(b[3]), uint64(b[4])), traces.Kind(b[0]>>2%4), string('a'+b[0]>>4%2)))
		}
		checkTree(t, spans)
	})
}

func TestSetLookups(t *testing.T) {
	t.Parallel()
	open := span(2, 9, 0, "open", 20, 0)
	set := traces.NewSet([]*traces.Span{
		span(1, 1, 0, "root", 10, 15), span(1, 2, 1, "child", 11, 17), span(1, 3, 2, "grandchild", 0, 16), open,
	})
	one, two := traces.TraceID{15: 1}, traces.TraceID{15: 2}
	if got := set.Trace(one); got == nil || got.ID() != one || got.Len() != 3 {
		t.Errorf("Trace(1) = %v", got)
	}
	if set.Trace(traces.TraceID{15: 3}) != nil {
		t.Error("a trace that is not there")
	}
	n := set.Find(one, traces.SpanID{7: 3})
	if n == nil || n.Span().Name != "grandchild" {
		t.Fatalf("Find = %v", n)
	}
	var up []string
	for a := range n.Ancestors() {
		up = append(up, a.Span().Name)
	}
	if !slices.Equal(up, []string{"child", "root"}) {
		t.Errorf("Ancestors: %q", up)
	}
	for range n.Ancestors() { // may be left early
		break
	}
	if set.Find(two, traces.SpanID{7: 3}) != nil {
		t.Error("found in the wrong trace")
	}
	if start, end, ok := set.Trace(one).Bounds(); start != 10 || end != 17 || !ok {
		t.Errorf("Bounds of trace 1 = %d, %d, %v", start, end, ok)
	}
	if start, end, ok := set.Bounds(); start != 10 || end != 20 || !ok {
		t.Errorf("Bounds = %d, %d, %v", start, end, ok)
	}
	if _, _, ok := traces.NewSet([]*traces.Span{{}}).Bounds(); ok {
		t.Error("bounds without a time")
	}
}

// A million spans, in a chain and in a flat row, in bounded memory.
func TestNewSetMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds sets of a million spans")
	}
	const n = 1_000_000
	spans := make([]traces.Span, n)
	list := make([]*traces.Span, n)
	for i := range spans {
		at := uint32(i + 1)
		spans[i].SpanID = traces.SpanID{4: byte(at >> 24), 5: byte(at >> 16), 6: byte(at >> 8), 7: byte(at)}
		spans[i].StartUnixNano = uint64(n - i)
		if i > 0 {
			spans[i].ParentID = spans[i-1].SpanID
		}
		list[i] = &spans[i]
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	set := traces.NewSet(list)
	runtime.ReadMemStats(&after)
	deepest := 0
	for node := range set.All() {
		deepest = max(deepest, node.Depth())
	}
	if deepest != n-1 {
		t.Errorf("deepest = %d", deepest)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 400<<20 {
		t.Errorf("%d MiB for a million spans", got>>20)
	}
	t.Logf("%v, %d MiB", time.Since(begin), (after.TotalAlloc-before.TotalAlloc)>>20)
}
