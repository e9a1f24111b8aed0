package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// union is the time that at least one of the spans takes, clipped to a span, and the sum of the times of each.
func union(nodes []*traces.Node, within interval) (union, sum uint64) {
	list := make([]interval, 0, len(nodes))
	for _, n := range nodes {
		if c, ok := intervalOf(n.Span()).clip(within); ok {
			list = append(list, c)
			sum += c.length()
		}
	}
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.lo, b.lo) })
	at := uint64(0)
	for _, c := range list {
		if c.hi > at {
			union += c.hi - max(c.lo, at)
			at = c.hi
		}
	}
	return union, sum
}

// byShape are the children of a span by their shapes, in the order of their start. Requests to other services, which
// are below the calls, are not among them.
func byShape(n *traces.Node) map[Shape][]*traces.Node {
	shapes := map[Shape][]*traces.Node{}
	for _, c := range n.Children() {
		if !IsRequest(c) {
			s := ShapeOf(c.Span())
			shapes[s] = append(shapes[s], c)
		}
	}
	return shapes
}

// repeated looks for calls of one shape below one span: retries, else n-plus-one. Others may stand between them.
func (h *Hints) repeated(route Route, parent *traces.Node) {
	own := intervalOf(parent.Span())
	for shape, calls := range byShape(parent) {
		if len(calls) < min(h.o.Tries, h.o.Repeats) {
			continue
		}
		good := h.retries(route, shape, calls)
		if len(good) < h.o.Repeats {
			continue
		}
		const overlap = 0.1
		nano, sum := union(good, own)
		if float64(sum-nano) >= overlap*float64(sum) {
			continue
		}
		whole := intervalOf(h.request.Span()).length()
		if duration(nano) >= h.o.RepeatTime || float64(nano) >= h.o.RepeatShare*float64(whole) && nano > 0 {
			h.tell(NPlusOne, route, shape.Text, nano, len(good), parent)
		}
	}
}

// retries looks for tries in a row that all but the last failed, and returns the calls that are none.
func (h *Hints) retries(route Route, shape Shape, calls []*traces.Node) (others []*traces.Node) {
	var row []*traces.Node
	for _, c := range calls {
		if len(row) > 0 && c.Span().StartUnixNano < row[len(row)-1].Span().EndUnixNano {
			others, row = append(others, row...), nil // at the same time: no try after another
		}
		row = append(row, c)
		if Failed(c.Span()) {
			continue
		}
		others, row = h.endRow(route, shape, row, others), nil
	}
	return h.endRow(route, shape, row, others)
}

func (h *Hints) endRow(route Route, shape Shape, row, others []*traces.Node) []*traces.Node {
	if len(row) < h.o.Tries {
		return append(others, row...)
	}
	var nano uint64
	for _, c := range row[:len(row)-1] {
		nano += intervalOf(c.Span()).length()
	}
	h.tell(Retries, route, shape.Text, nano, len(row), row[0])
	return others
}

// serial looks for calls of different shapes that follow each other at once.
func (h *Hints) serial(route Route, parent *traces.Node) {
	whole := intervalOf(h.request.Span()).length()
	var row []*traces.Node
	for _, c := range parent.Children() {
		own := intervalOf(c.Span())
		if c.Span().Kind != traces.KindClient || whole == 0 || float64(own.length()) < h.o.SerialShare*float64(whole) {
			continue
		}
		if len(row) > 0 && !h.follows(row, c) {
			h.endSerial(route, row)
			row = nil
		}
		row = append(row, c)
	}
	h.endSerial(route, row)
}

// follows reports whether a call begins right after the last one of a row, and its shape is not in the row.
func (h *Hints) follows(row []*traces.Node, c *traces.Node) bool {
	last := intervalOf(row[len(row)-1].Span())
	start := c.Span().StartUnixNano
	return start >= last.hi && duration(start-last.hi) <= h.o.SerialGap &&
		!slices.ContainsFunc(row, func(r *traces.Node) bool { return ShapeOf(r.Span()) == ShapeOf(c.Span()) })
}

func (h *Hints) endSerial(route Route, row []*traces.Node) {
	if len(row) < 2 {
		return
	}
	var sum, most uint64
	texts := make([]string, 0, len(row))
	for _, c := range row {
		n := intervalOf(c.Span()).length()
		sum, most = sum+n, max(most, n)
		texts = append(texts, ShapeOf(c.Span()).Text)
	}
	h.tell(SerialCalls, route, strings.Join(texts, ", then "), sum-most, len(row), row[0])
}

// unexplained looks for a span that was waited for itself, for more than half of the request, though it has children.
func (h *Hints) unexplained(route Route) {
	whole := intervalOf(h.request.Span()).length()
	own := map[*traces.Node]uint64{}
	for _, s := range CriticalPath(h.request) {
		own[s.Node] += s.To - s.From
	}
	for n, nano := range own {
		if len(n.Children()) > 0 && duration(intervalOf(n.Span()).length()) >= h.o.Unexplained && 2*nano > whole && belongsTo(n, h.request) {
			h.tell(UnexplainedTime, route, ShapeOf(n.Span()).Text, nano, 1, n)
		}
	}
}

// belongsTo reports whether a span is of a request itself, not of one that it makes.
func belongsTo(n, request *traces.Node) bool {
	for n != request && !IsRequest(n) {
		n = n.Parent()
	}
	return n == request
}

// fanOut looks for a span with many children at work at once.
func (h *Hints) fanOut(route Route, parent *traces.Node) {
	if len(parent.Children()) <= h.o.AtOnce {
		return
	}
	ends := make([]uint64, 0, len(parent.Children()))
	for _, c := range parent.Children() {
		ends = append(ends, intervalOf(c.Span()).hi)
	}
	slices.Sort(ends)
	most, ended := 0, 0
	for i, c := range parent.Children() { // by start
		for ended < len(ends) && ends[ended] <= c.Span().StartUnixNano {
			ended++
		}
		most = max(most, i+1-ended)
	}
	if most > h.o.AtOnce {
		nano, _ := union(parent.Children(), intervalOf(parent.Span()))
		h.tell(FanOut, route, ShapeOf(parent.Span()).Text, nano, most, parent)
	}
}

// roundTimes returns what people choose as timeouts.
func roundTimes() [8]time.Duration {
	return [...]time.Duration{
		time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
	}
}

// timeout looks at a failed call that took a round time.
func (h *Hints) timeout(route Route, n *traces.Node) {
	span := n.Span()
	if span.Kind != traces.KindClient || !Failed(span) {
		return
	}
	nano := intervalOf(span).length()
	took := duration(nano)
	for _, round := range roundTimes() {
		const within = 50 // a fiftieth: 2 %
		if (took - round).Abs() <= round/within {
			h.tell(Timeouts, route, fmt.Sprintf("%s after %s", ShapeOf(span).Text, round), nano, 1, n)
		}
	}
}

// chatty looks for many requests of one route that a request makes.
func (h *Hints) chatty(route Route, called []*traces.Node) {
	if len(called) <= h.o.Upstream {
		return
	}
	byRoute := map[Route][]*traces.Node{}
	for _, c := range called {
		r := RouteOf(c.Span())
		byRoute[r] = append(byRoute[r], c)
	}
	for r, list := range byRoute {
		if len(list) > h.o.Upstream {
			nano, _ := union(list, intervalOf(h.request.Span()))
			h.tell(ChattyUpstream, route, strings.TrimSpace(r.Service+" "+r.Name), nano, len(list), list[0])
		}
	}
}

// sentence says what to look at.
func (f *Hint) sentence() string {
	switch f.Kind {
	case NPlusOne:
		return fmt.Sprintf("up to %d × %s one after another in one request: ask once for all of them", f.Times, f.Shape)
	case Retries:
		return fmt.Sprintf("up to %d tries of %s, of which all but the last failed: look at why the first ones fail", f.Times, f.Shape)
	case SerialCalls:
		return f.Shape + ": they wait for each other, and could run side by side if they are independent"
	case UnexplainedTime:
		return f.Shape + " takes more than half of the request by itself: no span says what it does"
	case FanOut:
		return fmt.Sprintf("up to %d children of %s are at work at once: a limit would spare who answers them", f.Times, f.Shape)
	case Timeouts:
		return f.Shape + ": they fail after a round time, which is a timeout"
	case ChattyUpstream:
		return fmt.Sprintf("up to %d requests of %s for one: ask for more at a time", f.Times, f.Shape)
	default:
		return ""
	}
}
