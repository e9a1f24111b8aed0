package summary

import (
	"hash/maphash"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// MaxDepth is the depth from which on spans are counted together.
const MaxDepth = 64

// depths finds the depths of spans that come in any order without keeping
// them: a span and its parent are two hashes of their ids. The seed is random,
// so that no file can be made in which two ids collide; by chance two of a
// million spans do so once in 18 million files.
type depths struct {
	seed    maphash.Seed
	key     []uint64 // of each span; 0: a span that cannot be a parent
	parent  []uint64 // 0: none
	counted []bool
}

func newDepths() *depths { return &depths{seed: maphash.MakeSeed()} }

type spanKey struct {
	trace traces.TraceID
	span  traces.SpanID
}

func (d *depths) hash(trace traces.TraceID, span traces.SpanID) uint64 {
	if span.IsZero() {
		return 0
	}
	return maphash.Comparable(d.seed, spanKey{trace, span}) | 1
}

func (d *depths) add(span *traces.Span, counted bool) {
	key, parent := d.hash(span.TraceID, span.SpanID), d.hash(span.TraceID, span.ParentID)
	if parent == key {
		parent = 0 // its own parent: a circle, cut here
	}
	d.key = append(d.key, key)
	d.parent = append(d.parent, parent)
	d.counted = append(d.counted, counted)
}

const (
	unknown = -1
	onPath  = -2
)

// counts is the number of spans at each depth. As in [traces.NewSet] a span
// whose parent is not there has depth 0, of spans with the same ids the first
// is the parent, and a circle of parents is cut; where, does not matter to a
// count by much.
func (d *depths) counts() []uint64 {
	index := d.index()
	depth := make([]int32, len(d.key))
	for i := range depth {
		depth[i] = unknown
	}
	var counts []uint64
	var path []int32
	for i := range d.key {
		path = d.walk(int32(i), index, depth, path[:0]) // two billion spans do not fit into memory
		if !d.counted[i] {
			continue
		}
		at := min(int(depth[i]), MaxDepth)
		for len(counts) <= at {
			counts = append(counts, 0)
		}
		counts[at]++
	}
	return counts
}

// index is an open table from keys to spans, half empty: a map takes three
// times the memory.
func (d *depths) index() []int32 {
	size := 1
	for size < 2*len(d.key) {
		size *= 2
	}
	table := make([]int32, size)
	for i, k := range d.key {
		if k == 0 {
			continue
		}
		at := slot(k, size)
		for table[at] != 0 && d.key[table[at]-1] != k {
			at = (at + 1) & (size - 1)
		}
		if table[at] == 0 {
			table[at] = int32(i) + 1
		}
	}
	return table
}

func slot(key uint64, size int) int { return int(key>>1) & (size - 1) }

func (d *depths) find(key uint64, table []int32) int32 {
	if key == 0 {
		return -1
	}
	at := slot(key, len(table))
	for table[at] != 0 {
		if i := table[at] - 1; d.key[i] == key {
			return i
		}
		at = (at + 1) & (len(table) - 1)
	}
	return -1
}

// walk goes up from span i to one whose depth is known, and comes back down.
func (d *depths) walk(i int32, index, depth, path []int32) []int32 {
	for depth[i] == unknown {
		depth[i] = onPath
		path = append(path, i)
		up := d.find(d.parent[i], index)
		if up < 0 || depth[up] == onPath {
			depth[i] = 0
			path = path[:len(path)-1]
			break
		}
		i = up
	}
	at := depth[i]
	for _, below := range slices.Backward(path) {
		at++
		depth[below] = at
	}
	return path
}
