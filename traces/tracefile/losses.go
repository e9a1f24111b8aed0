package tracefile

import (
	"fmt"

	"github.com/waymark-trace/waymark/traces"
)

// The bounds of [Losses].
const (
	maxLosses     = 1000
	maxLossCounts = 200
)

// Losses is the account of what a format could not hold.
type Losses struct {
	Spans  int64       // written
	Total  int64       // losses, all of them
	List   []Loss      // the first 1000
	Counts []LossCount // by key and kind; the first 200 of them
}

// Loss is one thing of one span that the format could not hold. What concerns a
// resource or scope is told once, with its first span.
type Loss struct {
	TraceID traces.TraceID
	SpanID  traces.SpanID
	Key     string // a path like "attributes.http.route", "startTimeUnixNano", "resource.schemaUrl"
	What    string // what became of it, like "int written as string"
}

// String is the loss as one line.
func (l Loss) String() string {
	return fmt.Sprintf("%x/%x: %s: %s", l.TraceID[:], l.SpanID[:], l.Key, l.What)
}

// LossCount counts losses of a kind.
type LossCount struct {
	Key, What string
	Count     int64
}

// losses collects while writing.
type losses struct {
	Losses
	present *traces.Span
	index   map[LossCount]int
	once    map[topicOf]bool
}

func (l *losses) begin(sp *traces.Span) {
	l.present = sp
	l.Spans++
}

func (l *losses) add(key, what string) {
	l.Total++
	if len(l.List) < maxLosses {
		l.List = append(l.List, Loss{TraceID: l.present.TraceID, SpanID: l.present.SpanID, Key: key, What: what})
	}
	k := LossCount{Key: key, What: what}
	if i, ok := l.index[k]; ok {
		l.Counts[i].Count++
		return
	}
	if len(l.Counts) >= maxLossCounts {
		return
	}
	if l.index == nil {
		l.index = map[LossCount]int{}
	}
	l.index[k] = len(l.Counts)
	l.Counts = append(l.Counts, LossCount{Key: key, What: what, Count: 1})
}

// The words of [Loss.What] that come again.
const (
	whatLeftOut  = "left out"
	whatReplaced = "invalid UTF-8 replaced"
	whatReserved = "key has a meaning of its own in this format"
)

// leftOut notes a number or text that is not written, when there is one.
func leftOut[T comparable](l *losses, key string, v T) {
	var zero T
	if v != zero {
		l.add(key, whatLeftOut)
	}
}

// topicOf is a resource or scope, and the part of what there is to tell of it.
type topicOf struct {
	topic string
	of    any
}

// first says whether a topic of a resource or scope comes for the first time.
// The memory is bounded: past it, a topic may come again.
func (l *losses) first(topic string, of any) bool {
	k := topicOf{topic: topic, of: of}
	if l.once[k] {
		return false
	}
	if l.once == nil || len(l.once) > maxShared {
		l.once = map[topicOf]bool{}
	}
	l.once[k] = true
	return true
}
