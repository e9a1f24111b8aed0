package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// Show is one trace with the times of its spans: the fields of waymark.show/v1. Times are nanoseconds.
type Show struct {
	TraceID  traces.TraceID `json:"trace_id"`
	Root     traces.SpanID  `json:"root"` // the first of its roots, whose critical path this is
	Route    Route          `json:"route"`
	Start    uint64         `json:"start_unix_nano"`
	Duration int64          `json:"duration_nano"` // of the root
	Failed   bool           `json:"failed"`
	Spans    []ShownSpan    `json:"spans"` // depth first
	Path     []PathPart     `json:"critical_path"`
	Services []Part         `json:"by_service"`
	Shapes   []Part         `json:"by_shape"`
	Skews    []Skew         `json:"skews,omitempty"`
}

// ShownSpan is a span of a [Show].
type ShownSpan struct {
	SpanID   traces.SpanID  `json:"span_id"`
	ParentID *traces.SpanID `json:"parent_span_id"` // null: a root
	Depth    int            `json:"depth"`
	Name     string         `json:"name"`
	Service  string         `json:"service"`
	Kind     string         `json:"kind"`
	Shape    string         `json:"shape"`
	Start    uint64         `json:"start_unix_nano"`
	Duration int64          `json:"duration_nano"` // negative when it ends before it starts
	Self     int64          `json:"self_nano"`
	Critical int64          `json:"critical_nano"` // of the root's critical path
	// Repeats is how many of its siblings, in a row and beginning with it, have its shape and no children; 1 is itself
	// alone. It is 0 for the others of such a row.
	Repeats int      `json:"repeats"`
	Status  string   `json:"status"`
	Message string   `json:"status_message,omitempty"`
	Marks   []string `json:"marks,omitempty"` // error, orphan, duplicate, cycle, open, reversed, outside

	node *traces.Node
}

// Node is the span in its trace.
func (s *ShownSpan) Node() *traces.Node { return s.node }

// PathPart is a part of the critical path.
type PathPart struct {
	SpanID traces.SpanID `json:"span_id"`
	From   uint64        `json:"from_unix_nano"`
	To     uint64        `json:"to_unix_nano"`
}

// Part is the share of a service, or of a shape, in a trace.
type Part struct {
	Service  string  `json:"service"`
	Shape    string  `json:"shape,omitempty"`
	Spans    int     `json:"spans"`
	Self     int64   `json:"self_nano"`
	Critical int64   `json:"critical_nano"`
	Share    float64 `json:"share"` // of the critical path, from 0 to 1
}

// Skew is a difference between the clocks of two services, as a call from one to the other shows it: how far the called
// one's clock is ahead. It is told when the server's span does not lie in the client's.
type Skew struct {
	Service string `json:"service"`
	Than    string `json:"than"`
	Ahead   int64  `json:"ahead_nano"` // negative: behind
}

// NewShow works out a trace.
func NewShow(trace *traces.Trace) Show {
	root := trace.Roots()[0]
	s := Show{
		TraceID: trace.ID(), Root: root.Span().SpanID, Route: RouteOf(root.Span()), Start: root.Span().StartUnixNano,
		Duration: int64(root.Span().Duration()), Failed: Failed(root.Span()), Path: []PathPart{}, Skews: skews(trace),
	}
	critical := map[*traces.Node]int64{}
	for _, p := range CriticalPath(root) {
		critical[p.Node] += int64(duration(p.To - p.From))
		s.Path = append(s.Path, PathPart{p.Node.Span().SpanID, p.From, p.To})
	}
	s.Spans = make([]ShownSpan, 0, trace.Len())
	repeats := repeatsOf(trace)
	for n := range trace.All() {
		s.Spans = append(s.Spans, newShownSpan(n, critical[n], repeats[n]))
	}
	s.add()
	return s
}

func newShownSpan(n *traces.Node, critical int64, repeats int) ShownSpan {
	span := n.Span()
	s := ShownSpan{
		SpanID: span.SpanID, Depth: n.Depth(), Name: span.Name, Service: span.Service(), Kind: span.Kind.String(),
		Shape: ShapeOf(span).Text, Start: span.StartUnixNano, Duration: int64(span.Duration()), Self: int64(SelfTime(n)),
		Critical: critical, Repeats: repeats, Status: strings.ToLower(span.Status.Code.String()), Message: span.Status.Message,
		Marks: marksOf(n), node: n,
	}
	if p := n.Parent(); p != nil {
		id := p.Span().SpanID
		s.ParentID = &id
	}
	return s
}

func marksOf(n *traces.Node) (marks []string) {
	span := n.Span()
	mark := func(holds bool, name string) {
		if holds {
			marks = append(marks, name)
		}
	}
	mark(Failed(span), "error")
	mark(n.Is(traces.Orphan), "orphan")
	mark(n.Is(traces.Duplicate), "duplicate")
	mark(n.Is(traces.Cycle), "cycle")
	mark(span.Open(), "open")
	mark(!span.Open() && span.EndUnixNano < span.StartUnixNano, "reversed")
	mark(isOutside(n), "outside")
	return marks
}

// isOutside reports whether a part of the span lies outside of its parent, and so does not count there.
func isOutside(n *traces.Node) bool {
	p := n.Parent()
	if p == nil || p.Span().Open() || n.Span().Open() || n.Span().StartUnixNano == 0 {
		return false
	}
	own, parent := intervalOf(n.Span()), intervalOf(p.Span())
	return own.lo < parent.lo || own.hi > parent.hi
}

// repeatsOf finds rows of siblings without children that have one shape.
func repeatsOf(trace *traces.Trace) map[*traces.Node]int {
	repeats := make(map[*traces.Node]int, trace.Len())
	for _, list := range siblings(trace) {
		var first *traces.Node
		var shape Shape
		for _, n := range list {
			own := ShapeOf(n.Span())
			if first != nil && own == shape && len(n.Children()) == 0 && len(first.Children()) == 0 && Failed(n.Span()) == Failed(first.Span()) {
				repeats[first]++
				repeats[n] = 0
				continue
			}
			first, shape = n, own
			repeats[n] = 1
		}
	}
	return repeats
}

// siblings yields the roots of a trace, and the children of each of its spans.
func siblings(trace *traces.Trace) [][]*traces.Node {
	lists := [][]*traces.Node{trace.Roots()}
	for n := range trace.All() {
		if len(n.Children()) > 0 {
			lists = append(lists, n.Children())
		}
	}
	return lists
}

// add sums up the spans by service and by shape, the largest part of the critical path first.
func (s *Show) add() {
	services, shapes := map[Part]*Part{}, map[Part]*Part{}
	total := int64(0)
	for i := range s.Spans {
		sp := &s.Spans[i]
		total += sp.Critical
		addPart(services, Part{Service: sp.Service}, sp)
		addPart(shapes, Part{Service: sp.Service, Shape: sp.Shape}, sp)
	}
	s.Services, s.Shapes = sortParts(services, total), sortParts(shapes, total)
}

func addPart(parts map[Part]*Part, key Part, s *ShownSpan) {
	p := parts[key]
	if p == nil {
		p = &Part{Service: key.Service, Shape: key.Shape}
		parts[key] = p
	}
	p.Spans++
	p.Self += s.Self
	p.Critical += s.Critical
}

func sortParts(parts map[Part]*Part, total int64) []Part {
	list := make([]Part, 0, len(parts))
	for _, p := range parts {
		if total > 0 {
			p.Share = float64(p.Critical) / float64(total)
		}
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Critical, a.Critical), cmp.Compare(b.Self, a.Self), strings.Compare(a.Service, b.Service),
			strings.Compare(a.Shape, b.Shape))
	})
	return list
}

// skews finds how far the clocks of services differ: of each pair, the largest difference that a call shows.
func skews(trace *traces.Trace) []Skew {
	var list []Skew
	for n := range trace.All() {
		p := n.Parent()
		if p == nil || n.Span().Kind != traces.KindServer || p.Span().Kind != traces.KindClient {
			continue
		}
		ahead := skewOf(intervalOf(p.Span()), intervalOf(n.Span()))
		if ahead == 0 || p.Span().Service() == n.Span().Service() {
			continue
		}
		list = addSkew(list, Skew{n.Span().Service(), p.Span().Service(), ahead})
	}
	return list
}

func addSkew(list []Skew, s Skew) []Skew {
	for i := range list {
		if list[i].Service == s.Service && list[i].Than == s.Than {
			if abs(s.Ahead) > abs(list[i].Ahead) {
				list[i].Ahead = s.Ahead
			}
			return list
		}
	}
	return append(list, s)
}

func abs(n int64) int64 { return max(n, -n) }

// skewOf estimates how far the server's clock is ahead: what puts its span into the middle of the client's. Zero when it
// lies inside, or cannot.
func skewOf(client, server interval) int64 {
	if client.length() == 0 || server.length() > client.length() || server.lo >= client.lo && server.hi <= client.hi {
		return 0
	}
	middle := client.lo + (client.length()-server.length())/2
	return int64(server.lo - middle) //nolint:gosec // two's complement: negative when it is behind
}
