package analyze

import (
	"cmp"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// Segment is a part of a critical path: from From up to To, in Unix nanoseconds, the request waited for Node.
type Segment struct {
	Node     *traces.Node
	From, To uint64
}

// CriticalPath returns what a request waited for at each instant: segments in the order of time that partition its
// interval, so that their lengths add up to its duration. Shortening what is not on it does not make the request quicker.
//
// From the end backwards: at instant t in a span, the child that ends last at or before t is what was waited for (of
// those that end together, the one that starts later, then the first of the file). What lies between its end and t is
// the span's own; inside of the child it goes on from the child's end, and in the span from the child's start. Children
// are clipped to their parents; those that lie outside are left out. There is no path for a request without a duration.
func CriticalPath(request *traces.Node) []Segment {
	whole := intervalOf(request.Span())
	if whole.length() == 0 {
		return nil
	}
	p := pathFinder{stack: []pathStep{newPathStep(request, whole)}}
	for len(p.stack) > 0 {
		p.step()
	}
	slices.Reverse(p.segments)
	return p.segments
}

// pathFinder walks with a stack of its own: how deep a trace is, its writer chooses.
type pathFinder struct {
	stack    []pathStep
	segments []Segment // the latest first
}

// pathStep is a span on the way.
type pathStep struct {
	node     *traces.Node
	lo, at   uint64         // where it begins, and up to where it is not looked at yet
	children []clippedChild // those that end first in front
}

type clippedChild struct {
	node *traces.Node
	interval
}

func newPathStep(n *traces.Node, own interval) pathStep {
	s := pathStep{node: n, lo: own.lo, at: own.hi}
	for _, child := range n.Children() {
		if c, ok := intervalOf(child.Span()).clip(own); ok {
			s.children = append(s.children, clippedChild{child, c})
		}
	}
	slices.SortFunc(s.children, func(a, b clippedChild) int {
		return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo), cmp.Compare(b.node.Index(), a.node.Index()))
	})
	return s
}

// step looks at the child of the span at hand that ends last.
func (p *pathFinder) step() {
	s := &p.stack[len(p.stack)-1]
	last := len(s.children) - 1
	if last < 0 {
		p.emit(s.node, s.lo, s.at)
		p.stack = p.stack[:len(p.stack)-1]
		return
	}
	child := s.children[last]
	s.children = s.children[:last]
	if child.hi > s.at {
		return // others were waited for meanwhile
	}
	p.emit(s.node, child.hi, s.at)
	s.at = child.lo
	p.stack = append(p.stack, newPathStep(child.node, child.interval))
}

func (p *pathFinder) emit(n *traces.Node, from, to uint64) {
	if from < to {
		p.segments = append(p.segments, Segment{Node: n, From: from, To: to})
	}
}
