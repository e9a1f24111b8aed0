package traces

import (
	"cmp"
	"slices"
)

// Set is spans grouped into traces. It does not change after [NewSet] and is
// safe for concurrent use.
type Set struct {
	traces  []*Trace
	byTrace map[TraceID]*Trace
	roots   []*Node
	nodes   []Node // in input order
	byID    map[spanKey]int32
	halves  map[spanKey]int32 // the other half of a call, where byID has one
}

type spanKey struct {
	trace TraceID
	span  SpanID
}

// Trace is the spans of one trace ID. A file may hold parts of a trace only, so
// a trace may have several roots.
type Trace struct {
	id    TraceID
	roots []*Node
	order []*Node // depth first
}

// Node is a span at its place in the tree.
type Node struct {
	span     *Span
	trace    *Trace
	parent   *Node
	children []*Node
	depth    int32
	index    int32
	marks    Mark
}

// Mark is what is unusual about the place of a span. Marks are bits.
type Mark uint8

const (
	// Orphan says that the span names a parent which is not in the set. It
	// stands among the roots. A server span whose caller wrote elsewhere is an
	// orphan too, and healthy.
	Orphan Mark = 1 << iota
	// Duplicate says that an earlier span of the set has the same trace ID and
	// span ID. Both are kept; the children are the earlier one's. The client's and
	// the server's half of a call, which have the same IDs in Zipkin, are none.
	Duplicate
	// Cycle says that following the parents from this span led back to it. The
	// cycle is cut here, at its earliest span, which stands among the roots.
	Cycle
)

// NewSet builds the trees. The spans stay the caller's, but must not change any
// more; nil ones are passed over. Each other span is in exactly one place of
// exactly one trace, whatever its ids say:
//
//   - a span whose parent is not in the set is a root, marked [Orphan];
//   - of spans with the same ids the first has the children, the others are
//     marked [Duplicate]; spans with the zero ID are nobody's parent and never
//     duplicates;
//   - a client and a server span with the same ids are the halves of one call, as
//     Zipkin shares them: the server's is a child of the client's, and the children
//     are the server's but for those that only the client's service can have made;
//   - parents in a circle are cut once, before the earliest span: see [Cycle].
//
// Siblings and roots are sorted by start, an unknown one first; where they
// start together, they stay in the order of spans. The same spans in the same
// order give the same set. Depth is bounded by memory, not by the stack.
func NewSet(spans []*Span) *Set {
	s := &Set{nodes: make([]Node, 0, len(spans)), byID: make(map[spanKey]int32, len(spans))}
	for _, span := range spans {
		if span != nil {
			s.add(span)
		}
	}
	s.link()
	s.cut()
	s.hang()
	s.group()
	return s
}

func (s *Set) add(span *Span) {
	n := Node{span: span, index: int32(len(s.nodes))} //nolint:gosec // two billion spans do not fit into memory
	if !span.SpanID.IsZero() {
		key := spanKey{span.TraceID, span.SpanID}
		if first, ok := s.byID[key]; !ok {
			s.byID[key] = n.index
		} else if !s.addHalf(key, first, n) {
			n.marks |= Duplicate
		}
	}
	s.nodes = append(s.nodes, n)
}

// addHalf takes a node as the other half of the call that the first one with its
// ids is a half of, and reports whether it is.
func (s *Set) addHalf(key spanKey, first int32, n Node) bool {
	a, b := s.nodes[first].span.Kind, n.span.Kind
	if a != KindClient || b != KindServer {
		a, b = b, a
	}
	if _, taken := s.halves[key]; taken || a != KindClient || b != KindServer {
		return false
	}
	if s.halves == nil {
		s.halves = map[spanKey]int32{}
	}
	s.halves[key] = n.index
	return true
}

// call returns the halves of a call, or nil and nil.
func (s *Set) call(key spanKey) (client, server *Node) {
	other, ok := s.halves[key]
	if !ok {
		return nil, nil
	}
	client, server = &s.nodes[s.byID[key]], &s.nodes[other]
	if client.span.Kind == KindServer {
		client, server = server, client
	}
	return client, server
}

// link finds the parents.
func (s *Set) link() {
	for i := range s.nodes {
		n := &s.nodes[i]
		if client, server := s.call(spanKey{n.span.TraceID, n.span.SpanID}); n == server {
			n.parent = client
			continue
		}
		parent := n.span.ParentID
		if parent.IsZero() {
			continue
		}
		if parent == n.span.SpanID {
			n.marks |= Cycle
			continue
		}
		if n.parent = s.parentOf(n); n.parent == nil {
			n.marks |= Orphan
		}
	}
}

// parentOf returns the node that a node names as its parent, or nil.
func (s *Set) parentOf(n *Node) *Node {
	key := spanKey{n.span.TraceID, n.span.ParentID}
	client, server := s.call(key)
	if client != nil {
		if of := n.span.Service(); of == client.span.Service() && of != server.span.Service() {
			return client
		}
		return server
	}
	if at, ok := s.byID[key]; ok {
		return &s.nodes[at]
	}
	return nil
}

// cut breaks cycles. A node has one parent at most, so each walk upwards that
// meets itself has found one cycle, and no node is walked over twice.
func (s *Set) cut() {
	walk := make([]int32, len(s.nodes)) // 0: not seen; else the number of the walk that saw it
	for i := range s.nodes {
		number := int32(i) + 1
		n := &s.nodes[i]
		for n != nil && walk[n.index] == 0 {
			walk[n.index] = number
			n = n.parent
		}
		if n == nil || walk[n.index] != number {
			continue
		}
		first := n
		for m := n.parent; m != n; m = m.parent {
			if byStart(m, first) < 0 {
				first = m
			}
		}
		first.parent = nil
		first.marks |= Cycle
	}
}

func byStart(a, b *Node) int {
	if c := cmp.Compare(a.span.StartUnixNano, b.span.StartUnixNano); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

// hang sorts all nodes once and hands out children and roots in that order. The
// lists of children share one array.
func (s *Set) hang() {
	sorted := make([]*Node, len(s.nodes))
	counts := make([]int32, len(s.nodes))
	for i := range s.nodes {
		sorted[i] = &s.nodes[i]
		if p := s.nodes[i].parent; p != nil {
			counts[p.index]++
		}
	}
	slices.SortFunc(sorted, byStart)
	all := make([]*Node, 0, len(s.nodes))
	for i, c := range counts {
		if c > 0 {
			end := len(all) + int(c)
			s.nodes[i].children = all[len(all):len(all):end]
			all = all[:end]
		}
	}
	for _, n := range sorted {
		if n.parent == nil {
			s.roots = append(s.roots, n)
		} else {
			n.parent.children = append(n.parent.children, n)
		}
	}
}

// group makes the traces, in the order of their earliest root, and walks each
// of them depth first.
func (s *Set) group() {
	s.byTrace = map[TraceID]*Trace{}
	for _, r := range s.roots {
		t := s.byTrace[r.span.TraceID]
		if t == nil {
			t = &Trace{id: r.span.TraceID}
			s.byTrace[t.id] = t
			s.traces = append(s.traces, t)
		}
		t.roots = append(t.roots, r)
	}
	for _, t := range s.traces {
		t.walk()
	}
}

func (t *Trace) walk() {
	stack := slices.Clone(t.roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n.trace = t
		if n.parent != nil {
			n.depth = n.parent.depth + 1
		}
		t.order = append(t.order, n)
		for _, c := range slices.Backward(n.children) {
			stack = append(stack, c)
		}
	}
}
