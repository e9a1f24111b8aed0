package analyze_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

// wild makes spans of which nothing can be relied on: few ids, so that there are duplicates, halves of calls, circles and
// orphans, times that cannot be, several services.
func wild(seed uint64, n int) []*traces.Span {
	r := rand.New(rand.NewPCG(seed, 1))
	resources := make([]*traces.Resource, 3)
	for i := range resources {
		resources[i] = &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String(fmt.Sprint("s", i))}}}
	}
	scope := &traces.Scope{Name: "scope"}
	list := make([]*traces.Span, n)
	for i := range list {
		s := &traces.Span{
			Name: fmt.Sprint("op ", r.IntN(4)), Kind: traces.Kind(r.Int32N(6)), Resource: resources[r.IntN(3)], Scope: scope,
			TraceID: traces.TraceID{byte(1 + r.IntN(3))}, SpanID: traces.SpanID{byte(r.IntN(n + 1))}, ParentID: traces.SpanID{byte(r.IntN(n + 1))},
			StartUnixNano: r.Uint64N(1000), EndUnixNano: r.Uint64N(2000), Status: traces.Status{Code: traces.StatusCode(r.Int32N(3))},
		}
		if r.IntN(2) == 0 {
			s.Attributes = append(s.Attributes,
				traces.Attribute{Key: "http.request.method", Value: traces.String([]string{"GET", "POST"}[r.IntN(2)])},
				traces.Attribute{Key: "http.route", Value: traces.String(fmt.Sprint("/", r.IntN(3)))},
				traces.Attribute{Key: "http.response.status_code", Value: traces.Int(int64(100 * (1 + r.IntN(5))))})
		}
		list[i] = s
	}
	return list
}

// slowTable is the table of a set of spans, made as its documentation says.
func slowTable(spans []*traces.Span) []analyze.Row {
	rows := map[analyze.Route]*analyze.Row{}
	durations := map[analyze.Route][]int64{}
	var first, last uint64
	total := 0.0
	for n := range traces.NewSet(spans).All() {
		if !analyze.IsRequest(n) {
			continue
		}
		s := n.Span()
		route := analyze.RouteOf(s)
		row := rows[route]
		if row == nil {
			row = &analyze.Row{Service: route.Service, Route: route.Name}
			rows[route] = row
		}
		row.Count++
		if analyze.Failed(s) {
			row.Failed++
		}
		if s.StartUnixNano > 0 {
			if first == 0 || s.StartUnixNano < first {
				first = s.StartUnixNano
			}
			last = max(last, s.StartUnixNano, s.EndUnixNano)
			if s.EndUnixNano >= s.StartUnixNano {
				durations[route] = append(durations[route], int64(s.EndUnixNano-s.StartUnixNano))
				row.Sum += int64(s.EndUnixNano - s.StartUnixNano)
			}
		}
	}
	var list []analyze.Row
	for route, row := range rows {
		d := durations[route]
		slices.Sort(d)
		pick := func(percent int) int64 {
			if len(d) == 0 {
				return 0
			}
			if len(d) < analyze.Few && percent > 50 {
				percent = 100
			}
			return d[(percent*len(d)+99)/100-1]
		}
		row.P50, row.P90, row.P99, row.Max = pick(50), pick(90), pick(99), pick(100)
		row.Rate = float64(row.Count) / max(float64(last-first)/1e9, 1)
		total += float64(row.Sum)
		list = append(list, *row)
	}
	for i := range list {
		if total > 0 {
			list[i].Share = float64(list[i].Sum) / total
		}
	}
	return list
}

func sortRows(rows []analyze.Row) {
	slices.SortFunc(rows, func(a, b analyze.Row) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Route, b.Route))
	})
}

// FuzzIndex compares the table of an index with one that is made of a set of all spans.
func FuzzIndex(f *testing.F) {
	f.Add(uint64(1), byte(10))
	f.Add(uint64(2), byte(60))
	f.Add(uint64(3), byte(200))
	f.Fuzz(func(t *testing.T, seed uint64, n byte) {
		spans := wild(seed, int(n)+1)
		ix := analyze.NewIndex(analyze.IndexOptions{})
		for i, s := range spans {
			ix.Add(s, analyze.Place(i))
			if i == len(spans)/2 {
				ix.Table(analyze.ByRoute, analyze.Window{}) // what was asked before changes nothing
			}
		}
		got := ix.Table(analyze.ByRoute, analyze.Window{}).Rows
		byID := map[analyze.Ref][]*traces.Span{}
		for _, s := range spans {
			ref := analyze.Ref{TraceID: s.TraceID, SpanID: s.SpanID}
			byID[ref] = append(byID[ref], s)
		}
		for i := range got {
			wantExemplars(t, &got[i], byID)
			got[i].Exemplars = analyze.Exemplars{}
		}
		wantSelves(t, ix, spans)
		want := slowTable(spans)
		sortRows(got)
		sortRows(want)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// wantSelves compares the self times by name with those of a set.
func wantSelves(t *testing.T, ix *analyze.Index, spans []*traces.Span) {
	t.Helper()
	want := map[string]int64{}
	for n := range traces.NewSet(spans).All() {
		want[n.Span().Service()+n.Span().Name] += int64(analyze.SelfTime(n))
	}
	got := map[string]int64{}
	for _, r := range ix.Table(analyze.ByName, analyze.Window{}).Rows {
		got[r.Service+r.Key] = r.Self
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("self times: %s", diff)
	}
}

// wantExemplars checks that each exemplar has the duration that it stands for.
func wantExemplars(t *testing.T, r *analyze.Row, byID map[analyze.Ref][]*traces.Span) {
	t.Helper()
	e := &r.Exemplars
	for want, ref := range map[int64]*analyze.Ref{r.P50: e.P50, r.P90: e.P90, r.P99: e.P99, r.Max: e.Max} {
		if ref == nil {
			continue
		}
		if !slices.ContainsFunc(byID[*ref], func(s *traces.Span) bool { return int64(s.Duration()) == want }) {
			t.Errorf("%s: the exemplar of %d is %v", r.Route, want, byID[*ref])
		}
	}
	if (e.Failed != nil) != (r.Failed > 0) || e.Failed != nil && !slices.ContainsFunc(byID[*e.Failed], analyze.Failed) {
		t.Errorf("%s: %d failed, the exemplar is %v", r.Route, r.Failed, e.Failed)
	}
}

func request(route string, start, length uint64, kvs ...string) *traces.Span {
	s := span("GET "+route, append([]string{"http.request.method", "GET", "http.route", route}, kvs...)...)
	s.Kind, s.StartUnixNano, s.EndUnixNano = traces.KindServer, start, start+length
	s.TraceID, s.SpanID = traces.TraceID{byte(start)}, traces.SpanID{byte(start >> 8), byte(start)}
	return s
}

func indexOf(o analyze.IndexOptions, spans ...*traces.Span) *analyze.Index {
	ix := analyze.NewIndex(o)
	for _, s := range spans {
		ix.Add(s, 0)
	}
	return ix
}

func TestTableBy(t *testing.T) {
	t.Parallel()
	query := span("query", "db.query.text", "SELECT 1")
	query.Kind, query.TraceID, query.SpanID, query.ParentID = traces.KindClient, traces.TraceID{1}, traces.SpanID{9}, traces.SpanID{0, 1}
	query.StartUnixNano, query.EndUnixNano = 2, 5
	spans := []*traces.Span{
		request("/a", 1, 10, "tier", "pro"), request("/a", 2, 20), request("/b", 3, 70, "tier", "pro"), query,
	}
	for by, want := range map[analyze.By][]string{
		analyze.ByRoute:   {"GET /b 1 70", "GET /a 2 30"},
		analyze.ByService: {" 3 100"},
		analyze.ByName:    {"GET /b 1 70", "GET /a 2 30", "query 1 3"},
		analyze.ByShape:   {"GET /b 1 70", "GET /a 2 30", "SELECT ? 1 3"},
		analyze.ByKey:     {"pro 2 80", " 1 20"},
	} {
		var got []string
		for _, r := range indexOf(analyze.IndexOptions{Key: "tier"}, spans...).Table(by, analyze.Window{}).Rows {
			got = append(got, fmt.Sprintf("%s%s %d %d", r.Route, r.Key, r.Count, r.Sum))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("by %s: %s", by, diff)
		}
	}
}

// A window takes what starts in it, and a match what it says.
func TestTableOfAPart(t *testing.T) {
	t.Parallel()
	spans := []*traces.Span{request("/a", 10, 1), request("/a", 20, 2), request("/b", 20, 3), request("/a", 30, 4)}
	ix := indexOf(analyze.IndexOptions{Match: func(s *traces.Span) bool { return s.Name != "GET /b" }}, spans...)
	for w, want := range map[analyze.Window]int{{}: 3, {From: 20}: 2, {To: 20}: 1, {From: 20, To: 30}: 1, {From: 31}: 0} {
		got := 0
		for _, r := range ix.Table(analyze.ByRoute, w).Rows {
			got += r.Count
		}
		if got != want {
			t.Errorf("%v: %d requests, want %d", w, got, want)
		}
	}
}

func TestFewRequestsHaveNoPercentiles(t *testing.T) {
	t.Parallel()
	var spans []*traces.Span
	for i := range uint64(20) {
		spans = append(spans, request("/a", 1+i, 1+i))
	}
	want := map[int][4]int64{19: {10, 19, 19, 19}, 20: {10, 18, 20, 20}}
	for n, want := range want {
		r := indexOf(analyze.IndexOptions{}, spans[:n]...).Table(analyze.ByRoute, analyze.Window{}).Rows[0]
		if got := [4]int64{r.P50, r.P90, r.P99, r.Max}; got != want {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}

// Past a thousand routes the rest of a service is one row.
func TestManyRoutes(t *testing.T) {
	t.Parallel()
	ix := analyze.NewIndex(analyze.IndexOptions{})
	for i := range 1500 {
		ix.Add(request(fmt.Sprint("/r", i), uint64(i+1), 1), 0)
	}
	rows := ix.Table(analyze.ByRoute, analyze.Window{}).Rows
	if len(rows) != 1001 || rows[0].Route != analyze.Others || rows[0].Count != 500 {
		t.Errorf("%d rows, the first is %q with %d", len(rows), rows[0].Route, rows[0].Count)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	sec := uint64(time.Second)
	var spans []*traces.Span
	for _, at := range []uint64{0, 1, 1, 1, 9} {
		spans = append(spans, request("/a", 100+at*sec, 5))
	}
	spans[2].Status.Code = traces.StatusError
	r := indexOf(analyze.IndexOptions{}, spans...).Rates(2, analyze.Window{})
	half := (9*sec + 2) / 2
	want := analyze.Rates{
		Buckets: []analyze.Bucket{{100, 100 + half, 4, 1, 4}, {100 + half, 100 + 2*half, 1, 0, 1}},
		Peak:    analyze.Bucket{100 + sec, 100 + 2*sec, 3, 1, 3}, PeakRequests: analyze.Bucket{100 + sec, 100 + 2*sec, 3, 1, 3},
	}
	if diff := gocmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if r := indexOf(analyze.IndexOptions{}).Rates(2, analyze.Window{}); len(r.Buckets) != 0 {
		t.Errorf("of nothing: %v", r)
	}
}

// An index takes 64 bytes a span, and keeps nothing of the spans.
func TestIndexIsSmall(t *testing.T) {
	const n = 200_000
	s := request("/a", 1, 1)

	if got := analyze.EntrySize; got != 64 {
		t.Errorf("an entry has %d bytes", got)
	}
	allocs := testing.AllocsPerRun(1, func() {
		ix := analyze.NewIndex(analyze.IndexOptions{})
		for range n {
			ix.Add(s, 0)
		}
	})
	if allocs > n/1000 {
		t.Errorf("%v allocations for %d spans", allocs, n)
	}
}

// A circle of parents is cut at its earliest span, which is then the request.
func TestIndexCutsCircles(t *testing.T) {
	t.Parallel()
	set := forest(at{2, 20, 30}, at{1, 10, 40})
	ix := analyze.NewIndex(analyze.IndexOptions{})
	for n := range set.All() {
		ix.Add(n.Span(), 0)
	}
	rows := ix.Table(analyze.ByRoute, analyze.Window{}).Rows
	if len(rows) != 1 || rows[0].Route != "2" {
		t.Errorf("requests %+v, want the span that starts at 10", rows)
	}
}

// The exemplar of failures is the one that started last, wherever it stands in the file.
func TestLastFailureIsTheExemplar(t *testing.T) {
	t.Parallel()
	spans := []*traces.Span{failing(request("/a", 20, 1), ""), failing(request("/a", 30, 1), ""), failing(request("/a", 10, 1), ""), request("/a", 40, 1)}
	r := indexOf(analyze.IndexOptions{}, spans...).Table(analyze.ByRoute, analyze.Window{}).Rows[0]
	if r.Exemplars.Failed == nil || r.Exemplars.Failed.TraceID != spans[1].TraceID {
		t.Errorf("the exemplar is %v, want %s", r.Exemplars.Failed, spans[1].TraceID)
	}
}

// Of seconds with as many spans, the first one is the peak.
func TestFirstPeakCounts(t *testing.T) {
	t.Parallel()
	sec := uint64(time.Second)
	var spans []*traces.Span
	for i := range uint64(40) {
		spans = append(spans, request("/a", 100+i*sec, 1))
	}
	r := indexOf(analyze.IndexOptions{}, spans...).Rates(1, analyze.Window{})
	if r.Peak.From != 100 || r.PeakRequests.From != 100 {
		t.Errorf("peaks from %d and %d, want 100", r.Peak.From, r.PeakRequests.From)
	}
}
