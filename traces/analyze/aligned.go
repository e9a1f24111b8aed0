package analyze

import (
	"github.com/waymark-trace/waymark/traces"
)

// AlignedRow is a call path in two traces: the spans of one shape below the spans of the row above it.
type AlignedRow struct {
	Depth   int      `json:"depth"`
	Service string   `json:"service"`
	Shape   string   `json:"shape"`
	Before  SpanSide `json:"before"`
	After   SpanSide `json:"after"`
	Change  int64    `json:"change_nano"`
}

// SpanSide is the spans of a call path in one trace.
type SpanSide struct {
	Count    int   `json:"count"`
	Duration int64 `json:"duration_nano"` // of all together
	Self     int64 `json:"self_nano"`
}

// Align puts two traces beside each other by their call paths, depth first, in the order of the first one.
func Align(before, after *traces.Trace) []AlignedRow {
	var rows []AlignedRow
	stack := pairs(before.Roots(), after.Roots(), 0)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		row := AlignedRow{Depth: p.depth, Service: p.key.service, Shape: p.key.shape.Text, Before: sideOf(p.before), After: sideOf(p.after)}
		row.Change = row.After.Duration - row.Before.Duration
		rows = append(rows, row)
		stack = append(stack, pairs(childrenOf(p.before), childrenOf(p.after), p.depth+1)...)
	}
	return rows
}

// pair is spans of one shape in both traces.
type pair struct {
	key           pairKey
	before, after []*traces.Node
	depth         int
}

type pairKey struct {
	service string
	shape   Shape
}

// pairs groups spans by their shapes; the last group comes first, as a stack wants it.
func pairs(before, after []*traces.Node, depth int) []pair {
	at := map[pairKey]int{}
	var list []pair
	group := func(n *traces.Node) *pair {
		key := pairKey{n.Span().Service(), ShapeOf(n.Span())}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key] = i
			list = append(list, pair{key: key, depth: depth})
		}
		return &list[i]
	}
	for _, n := range before {
		p := group(n)
		p.before = append(p.before, n)
	}
	for _, n := range after {
		p := group(n)
		p.after = append(p.after, n)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func childrenOf(nodes []*traces.Node) (list []*traces.Node) {
	for _, n := range nodes {
		list = append(list, n.Children()...)
	}
	return list
}

func sideOf(nodes []*traces.Node) SpanSide {
	s := SpanSide{Count: len(nodes)}
	for _, n := range nodes {
		s.Duration += int64(max(n.Span().Duration(), 0))
		s.Self += int64(SelfTime(n))
	}
	return s
}
