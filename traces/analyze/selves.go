package analyze

import (
	"cmp"
	"slices"
)

// selves are the self times of all spans, by their numbers: [SelfTime] without a set.
func (ix *Index) selves() []uint64 {
	self := make([]uint64, ix.n)
	children := make([]int32, 0, ix.n)
	for i := range int32(ix.n) { //nolint:gosec // two billion spans do not fit into memory
		e := ix.at(i)
		self[i] = e.interval().length()
		if e.up >= 0 {
			children = append(children, i)
		}
	}
	slices.SortFunc(children, func(a, b int32) int {
		x, y := ix.at(a), ix.at(b)
		return cmp.Or(cmp.Compare(x.up, y.up), cmp.Compare(x.start, y.start))
	})
	at, parent := uint64(0), int32(-1) // up to where the children of a parent are taken off
	for _, i := range children {
		e := ix.at(i)
		own := ix.at(e.up).interval()
		if e.up != parent {
			parent, at = e.up, own.lo
		}
		c, ok := e.interval().clip(own)
		if !ok || c.hi <= at {
			continue
		}
		self[parent] -= c.hi - max(c.lo, at)
		at = c.hi
	}
	return self
}

// interval is [intervalOf] of the span.
func (e *entry) interval() interval {
	if e.start == 0 {
		return interval{e.end, e.end}
	}
	return interval{e.start, max(e.start, e.end)}
}
