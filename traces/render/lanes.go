package render

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// Viewers of Chrome traces and of speedscope files know nothing of parents:
// what they draw below a span is what lies inside it in time on the same lane.
// So spans are put on lanes in such a way that lying inside means being a
// descendant:
//
//   - a span goes on its parent's lane if, at its start, the parent is the
//     innermost span there, and if it ends no later than the parent;
//   - else it begins a new stack on the first lane of its service that is idle.
//
// Spans without a length (instants: also open ones and those that end before
// they start) take no room on a lane. Their children count as children of the
// nearest ancestor that has a length.

// maxMicros bounds times to what a float64, the only number that the viewers
// have, counts in whole microseconds. It is 285 years after the first span.
const maxMicros = 1 << 53

// placed is a span on its lane. Times are nanoseconds since layout.base.
type placed struct {
	node       *traces.Node
	anchor     *placed // nearest ancestor with a length, on whatever lane
	service    *service
	lane       *lane
	start, end uint64
	level      int  // how many spans are below it on its lane
	nested     bool // it lies inside anchor, on the same lane
	instant    bool
}

type lane struct {
	service *service
	tid     int // unique in the layout, from 1
	number  int // in the service, from 1
	levels  int // deepest stack on it
	stack   []*placed
}

// service is what viewers call a process.
type service struct {
	name  string
	pid   int // from 1
	lanes []*lane
	idle  laneHeap // by number
	busy  laneHeap // by the time at which the lane becomes idle
}

type layout struct {
	base     uint64 // Unix nanoseconds of the earliest time
	end      uint64 // latest time, since base
	services []*service
	lanes    []*lane
	spans    []*placed // by start; parents before children
	overruns int       // spans outside their parent's time
	open     int       // spans without an end
	reversed int       // spans that end before they start
	untimed  int       // spans without any time: not in spans
}

// newLayout places all spans of the set, in O(n log n).
func newLayout(set *traces.Set) *layout {
	start, end, _ := set.Bounds()
	return place(set.All(), make([]placed, set.Len()), start, end)
}

// place places the nodes, which come depth first, with parents before children.
// all has room for each at its index.
func place(nodes iter.Seq[*traces.Node], all []placed, start, end uint64) *layout {
	l := &layout{base: start, end: min(end-start, maxMicros*1000)}
	byName := map[string]*service{}
	for n := range nodes {
		p := &all[n.Index()]
		l.time(p, n)
		if n.Parent() != nil {
			p.anchor = &all[n.Parent().Index()]
			if p.anchor.instant {
				p.anchor = p.anchor.anchor
			}
		}
		if p.node != nil {
			l.spans = append(l.spans, p)
		}
	}
	// Stable: spans of one time stay depth first, parents before children.
	slices.SortStableFunc(l.spans, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	for _, p := range l.spans {
		p.service = l.service(byName, p.node.Span().Service())
		l.put(p)
	}
	return l
}

// time fills in the times, and the node if there are any.
func (l *layout) time(p *placed, n *traces.Node) {
	span := n.Span()
	start, end := span.StartUnixNano, span.EndUnixNano
	switch {
	case start == 0 && end == 0:
		l.untimed++
		p.instant = true
		return
	case end == 0:
		l.open++
		end = start
	case start == 0:
		start = end
	case end < start:
		l.reversed++
		end = start
	}
	p.node = n
	p.start = min(start-l.base, maxMicros*1000)
	p.end = min(end-l.base, maxMicros*1000)
	p.instant = p.start == p.end
}

func (l *layout) service(byName map[string]*service, name string) *service {
	s := byName[name]
	if s == nil {
		s = &service{name: name, pid: len(l.services) + 1}
		s.idle.less = func(a, b *lane) bool { return a.number < b.number }
		s.busy.less = func(a, b *lane) bool { return a.stack[0].end < b.stack[0].end }
		byName[name] = s
		l.services = append(l.services, s)
	}
	return s
}

func (l *layout) put(p *placed) {
	if a := p.anchor; a != nil {
		if p.start < a.start || p.end > a.end {
			l.overruns++
		}
		if a.service == p.service && a.lane != nil {
			a.lane.leave(p.start)
			top := a.lane.top()
			if p.instant || top == a && p.end <= a.end {
				p.lane, p.level = a.lane, a.level+1
				p.nested = !p.instant
				p.lane.enter(p)
				return
			}
		}
	}
	if p.instant {
		p.lane = l.first(p.service)
		return
	}
	p.lane = l.idleLane(p.service, p.start)
	p.lane.enter(p)
	heap.Push(&p.service.busy, p.lane)
}

// enter adds a span with a length to the lane's stack.
func (ln *lane) enter(p *placed) {
	if p.instant {
		return
	}
	ln.stack = append(ln.stack, p)
	ln.levels = max(ln.levels, len(ln.stack))
}

// leave takes off what has ended, except the lowest span: idleLane does that,
// because the service's heap is ordered by it.
func (ln *lane) leave(now uint64) {
	for len(ln.stack) > 1 && ln.top().end <= now {
		ln.stack = ln.stack[:len(ln.stack)-1]
	}
}

func (ln *lane) top() *placed { return ln.stack[len(ln.stack)-1] }

func (l *layout) idleLane(s *service, now uint64) *lane {
	for len(s.busy.lanes) > 0 && s.busy.lanes[0].stack[0].end <= now {
		freed, _ := heap.Pop(&s.busy).(*lane)
		heap.Push(&s.idle, freed)
	}
	if len(s.idle.lanes) == 0 {
		return l.newLane(s)
	}
	ln, _ := heap.Pop(&s.idle).(*lane)
	ln.stack = ln.stack[:0]
	return ln
}

// first returns the service's first lane, where instants without a better place
// go.
func (l *layout) first(s *service) *lane {
	if len(s.lanes) == 0 {
		heap.Push(&s.idle, l.newLane(s))
	}
	return s.lanes[0]
}

func (l *layout) newLane(s *service) *lane {
	ln := &lane{service: s, tid: len(l.lanes) + 1, number: len(s.lanes) + 1}
	s.lanes = append(s.lanes, ln)
	l.lanes = append(l.lanes, ln)
	return ln
}

type laneHeap struct {
	lanes []*lane
	less  func(a, b *lane) bool
}

func (h *laneHeap) Len() int           { return len(h.lanes) }
func (h *laneHeap) Less(i, j int) bool { return h.less(h.lanes[i], h.lanes[j]) }
func (h *laneHeap) Swap(i, j int)      { h.lanes[i], h.lanes[j] = h.lanes[j], h.lanes[i] }
func (h *laneHeap) Push(x any)         { l, _ := x.(*lane); h.lanes = append(h.lanes, l) }
func (h *laneHeap) Pop() any {
	last := h.lanes[len(h.lanes)-1]
	h.lanes = h.lanes[:len(h.lanes)-1]
	return last
}
