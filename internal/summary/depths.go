package summary

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// MaxDepth is the depth from which on spans are counted together.
const MaxDepth = 64

// Depths finds the depths of spans that come in any order without keeping
// them: a span and its parent are two hashes of their ids. The seed is random,
// so that no file can be made in which two ids collide; by chance two of a
// million spans do so once in 18 million files. It serves one goroutine; make
// one with [NewDepths].
type Depths struct {
	seed   maphash.Seed
	key    []uint64 // of each span; 0: a span that cannot be a parent
	parent []uint64 // 0: none
	made   []origin
	origins
}

// ownParent is the parent of a span that is its own; no key is even.
const ownParent = 2

// NewDepths is without spans.
func NewDepths() *Depths { return &Depths{seed: maphash.MakeSeed()} }

type spanKey struct {
	trace traces.TraceID
	span  traces.SpanID
}

func (d *Depths) hash(trace traces.TraceID, span traces.SpanID) uint64 {
	if span.IsZero() {
		return 0
	}
	return maphash.Comparable(d.seed, spanKey{trace, span}) | 1
}

// Add adds a span.
func (d *Depths) Add(span *traces.Span) {
	key, parent := d.hash(span.TraceID, span.SpanID), d.hash(span.TraceID, span.ParentID)
	if parent == key && key != 0 {
		parent = ownParent
	}
	d.key = append(d.key, key)
	d.parent = append(d.parent, parent)
	d.made = append(d.made, d.of(span))
}

// Tree is where each span of a [Depths] stands.
type Tree struct {
	depths []int32
	marks  []traces.Mark
}

// At returns the depth and the marks of the span that was added as number i,
// from 0, as [traces.NewSet] has them.
func (t *Tree) At(i int) (depth int, marks traces.Mark) { return int(t.depths[i]), t.marks[i] }

// Tree puts the spans that were added in their places. start is when a span
// started, by which circles of parents are cut at the earliest; nil cuts them at
// the first.
func (d *Depths) Tree(start func(i int) uint64) *Tree {
	w := walker{Depths: d, start: start, Tree: &Tree{
		depths: make([]int32, len(d.key)), marks: make([]traces.Mark, len(d.key)),
	}}
	w.makeIndex()
	for i := range w.depths {
		w.depths[i] = unknown
	}
	for i := range d.key {
		w.walk(int32(i)) // two billion spans do not fit into memory
	}
	return w.Tree
}

// makeIndex makes an open table from keys to spans, half empty: a map takes three
// times the memory. The halves of calls, which share a key, are few.
func (w *walker) makeIndex() {
	size := 1
	for size < 2*len(w.key) {
		size *= 2
	}
	table := make([]int32, size)
	for i, k := range w.key {
		if k == 0 {
			continue
		}
		at := slot(k, size)
		for table[at] != 0 && w.key[table[at]-1] != k {
			at = (at + 1) & (size - 1)
		}
		if table[at] == 0 {
			table[at] = int32(i) + 1
		} else {
			w.addHalf(k, table[at]-1, int32(i))
		}
	}
	w.index = table
}

func slot(key uint64, size int) int { return int(key>>1) & (size - 1) }

const (
	unknown = -1
	onPath  = -2
)

type walker struct {
	*Depths
	*Tree
	index []int32
	calls map[uint64]call // by key
	start func(int) uint64
	path  []int32 // from the span at hand upwards
}

func (w *walker) find(key uint64) int32 {
	if key == 0 {
		return -1
	}
	at := slot(key, len(w.index))
	for w.index[at] != 0 {
		if i := w.index[at] - 1; w.key[i] == key {
			return i
		}
		at = (at + 1) & (len(w.index) - 1)
	}
	return -1
}

// walk goes up from span i to one whose depth is known, and comes back down.
func (w *walker) walk(i int32) {
	w.path = w.path[:0]
	for w.depths[i] == unknown {
		if w.key[i] != 0 && w.find(w.key[i]) != i && !w.isHalf(i) {
			w.marks[i] |= traces.Duplicate
		}
		up := w.up(i)
		if up < 0 {
			w.root(i)
			break
		}
		w.depths[i] = onPath
		w.path = append(w.path, i)
		if i = up; w.depths[i] == onPath {
			w.cut(slices.Index(w.path, i))
		}
	}
	at := w.depths[i]
	for _, below := range slices.Backward(w.path) {
		at++
		w.depths[below] = at
	}
}

func (w *walker) root(i int32) {
	w.depths[i] = 0
	switch w.parent[i] {
	case 0:
	case ownParent:
		w.marks[i] |= traces.Cycle
	default:
		w.marks[i] |= traces.Orphan
	}
}

// cut takes the circle that the path from place k on is off the path, and hangs
// its spans below the earliest.
func (w *walker) cut(k int) {
	circle := w.path[k:]
	first := 0
	for i := range circle {
		if w.earlier(circle[i], circle[first]) {
			first = i
		}
	}
	w.marks[circle[first]] |= traces.Cycle
	for depth := range circle {
		child := (first - depth + len(circle)) % len(circle)
		w.depths[circle[child]] = int32(depth)
	}
	w.path = w.path[:k]
}

func (w *walker) earlier(a, b int32) bool {
	if w.start != nil {
		if c := cmp.Compare(w.start(int(a)), w.start(int(b))); c != 0 {
			return c < 0
		}
	}
	return a < b
}
