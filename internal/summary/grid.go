package summary

// Columns is the number of columns of a timeline.
const Columns = 120

// Timeline is how columns lie in time: column i is what happened from
// Start + i*Width on for Width nanoseconds.
type Timeline struct {
	Start, Width uint64
	Columns      int // 0: no time is known
}

// grid adds up the time that spans were at work in columns of time. The columns
// of all rows lie alike, on multiples of their width; when a span comes that
// does not fit, the width doubles and neighbors are added up, so that no span
// has to be kept. (Numbers of spans could not be added up so: a long span is in
// both neighbors.)
type grid struct {
	width    uint64 // a power of two; 0: nothing was added
	first    uint64 // number of the first column since 1970
	min, max uint64 // times seen
	rows     []*row
}

type row struct{ busy [Columns]uint64 } // nanoseconds

func (g *grid) newRow() *row {
	r := &row{}
	g.rows = append(g.rows, r)
	return r
}

func (g *grid) add(r *row, start, end uint64) {
	if start == 0 && end == 0 {
		return
	}
	if start == 0 {
		start = end
	}
	end = max(end, start)
	g.fit(start, end)
	for c := start / g.width; c <= end/g.width; c++ {
		lo, last := max(start, c*g.width), c*g.width+g.width-1
		busy := min(end, last) - lo
		if end > last {
			busy++
		}
		// At least one, so that a span without length shows.
		cell := &r.busy[c-g.first]
		if sum := *cell + max(busy, 1); sum > *cell {
			*cell = sum
		}
	}
}

// fit makes the columns reach from start to end.
func (g *grid) fit(start, end uint64) {
	if g.width == 0 {
		g.width, g.min, g.max = 1, start, end
		for end/g.width-start/g.width >= Columns {
			g.width *= 2
		}
		g.first = start / g.width
		return
	}
	g.min, g.max = min(g.min, start), max(g.max, end)
	for g.max/g.width-g.min/g.width >= Columns {
		g.halve()
	}
	if lo := g.min / g.width; lo < g.first {
		g.shift(g.first - lo)
	} else if g.max/g.width-g.first >= Columns {
		g.unshift(lo - g.first)
	}
}

// halve doubles the width.
func (g *grid) halve() {
	odd := g.first % 2
	for _, r := range g.rows {
		var wide [Columns]uint64
		for i, n := range r.busy {
			wide[(uint64(i)+odd)/2] += n
		}
		r.busy = wide
	}
	g.first /= 2
	g.width *= 2
}

// shift makes room for n columns before the first.
func (g *grid) shift(n uint64) {
	for _, r := range g.rows {
		var moved [Columns]uint64
		for i := n; i < Columns; i++ {
			moved[i] = r.busy[i-n]
		}
		r.busy = moved
	}
	g.first -= n
}

// unshift drops n empty columns at the beginning.
func (g *grid) unshift(n uint64) {
	for _, r := range g.rows {
		var moved [Columns]uint64
		copy(moved[:], r.busy[n:])
		r.busy = moved
	}
	g.first += n
}

func (g *grid) timeline() Timeline {
	if g.width == 0 {
		return Timeline{}
	}
	lo, hi := g.min/g.width, g.max/g.width
	return Timeline{Start: lo * g.width, Width: g.width, Columns: int(hi - lo + 1)} //nolint:gosec // at most Columns
}

func (g *grid) columns(r *row) []uint64 {
	t := g.timeline()
	if t.Columns == 0 {
		return nil
	}
	from := t.Start/g.width - g.first
	return append([]uint64(nil), r.busy[from:from+uint64(t.Columns)]...) //nolint:gosec // at most Columns
}
