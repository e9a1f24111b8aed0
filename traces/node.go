package traces

import (
	"iter"
	"slices"
)

// Len returns the number of spans.
func (s *Set) Len() int { return len(s.nodes) }

// Traces returns the traces, sorted by the start of their earliest root. The
// slice is the set's and must not be changed.
func (s *Set) Traces() []*Trace { return s.traces }

// Trace returns the trace of an ID, or nil.
func (s *Set) Trace(id TraceID) *Trace { return s.byTrace[id] }

// Roots returns the roots of all traces, sorted by start. The slice is the
// set's and must not be changed.
func (s *Set) Roots() []*Node { return s.roots }

// All yields every span: trace after trace, depth first, parents before their
// children.
func (s *Set) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, t := range s.traces {
			for _, n := range t.order {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// Find returns the span of these ids, the first one if several have them, or
// nil.
func (s *Set) Find(trace TraceID, span SpanID) *Node {
	at, ok := s.byID[spanKey{trace, span}]
	if !ok {
		return nil
	}
	return &s.nodes[at]
}

// Bounds returns the earliest start and the latest end of all spans in Unix
// nanoseconds, passing over times that are not known, and whether there is any
// time at all. An open span's start, and the end of a span without a start,
// count for both.
func (s *Set) Bounds() (start, end uint64, ok bool) {
	return bounds(s.All())
}

// ID returns the trace's ID.
func (t *Trace) ID() TraceID { return t.id }

// Len returns the number of the trace's spans.
func (t *Trace) Len() int { return len(t.order) }

// Roots returns the trace's roots, sorted by start. The slice is the trace's
// and must not be changed.
func (t *Trace) Roots() []*Node { return t.roots }

// All yields the trace's spans depth first, parents before their children,
// siblings by start.
func (t *Trace) All() iter.Seq[*Node] { return slices.Values(t.order) }

// Bounds is [Set.Bounds] of one trace.
func (t *Trace) Bounds() (start, end uint64, ok bool) { return bounds(t.All()) }

func bounds(nodes iter.Seq[*Node]) (start, end uint64, ok bool) {
	for n := range nodes {
		for _, at := range [2]uint64{n.span.StartUnixNano, n.span.EndUnixNano} {
			if at == 0 {
				continue
			}
			if !ok {
				start, end, ok = at, at, true
			}
			start, end = min(start, at), max(end, at)
		}
	}
	return start, end, ok
}

// Span returns the span; never nil.
func (n *Node) Span() *Span { return n.span }

// Trace returns the trace that the node is in; never nil.
func (n *Node) Trace() *Trace { return n.trace }

// Parent returns the parent in the tree, or nil for a root.
func (n *Node) Parent() *Node { return n.parent }

// Children returns the children, sorted by start. The slice is the node's and
// must not be changed.
func (n *Node) Children() []*Node { return n.children }

// Depth returns the number of the node's ancestors: zero for a root.
func (n *Node) Depth() int { return int(n.depth) }

// Index returns the place of the span among those given to [NewSet], not
// counting nil ones.
func (n *Node) Index() int { return int(n.index) }

// Is reports whether the node has the mark.
func (n *Node) Is(m Mark) bool { return n.marks&m != 0 }

// Ancestors yields parent, grandparent and so on up to the root.
func (n *Node) Ancestors() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for p := n.parent; p != nil && yield(p); {
			p = p.parent
		}
	}
}
