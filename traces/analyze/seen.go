package analyze

import "github.com/waymark-trace/waymark/traces"

// Seen notes which of the keys in a query occur, so that a mistyped one can be told. It serves one goroutine; make one
// with [Query.Watch].
type Seen struct {
	keys    []string // that did not occur yet
	watched int
}

// Watch returns a watcher of the query's keys.
func (q Query) Watch() *Seen {
	s := &Seen{}
	for _, t := range q.terms {
		if _, known := fieldOf(&traces.Span{}, t.key); !known && t.key != "" && t.key != keyDuration && !t.ofTrace() {
			s.keys = append(s.keys, t.key)
		}
	}
	return s
}

// Add looks for the keys in a span.
func (s *Seen) Add(span *traces.Span) {
	s.watched++
	for i := 0; i < len(s.keys); i++ {
		if _, ok := AttributeOf(span, s.keys[i]); ok {
			s.keys = append(s.keys[:i], s.keys[i+1:]...)
			i--
		}
	}
}

// Unseen returns the keys that none of the spans has; nil when there were no spans.
func (s *Seen) Unseen() []string {
	if s.watched == 0 {
		return nil
	}
	return s.keys
}
