package analyze

import "github.com/waymark-trace/waymark/traces"

// interval is a time from lo up to hi, in Unix nanoseconds. It is never negative.
type interval struct{ lo, hi uint64 }

func (i interval) length() uint64 { return i.hi - i.lo }

// intervalOf is the time that a span says it took. One that is open, does not know its start, or ends before it starts
// takes none.
func intervalOf(span *traces.Span) interval {
	if span.StartUnixNano == 0 {
		return interval{span.EndUnixNano, span.EndUnixNano}
	}
	return interval{span.StartUnixNano, max(span.StartUnixNano, span.EndUnixNano)}
}

// clip is the part of i that lies in o, and whether there is any.
func (i interval) clip(o interval) (interval, bool) {
	c := interval{max(i.lo, o.lo), min(i.hi, o.hi)}
	if c.lo >= c.hi {
		return interval{}, false
	}
	return c, true
}
