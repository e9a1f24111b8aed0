package analyze

import (
	"math"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// SelfTime returns the time of a span in which none of its children was at work: its duration less the union of its
// children's intervals, each clipped to the span's. It is zero for a span whose duration is not known or negative.
func SelfTime(n *traces.Node) time.Duration {
	own := intervalOf(n.Span())
	self, at := own.length(), own.lo     // at is up to where children are taken off
	for _, child := range n.Children() { // sorted by start
		c, ok := intervalOf(child.Span()).clip(own)
		if !ok || c.hi <= at {
			continue
		}
		self -= c.hi - max(c.lo, at)
		at = c.hi
	}
	return duration(self)
}

// duration is nanoseconds as a time.Duration, the largest for those that are more.
func duration(nano uint64) time.Duration { return time.Duration(min(nano, math.MaxInt64)) }
