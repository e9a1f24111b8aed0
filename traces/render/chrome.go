package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// ChromeOption changes what [ChromeTrace] writes.
type ChromeOption interface {
	applyChrome(chromeConfig) chromeConfig
}

type chromeConfig struct{ singleLane bool }

type chromeOption func(chromeConfig) chromeConfig

func (o chromeOption) applyChrome(c chromeConfig) chromeConfig { return o(c) }

// WithSingleLane writes one complete event ("X") per span and nothing else, all
// on one lane: integer microseconds since 1970, rounded down, and at least one
// long; spans without start or end are left out. It is for tools that compare
// such files. Viewers draw it rightly only where no two siblings overlap.
// Default: lanes.
func WithSingleLane() ChromeOption {
	return chromeOption(func(c chromeConfig) chromeConfig { c.singleLane = true; return c })
}

// ChromeTrace writes the spans in the Chrome Trace Event Format, which
// Perfetto, speedscope and chrome://tracing open:
//
//	{"traceEvents":[
//	{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"shop"}},
//	{"name":"charge","cat":"shop/pay","ph":"X","ts":1000,"dur":1500,"pid":1,"tid":1,"args":{…}}
//	],"displayTimeUnit":"ms","otherData":{"start_unix_nano":"1700000000000000000"}}
//
// A process is a service, a thread ("lane") is a row on which one event lies
// inside another only if its span is the other's child. A child that cannot lie
// inside its parent, since a sibling is there, it outlives the parent or is of
// another service, begins another lane and is joined to the parent by an arrow.
//
// Times are microseconds since the earliest span, whose instant is in
// otherData. They have binary fractions of nanosecond accuracy, so that a
// viewer's floating point adds start and duration to exactly the end that the
// neighbor starts at. Spans without a length (also those that are open or end
// before they start) and events are instants ("i"). otherData counts, where
// there are any, overrun_spans (outside their parent's time), open_spans,
// reversed_spans, and untimed_spans, which have no time and are left out.
//
// args has all attributes, otel.status_code, otel.status_description and error
// for a failed span, which is colored too, the ids, also the parent's, and
// otel.scope.name. What has no place is what [ChromeLosses] yields.
//
// Spec: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
func ChromeTrace(w io.Writer, set *traces.Set, opts ...ChromeOption) error {
	c := chromeConfig{}
	for _, o := range opts {
		c = o.applyChrome(c)
	}
	cw := chromeWriter{w: bufio.NewWriter(w)}
	cw.text(`{"traceEvents":[`)
	if c.singleLane {
		cw.singleLane(set)
		cw.text(`],"displayTimeUnit":"ms"}`)
	} else {
		l := newLayout(set)
		cw.layout(l)
		cw.text(`],"displayTimeUnit":"ms","otherData":`)
		cw.buf = appendArgs(cw.buf[:0], l.summary())
		cw.text(string(cw.buf))
		cw.text("}")
	}
	if err := cw.w.Flush(); err != nil {
		return fmt.Errorf("render: write Chrome trace: %w", err)
	}
	return nil
}

// ChromeTraceString returns what [ChromeTrace] writes.
func ChromeTraceString(set *traces.Set, opts ...ChromeOption) string {
	var b strings.Builder
	_ = ChromeTrace(&b, set, opts...) // a strings.Builder takes all
	return b.String()
}

// The members of args that are no attributes of the span.
const (
	argOpen     = "otel.open"
	argTraceID  = "otel.trace_id"
	argSpanID   = "otel.span_id"
	argParentID = "otel.parent_span_id"
	argKind     = "otel.kind"
	argScope    = "otel.scope.name"
)

// chromeWriter leaves errors to the bufio.Writer, which keeps the first one.
type chromeWriter struct {
	w      *bufio.Writer
	buf    []byte
	events int
	grid   grid
	flows  map[string]bool
	free   uint64 // the last number taken for a flow
}

func (cw *chromeWriter) text(s string) { _, _ = cw.w.WriteString(s) }

func (cw *chromeWriter) emit(b []byte) {
	if cw.events > 0 {
		_ = cw.w.WriteByte(',')
	}
	cw.events++
	_, _ = cw.w.WriteString("\n")
	_, _ = cw.w.Write(b)
	cw.buf = b
}

func (cw *chromeWriter) singleLane(set *traces.Set) {
	type event struct {
		node    *traces.Node
		ts, dur int64
	}
	var events []event
	for n := range set.All() {
		s := n.Span()
		if s.StartUnixNano == 0 || s.EndUnixNano == 0 {
			continue
		}
		dur := max(1, int64(s.Duration())/1000)
		events = append(events, event{n, int64(s.StartUnixNano / 1000), dur}) //nolint:gosec // a thousandth of the range
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(b.dur, a.dur), cmp.Compare(a.node.Index(), b.node.Index()))
	})
	for _, e := range events {
		s := e.node.Span()
		b := appendHead(cw.buf[:0], s, "X")
		b = append(strconv.AppendInt(append(b, `,"ts":`...), e.ts, 10), `,"dur":`...)
		b = appendPlace(strconv.AppendInt(b, e.dur, 10), 1, 1)
		attrs := append(failure(s), s.Attributes...)
		if name := s.ScopeName(); name != "" {
			attrs = append(attrs, text(argScope, name))
		}
		cw.emit(appendTail(b, s, attrs))
	}
}

func (cw *chromeWriter) layout(l *layout) {
	cw.grid = newGrid(l.end)
	cw.flows = map[string]bool{traces.SpanID{}.String(): true} // no ID is no flow ID
	for _, s := range l.services {
		cw.metadata("process_name", s.pid, s.lanes[0].tid, text("name", s.title()))
		cw.metadata("process_sort_index", s.pid, s.lanes[0].tid, number("sort_index", s.pid))
		for _, ln := range s.lanes {
			cw.metadata("thread_name", s.pid, ln.tid, text("name", "lane "+strconv.Itoa(ln.number)))
			cw.metadata("thread_sort_index", s.pid, ln.tid, number("sort_index", ln.number))
		}
	}
	for _, p := range l.spans {
		cw.span(p)
		cw.spanEvents(l, p)
		cw.flow(p)
	}
}

func (s *service) title() string {
	if s.name == "" {
		return "unknown service"
	}
	return s.name
}

func (cw *chromeWriter) metadata(kind string, pid, tid int, arg traces.Attribute) {
	b := append(cw.buf[:0], `{"ph":"M","name":"`...)
	b = appendPlace(append(append(b, kind...), '"'), pid, tid)
	b = append(b, `,"args":`...)
	cw.emit(append(appendArgs(b, []traces.Attribute{arg}), '}'))
}

func (cw *chromeWriter) span(p *placed) {
	s := p.node.Span()
	phase := "X"
	if p.instant {
		phase = "i"
	}
	b := appendHead(cw.buf[:0], s, phase)
	start := cw.grid.micros(p.start)
	b = appendMicros(append(b, `,"ts":`...), start)
	if p.instant {
		b = append(b, `,"s":"t"`...)
	} else {
		b = appendMicros(append(b, `,"dur":`...), cw.grid.micros(p.end)-start)
	}
	b = appendPlace(b, p.service.pid, p.lane.tid)
	attrs := append(failure(s), s.Attributes...)
	if s.EndUnixNano == 0 {
		attrs = append(attrs, traces.Attribute{Key: argOpen, Value: traces.Bool(true)})
	}
	attrs = append(attrs, text(argTraceID, s.TraceID.String()), text(argSpanID, s.SpanID.String()))
	if !s.ParentID.IsZero() {
		attrs = append(attrs, text(argParentID, s.ParentID.String()))
	}
	attrs = append(attrs, text(argKind, s.Kind.String()))
	if name := s.ScopeName(); name != "" {
		attrs = append(attrs, text(argScope, name))
	}
	cw.emit(appendTail(b, s, attrs))
}

func (cw *chromeWriter) spanEvents(l *layout, p *placed) {
	events := p.node.Span().Events
	for i := range events {
		e := &events[i]
		at := p.start
		if e.TimeUnixNano != 0 {
			at = min(max(e.TimeUnixNano, l.base)-l.base, maxMicros*1000)
		}
		b := appendJSONString(append(cw.buf[:0], `{"name":`...), e.Name)
		b = appendMicros(append(b, `,"cat":"event","ph":"i","s":"t","ts":`...), cw.grid.micros(at))
		b = appendPlace(b, p.service.pid, p.lane.tid)
		cw.emit(append(appendArgs(append(b, `,"args":`...), e.Attributes), '}'))
	}
}

// flow draws an arrow from the parent to a child on another lane.
func (cw *chromeWriter) flow(p *placed) {
	a := p.anchor
	if a == nil || p.nested || p.instant || p.start < a.start {
		return // an arrow must not point back in time
	}
	// An arrow binds to the slice around its time: the end is not inside.
	from := min(p.start, a.end-1)
	id := cw.flowID(p)
	for _, end := range []struct {
		phase string
		at    uint64
		on    *placed
	}{{`"s"`, from, a}, {`"f","bp":"e"`, p.start, p}} {
		b := append(cw.buf[:0], `{"name":"child","cat":"flow","ph":`...)
		b = append(append(append(b, end.phase...), `,"id":"`...), id...)
		b = appendMicros(append(b, `","ts":`...), cw.grid.micros(end.at))
		cw.emit(append(appendPlace(b, end.on.service.pid, end.on.lane.tid), '}'))
	}
}

// flowID is the span's ID, or the next free number where that is taken: Perfetto
// reads at most 16 hexadecimal digits, and joins what has one id.
func (cw *chromeWriter) flowID(p *placed) string {
	id := p.node.Span().SpanID.String()
	for cw.flows[id] {
		cw.free++
		id = fmt.Sprintf("%016x", cw.free)
	}
	cw.flows[id] = true
	return id
}

func (l *layout) summary() []traces.Attribute {
	attrs := []traces.Attribute{text("producer", "waymark")}
	if l.base > 0 {
		start := traces.Span{StartUnixNano: l.base}
		attrs = append(attrs, text("start_unix_nano", strconv.FormatUint(l.base, 10)),
			text("start", start.Start().Format(time.RFC3339Nano)))
	}
	for _, c := range []struct {
		key string
		n   int
	}{
		{"overrun_spans", l.overruns},
		{"open_spans", l.open},
		{"reversed_spans", l.reversed},
		{"untimed_spans", l.untimed},
	} {
		if c.n > 0 {
			attrs = append(attrs, number(c.key, c.n))
		}
	}
	return attrs
}

func text(key, value string) traces.Attribute {
	return traces.Attribute{Key: key, Value: traces.String(value)}
}

func number(key string, n int) traces.Attribute {
	return traces.Attribute{Key: key, Value: traces.Int(int64(n))}
}

// failure is what makes an error visible in args. It stands before the span's
// attributes, so that an attribute named error keeps what the program said.
func failure(s *traces.Span) []traces.Attribute {
	if !s.Failed() {
		return nil
	}
	failed := traces.Attribute{Key: "error", Value: traces.Bool(true)}
	attrs := []traces.Attribute{failed, text("otel.status_code", "ERROR")}
	if s.Status.Message != "" {
		attrs[0] = text("error", s.Status.Message)
		attrs = append(attrs, text("otel.status_description", s.Status.Message))
	}
	return attrs
}

func appendHead(b []byte, s *traces.Span, phase string) []byte {
	category := s.ScopeName()
	if category == "" {
		category = "waymark"
	}
	b = appendJSONString(append(b, `{"name":`...), s.Name)
	b = appendJSONString(append(b, `,"cat":`...), category)
	return append(append(append(b, `,"ph":"`...), phase...), '"')
}

func appendPlace(b []byte, pid, tid int) []byte {
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(pid), 10)
	return strconv.AppendInt(append(b, `,"tid":`...), int64(tid), 10)
}

func appendTail(b []byte, s *traces.Span, attrs []traces.Attribute) []byte {
	if s.Failed() {
		b = append(b, `,"cname":"terrible"`...)
	}
	return append(appendArgs(append(b, `,"args":`...), attrs), '}')
}
