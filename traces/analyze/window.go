package analyze

import "time"

// Window is a span of time in Unix nanoseconds: from From up to To, which is not in it. Zero is without a bound.
type Window struct{ From, To uint64 }

// Holds reports whether what starts at an instant is in the window.
func (w Window) Holds(start uint64) bool { return start >= w.From && (w.To == 0 || start < w.To) }

// extent is the time from the first start to the last end.
type extent struct{ from, to uint64 }

func (e *extent) add(from, to uint64) {
	if from == 0 {
		return
	}
	if e.from == 0 || from < e.from {
		e.from = from
	}
	e.to = max(e.to, from, to)
}

// seconds is the length of the extent, at least one.
func (e extent) seconds() float64 {
	return max(float64(e.to-e.from)/float64(time.Second), 1)
}
