package render

import (
	"bufio"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// The flags of a span in the report's data, as web/model.js names them.
const (
	flagFailed = 1 << iota
	flagOpen
	flagOrphan
	flagDuplicate
	flagCycle
	flagUntimed
)

// maxReportValue is how many characters of a value the report shows. The Chrome
// trace in the same file has all of them.
const maxReportValue = 4096

// newestSpans returns the set of the traces that began last, whole, of at most n
// spans; of one that has more by itself the first n.
func newestSpans(set *traces.Set, n int) *traces.Set {
	if set.Len() <= n {
		return set
	}
	var spans []*traces.Span
	for _, t := range slices.Backward(set.Traces()) {
		if len(spans) > 0 && len(spans)+t.Len() > n {
			break
		}
		for node := range t.All() {
			spans = append(spans, node.Span())
		}
	}
	if len(spans) > n {
		slices.SortStableFunc(spans, func(a, b *traces.Span) int { return cmp.Compare(a.StartUnixNano, b.StartUnixNano) })
		spans = spans[:n]
	}
	return traces.NewSet(spans)
}

// rootOf is the root that stands for the trace: one without a parent before one
// whose parent is not in the set, and before one that a circle was cut at; then
// the earlier, then the longer.
func rootOf(t *traces.Trace) *traces.Node {
	return slices.MinFunc(t.Roots(), func(a, b *traces.Node) int {
		x, y := a.Span(), b.Span()
		return cmp.Or(
			cmp.Compare(lowliness(a), lowliness(b)), cmp.Compare(x.StartUnixNano, y.StartUnixNano), cmp.Compare(y.EndUnixNano, x.EndUnixNano))
	})
}

func lowliness(n *traces.Node) int {
	switch {
	case n.Span().ParentID.IsZero():
		return 0
	case n.Is(traces.Orphan):
		return 1
	default:
		return 2
	}
}

// reportWriter writes the data that web/model.js describes. Errors stay in the
// bufio.Writer, which keeps the first one.
type reportWriter struct {
	w        *bufio.Writer
	base     uint64
	all      []placed // at Node.Index
	at       []int32  // place in the trace, at Node.Index
	services map[string]int
	buf      []byte
}

func writeReportData(w *bufio.Writer, c htmlConfig, set *traces.Set, total int) {
	rw := &reportWriter{w: w, all: make([]placed, set.Len()), at: make([]int32, set.Len()), services: map[string]int{}}
	start, _, timed := set.Bounds()
	rw.base = start
	b := appendJSONString([]byte(`{"download":`), c.download)
	b = append(b, `,"start":`...)
	if timed {
		first := traces.Span{StartUnixNano: start}
		b = appendJSONString(b, first.Start().Format(time.RFC3339Nano))
	} else {
		b = append(b, `""`...)
	}
	b = strconv.AppendInt(append(b, `,"total":`...), int64(total), 10)
	b = strconv.AppendInt(append(b, `,"shown":`...), int64(set.Len()), 10)
	b = append(b, `,"services":[`...)
	for n := range set.All() {
		name := n.Span().Service()
		if _, ok := rw.services[name]; ok {
			continue
		}
		if len(rw.services) > 0 {
			b = append(b, ',')
		}
		rw.services[name] = len(rw.services)
		b = appendJSONString(b, FormatName(name))
	}
	_, _ = w.Write(append(b, `],"traces":[`...))
	for i, t := range set.Traces() {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		rw.trace(t)
	}
	_, _ = w.WriteString("\n]}")
}

func (rw *reportWriter) trace(t *traces.Trace) {
	start, end, timed := t.Bounds()
	if !timed {
		start, end = rw.base, rw.base
	}
	l := place(t.All(), rw.all, start, end)
	rows := map[*lane]int{}
	sum := 0
	for _, ln := range l.lanes {
		rows[ln] = sum
		sum += ln.levels
	}
	root := rootOf(t)
	b := appendJSONString(append(rw.buf[:0], "\n{\"id\":"...), t.ID().String())
	b = appendJSONString(append(b, `,"name":`...), FormatName(root.Span().Name))
	b = strconv.AppendUint(append(b, `,"start":`...), start-rw.base, 10)
	b = strconv.AppendUint(append(b, `,"end":`...), end-rw.base, 10)
	b = strconv.AppendInt(append(b, `,"rows":`...), int64(sum), 10)
	b = append(b, `,"spans":[`...)
	count := int32(0)
	for n := range t.All() {
		if count > 0 {
			b = append(b, ',')
		}
		rw.at[n.Index()] = count
		count++
		p := &rw.all[n.Index()]
		row := -1
		if !p.instant {
			row = rows[p.lane] + p.level
		}
		b = rw.span(append(b, '\n'), n, row, start-rw.base+p.start)
		_, _ = rw.w.Write(b)
		b = b[:0]
	}
	b = strconv.AppendInt(append(b, `],"root":`...), int64(rw.at[root.Index()]), 10)
	rw.buf = append(b, '}')
	_, _ = rw.w.Write(rw.buf)
}

func (rw *reportWriter) span(b []byte, n *traces.Node, row int, start uint64) []byte {
	s := n.Span()
	parent := int64(-1)
	if n.Parent() != nil {
		parent = int64(rw.at[n.Parent().Index()])
	}
	b = appendJSONString(append(b, `{"n":`...), FormatName(s.Name))
	b = strconv.AppendInt(append(b, `,"p":`...), parent, 10)
	b = strconv.AppendUint(append(b, `,"s":`...), start, 10)
	b = strconv.AppendInt(append(b, `,"d":`...), int64(s.Duration()), 10)
	b = strconv.AppendInt(append(b, `,"l":`...), int64(n.Depth()), 10)
	b = strconv.AppendInt(append(b, `,"r":`...), int64(row), 10)
	b = strconv.AppendInt(append(b, `,"v":`...), int64(rw.services[s.Service()]), 10)
	b = appendJSONString(append(b, `,"k":`...), s.Kind.String())
	b = appendJSONString(append(b, `,"i":`...), s.SpanID.String())
	if name := s.ScopeName(); name != "" {
		b = appendJSONString(append(b, `,"c":`...), FormatName(name))
	}
	if f := flags(n); f != 0 {
		b = strconv.AppendInt(append(b, `,"f":`...), int64(f), 10)
	}
	if s.Status.Message != "" {
		b = appendJSONString(append(b, `,"m":`...), cutText(FormatName(s.Status.Message)))
	}
	if len(s.Attributes) > 0 {
		b = appendPairs(append(b, `,"a":`...), s.Attributes)
	}
	if len(s.Events) > 0 {
		b = append(b, `,"e":[`...)
		for i := range s.Events {
			if i > 0 {
				b = append(b, ',')
			}
			b = rw.event(b, &s.Events[i], start)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (rw *reportWriter) event(b []byte, e *traces.Event, start uint64) []byte {
	at := start
	if e.TimeUnixNano != 0 {
		at = max(e.TimeUnixNano, rw.base) - rw.base
	}
	b = append(appendJSONString(append(b, '['), FormatName(e.Name)), ',')
	b = append(strconv.AppendUint(b, at, 10), ',')
	return append(appendPairs(b, e.Attributes), ']')
}

func flags(n *traces.Node) int {
	s := n.Span()
	f := 0
	for _, c := range []struct {
		set  bool
		flag int
	}{
		{s.Failed(), flagFailed},
		{s.Open(), flagOpen},
		{n.Is(traces.Orphan), flagOrphan},
		{n.Is(traces.Duplicate), flagDuplicate},
		{n.Is(traces.Cycle), flagCycle},
		{s.StartUnixNano == 0 && s.EndUnixNano == 0, flagUntimed},
	} {
		if c.set {
			f |= c.flag
		}
	}
	return f
}

func appendPairs(b []byte, attrs []traces.Attribute) []byte {
	b = append(b, '[')
	for i, a := range attrs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(append(b, '['), cutText(FormatName(a.Key))), ',')
		b = append(appendJSONString(b, cutText(FormatValue(a.Value))), ']')
	}
	return append(b, ']')
}

func cutText(s string) string {
	if len(s) <= maxReportValue {
		return s
	}
	count := 0
	for i := range s {
		if count++; count > maxReportValue {
			return s[:i] + "…"
		}
	}
	return s
}
