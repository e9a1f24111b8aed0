package analyze

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// By is what the rows of a [Table] are told apart by.
type By string

// The rows that a table can have. Routes, services and values have requests in them; names and shapes all spans.
const (
	ByRoute   By = "route"
	ByService By = "service"
	ByName    By = "name"
	ByShape   By = "shape"
	ByKey     By = "key" // the values of the key of [IndexOptions]
)

// maxRoutes is how many routes of a service have a row of their own.
const maxRoutes = 1000

// Few is the number of spans below which a row has no percentiles above the median: they are its maximum.
const Few = 20

// Table is what the requests of an index have in common, row by row. It marshals to the fields of waymark.routes/v1.
type Table struct {
	By   By    `json:"by"`
	Rows []Row `json:"routes"`
	// Clamped is the number of spans that are open or end before they start. They are counted, and have no duration.
	Clamped int `json:"clamped"`
}

// Row is one row of a table. Percentiles are exact, by the nearest rank over all durations; of fewer than [Few] spans
// those above the median are the maximum.
type Row struct {
	Service string  `json:"service"`
	Route   string  `json:"route,omitempty"` // by route
	Key     string  `json:"key,omitempty"`   // by anything else but service
	Count   int     `json:"count"`
	Failed  int     `json:"failed"`
	Rate    float64 `json:"rate"`  // a second, from the first start of all rows to the last end
	Share   float64 `json:"share"` // of the time of all rows, from 0 to 1

	P50 int64 `json:"p50_nano"`
	P90 int64 `json:"p90_nano"`
	P99 int64 `json:"p99_nano"`
	Max int64 `json:"max_nano"`
	Sum int64 `json:"sum_nano"` // capped at the largest

	// Self is the self time of all spans of a service, name or shape, and SelfShare its part of that of all rows.
	Self      int64   `json:"self_nano,omitempty"`
	SelfShare float64 `json:"self_share,omitempty"`

	Exemplars Exemplars `json:"exemplars"`
}

// Exemplars are the spans that stand at the percentiles of a row, and the failed one that started last. Nil: there is
// none.
type Exemplars struct {
	P50    *Ref `json:"p50,omitempty"`
	P90    *Ref `json:"p90,omitempty"`
	P99    *Ref `json:"p99,omitempty"`
	Max    *Ref `json:"max,omitempty"`
	Failed *Ref `json:"failed,omitempty"`
}

// Ref names a span.
type Ref struct {
	TraceID traces.TraceID `json:"trace_id"`
	SpanID  traces.SpanID  `json:"span_id"`
}

// Table adds up the chosen spans of a window, the rows with the most time first.
func (ix *Index) Table(by By, w Window) Table {
	ix.link()
	b := tableBuilder{ix: ix, by: by, rowOf: map[rowKey]int32{}, routes: map[uint16]int{}}
	for i := range int32(ix.n) { //nolint:gosec // two billion spans do not fit into memory
		if e := ix.at(i); b.holds(e) && w.Holds(e.start) {
			b.add(i, e)
		}
	}
	if by == ByService || by == ByName || by == ByShape {
		b.addSelves(w)
	}
	return b.table()
}

// addSelves adds the self times of all chosen spans of the window to the rows.
func (b *tableBuilder) addSelves(w Window) {
	selves := b.ix.selves()
	for i, self := range selves {
		e := b.ix.at(int32(i))
		if e.flags&isChosen == 0 || !w.Holds(e.start) {
			continue
		}
		key, _ := b.keyOf(int32(i), e)
		if at, ok := b.rowOf[key]; ok {
			b.rows[at].self += self
			b.self += self
		}
	}
}

// sample is the duration of a span, by its number.
type sample struct {
	nano uint64
	i    int32
}

type tableBuilder struct {
	ix      *Index
	by      By
	rowOf   map[rowKey]int32
	routes  map[uint16]int // with a row of their own, by service
	rows    []rowBuilder
	extent  extent
	self    uint64
	clamped int
}

type rowKey struct {
	service uint16
	number  uint32
}

type rowBuilder struct {
	row        Row
	samples    []sample
	self       uint64
	failed     int32 // the last one that failed, by its number plus one
	failedFrom uint64
}

// holds reports whether a span belongs into the table.
func (b *tableBuilder) holds(e *entry) bool {
	if e.flags&isChosen == 0 {
		return false
	}
	return e.flags&isRequest != 0 || b.by == ByName || b.by == ByShape
}

func (b *tableBuilder) add(i int32, e *entry) {
	r := b.rowFor(i, e)
	r.row.Count++
	if e.flags&isFailed != 0 {
		r.row.Failed++
		if r.failed == 0 || e.start >= r.failedFrom {
			r.failed, r.failedFrom = i+1, e.start
		}
	}
	b.extent.add(e.start, e.end)
	if e.start == 0 || e.end < e.start {
		b.clamped++
		return
	}
	r.samples = append(r.samples, sample{e.end - e.start, i})
}

// rowFor returns the row of a span, a new one if it is the first in it.
func (b *tableBuilder) rowFor(i int32, e *entry) *rowBuilder {
	key, text := b.keyOf(i, e)
	at, ok := b.rowOf[key]
	if !ok && b.by == ByRoute {
		if b.routes[e.service] >= maxRoutes {
			key, text = rowKey{e.service, math.MaxUint32}, Others
			at, ok = b.rowOf[key]
		}
		b.routes[e.service]++
	}
	if !ok {
		at = int32(len(b.rows)) //nolint:gosec // bounded by the texts of the index
		b.rowOf[key] = at
		b.rows = append(b.rows, rowBuilder{row: b.newRow(e, text)})
	}
	return &b.rows[at]
}

// keyOf is what a span's row is found by, and called.
func (b *tableBuilder) keyOf(i int32, e *entry) (key rowKey, text string) {
	ix := b.ix
	switch b.by {
	case ByService:
		return rowKey{service: e.service}, ""
	case ByName:
		return rowKey{e.service, e.name}, ix.names.text[e.name]
	case ByShape:
		return rowKey{e.service, e.shape}, ix.shapes.text[e.shape]
	case ByKey:
		if v := ix.valueOf[i]; v > 0 {
			return rowKey{number: v}, ix.values.text[v-1]
		}
		return rowKey{}, ""
	default:
		return rowKey{e.service, e.route}, ix.routes.text[e.route]
	}
}

func (b *tableBuilder) newRow(e *entry, text string) Row {
	r := Row{Service: b.ix.services.text[e.service]}
	switch b.by {
	case ByService:
	case ByRoute:
		r.Route = text
	case ByKey:
		r.Service, r.Key = "", text
	default:
		r.Key = text
	}
	return r
}

func (b *tableBuilder) table() Table {
	t := Table{By: b.by, Rows: make([]Row, 0, len(b.rows)), Clamped: b.clamped}
	total := 0.0
	for i := range b.rows {
		total += b.rows[i].finish(b.ix)
	}
	for i := range b.rows {
		r := &b.rows[i].row
		r.Rate = float64(r.Count) / b.extent.seconds()
		if total > 0 {
			r.Share = float64(r.Sum) / total
		}
		r.Self = int64(duration(b.rows[i].self))
		if b.self > 0 {
			r.SelfShare = float64(b.rows[i].self) / float64(b.self)
		}
		t.Rows = append(t.Rows, *r)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Service, b.Service),
			cmp.Compare(a.Route, b.Route), cmp.Compare(a.Key, b.Key))
	})
	return t
}

// finish fills in the durations, and returns their sum.
func (b *rowBuilder) finish(ix *Index) float64 {
	slices.SortFunc(b.samples, func(x, y sample) int { return cmp.Or(cmp.Compare(x.nano, y.nano), cmp.Compare(x.i, y.i)) })
	r := &b.row
	if b.failed > 0 {
		r.Exemplars.Failed = ix.ref(b.failed - 1)
	}
	n := len(b.samples)
	if n == 0 {
		return 0
	}
	at := func(q float64) (int64, *Ref) {
		if n < Few && q > 0.5 {
			q = 1
		}
		s := b.samples[rank(q, n)]
		return int64(min(s.nano, math.MaxInt64)), ix.ref(s.i)
	}
	r.P50, r.Exemplars.P50 = at(0.5)
	r.P90, r.Exemplars.P90 = at(0.9)
	r.P99, r.Exemplars.P99 = at(0.99)
	r.Max, r.Exemplars.Max = at(1)
	sum := 0.0
	for _, s := range b.samples {
		sum += float64(s.nano)
	}
	r.Sum = math.MaxInt64
	if sum < math.MaxInt64 {
		r.Sum = int64(sum)
	}
	b.samples = nil
	return float64(r.Sum)
}

// rank is the place of a percentile among n sorted values, from 0: the nearest rank, which is the least value that is not
// exceeded by a part q of all.
func rank(q float64, n int) int {
	return min(max(int(math.Ceil(q*float64(n)-1e-9)), 1), n) - 1
}

func (ix *Index) ref(i int32) *Ref {
	e := ix.at(i)
	r := &Ref{TraceID: ix.traceIDs[e.trace]}
	binary.BigEndian.PutUint64(r.SpanID[:], e.span)
	return r
}
