package analyze

import "slices"

// Bucket is a part of the time, and the requests that started in it.
type Bucket struct {
	From   uint64 `json:"from_unix_nano"`
	To     uint64 `json:"to_unix_nano"` // not in it
	Count  int    `json:"count"`
	Failed int    `json:"failed"`
	Spans  int    `json:"spans"` // all of them, not requests alone
}

// Rates is how many requests started when.
type Rates struct {
	Buckets []Bucket `json:"buckets"`
	// Peak is the second in which the most spans started, and PeakRequests that of the most requests; counted from the
	// first start on.
	Peak         Bucket `json:"peak"`
	PeakRequests Bucket `json:"peak_requests"`
}

const second = uint64(1e9)

// Rates counts the chosen spans of a window in n buckets of equal length, from the first start to the last. Fewer than n
// are returned when the time is shorter than n nanoseconds.
func (ix *Index) Rates(n int, w Window) Rates {
	ix.link()
	var span extent
	ix.each(w, func(e *entry) { span.add(e.start, e.start) })
	if span.from == 0 {
		return Rates{}
	}
	length := span.to - span.from + 1
	step := (length + uint64(n) - 1) / uint64(n) //nolint:gosec // not negative
	r := Rates{Buckets: fill(span.from, step, (length+step-1)/step)}
	seconds := map[uint64]*Bucket{}
	ix.each(w, func(e *entry) {
		r.Buckets[(e.start-span.from)/step].add(e)
		at := (e.start - span.from) / second
		b := seconds[at]
		if b == nil {
			b = &Bucket{From: span.from + at*second, To: span.from + (at+1)*second}
			seconds[at] = b
		}
		b.add(e)
	})
	for _, b := range seconds {
		if b.Spans > r.Peak.Spans || b.Spans == r.Peak.Spans && b.From < r.Peak.From {
			r.Peak = *b
		}
		if b.Count > r.PeakRequests.Count || b.Count == r.PeakRequests.Count && b.From < r.PeakRequests.From {
			r.PeakRequests = *b
		}
	}
	return r
}

func fill(from, step, n uint64) []Bucket {
	list := make([]Bucket, n)
	for i := range list {
		list[i].From = from + uint64(i)*step
		list[i].To = list[i].From + step
	}
	return slices.Clip(list)
}

// each calls f with the chosen spans of a window whose start is known.
func (ix *Index) each(w Window, f func(*entry)) {
	for i := range int32(ix.n) { //nolint:gosec // two billion spans do not fit into memory
		if e := ix.at(i); e.flags&isChosen != 0 && e.start > 0 && w.Holds(e.start) {
			f(e)
		}
	}
}

func (b *Bucket) add(e *entry) {
	b.Spans++
	if e.flags&isRequest == 0 {
		return
	}
	b.Count++
	if e.flags&isFailed != 0 {
		b.Failed++
	}
}
