package summary

import (
	"math"
	"math/bits"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// Total is what all spans have in common.
type Total struct {
	Spans, Traces, Roots uint64
	Open                 uint64 // spans without an end
	Reversed             uint64 // spans that end before they start
	Unset, OK, Failed    uint64 // by status
	Start, End           uint64 // earliest start and latest end in Unix nanoseconds; 0: no time is known
}

// Duration is the latest end minus the earliest start.
func (t Total) Duration() time.Duration {
	return (&traces.Span{StartUnixNano: t.Start, EndUnixNano: t.End}).Duration()
}

func (t *Total) add(span *traces.Span) {
	t.Spans++
	if span.ParentID.IsZero() {
		t.Roots++
	}
	switch {
	case span.Open():
		t.Open++
	case span.EndUnixNano < span.StartUnixNano:
		t.Reversed++
	}
	switch span.Status.Code {
	case traces.StatusOK:
		t.OK++
	case traces.StatusError:
		t.Failed++
	default:
		t.Unset++
	}
	for _, at := range [2]uint64{span.StartUnixNano, span.EndUnixNano} {
		if at == 0 {
			continue
		}
		if t.Start == 0 || at < t.Start {
			t.Start = at
		}
		t.End = max(t.End, at)
	}
}

// Durations is a distribution. Spans that are open, lack a start or end before
// they start are not in it.
type Durations struct {
	Count    uint64
	Sum      time.Duration // capped at the largest
	Min, Max time.Duration
	fine     []uint32 // by the exponent and the bits that follow
	steps    []uint64 // by the steps of [Durations.Histogram]
}

// subBits is how finely quantiles are known: to one part in 2^subBits.
const subBits = 6

func (d *Durations) add(span *traces.Span) {
	if span.StartUnixNano == 0 || span.EndUnixNano < span.StartUnixNano {
		return
	}
	v := span.Duration()
	if d.Count == 0 || v < d.Min {
		d.Min = v
	}
	d.Max = max(d.Max, v)
	d.Count++
	if d.Sum += v; d.Sum < 0 {
		d.Sum = math.MaxInt64
	}
	if d.fine == nil {
		d.fine = make([]uint32, fineIndex(math.MaxInt64)+1)
		d.steps = make([]uint64, maxStep+1)
	}
	d.fine[fineIndex(v)]++
	d.steps[stepOf(v)]++
}

func fineIndex(v time.Duration) int {
	n := uint64(v) //nolint:gosec // not negative
	if n < 1<<subBits {
		return int(n)
	}
	exp := bits.Len64(n) - 1 - subBits
	return exp<<subBits + int(n>>exp) //nolint:gosec // below 2^(subBits+1)
}

// fineLow is the least duration of an index.
func fineLow(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	exp := i>>subBits - 1
	return time.Duration(1<<subBits|i&(1<<subBits-1)) << exp
}

// Quantile is the duration that so large a part of the spans does not exceed,
// rounded down by at most a sixty-fourth; 0 without spans.
func (d *Durations) Quantile(q float64) time.Duration {
	rank := uint64(q*float64(d.Count) + 0.999999)
	seen := uint64(0)
	for i, n := range d.fine {
		if seen += uint64(n); n > 0 && seen >= rank {
			return min(max(fineLow(i), d.Min), d.Max)
		}
	}
	return d.Max
}

// Mean is the mean duration; 0 without spans.
func (d *Durations) Mean() time.Duration {
	if d.Count == 0 {
		return 0
	}
	return d.Sum / time.Duration(d.Count) //nolint:gosec // a count of spans
}

// Bucket is a bar of a histogram: the spans of Low and more, up to the next
// bucket's Low.
type Bucket struct {
	Low   time.Duration
	Count uint64
}

// Histogram is the distribution in steps of 1, 2 and 5, from the first to the
// last that is not empty.
func (d *Durations) Histogram() []Bucket {
	var out []Bucket
	for i, n := range d.steps {
		out = append(out, Bucket{Low: stepLow(i), Count: n})
	}
	return trim(out)
}

// maxStep is the last step: from a million seconds on.
const maxStep = 37

// stepLow is where a step begins: 0, 1 µs, 2 µs, 5 µs, 10 µs and so on.
func stepLow(i int) time.Duration {
	if i == 0 {
		return 0
	}
	micros := [3]int64{1, 2, 5}[(i-1)%3]
	for range (i - 1) / 3 {
		micros *= 10
	}
	return time.Duration(micros) * time.Microsecond
}

func stepOf(v time.Duration) int {
	i := 0
	for i < maxStep && v >= stepLow(i+1) {
		i++
	}
	return i
}

func trim(b []Bucket) []Bucket {
	for len(b) > 0 && b[0].Count == 0 {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1].Count == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// Service is what the spans of one service.name have in common.
type Service struct {
	Service string
	Spans   uint64
	Failed  uint64
	Durations
}

func (s *Service) add(span *traces.Span) {
	s.Spans++
	if span.Failed() {
		s.Failed++
	}
	s.Durations.add(span)
}

// Name is what the spans of one name have in common.
type Name struct {
	Name   string
	Spans  uint64
	Failed uint64
	Sum    time.Duration
	Max    time.Duration
	Busy   []uint64 // nanoseconds at work in each column of the timeline; of spans at the same time, all count
}

func (n *Name) add(span *traces.Span) {
	n.Spans++
	if span.Failed() {
		n.Failed++
	}
	d := max(span.Duration(), 0)
	n.Max = max(n.Max, d)
	if n.Sum += d; n.Sum < 0 {
		n.Sum = math.MaxInt64
	}
}
