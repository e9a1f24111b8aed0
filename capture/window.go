package capture

import (
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// window is the spans of one capture while it runs.
type window struct {
	mu      sync.Mutex
	max     int
	closed  bool
	dropped int
	spans   []sdktrace.ReadOnlySpan // in the order of their starts; those that run are live
	open    map[trace.SpanID]int    // index of the spans that have not ended
}

// newWindow begins with the root, which has started already. root is nil when
// the provider hides it; its end will come all the same.
func newWindow(maxSpans int, id trace.SpanID, root sdktrace.ReadOnlySpan) *window {
	return &window{max: maxSpans, spans: []sdktrace.ReadOnlySpan{root}, open: map[trace.SpanID]int{id: 0}}
}

func (w *window) start(s sdktrace.ReadWriteSpan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
	case len(w.spans) >= w.max:
		w.dropped++
	default:
		w.open[s.SpanContext().SpanID()] = len(w.spans)
		w.spans = append(w.spans, s)
	}
}

// end reports false when the window is closed. A span that is not known had no
// room when it started.
func (w *window) end(s sdktrace.ReadOnlySpan) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	id := s.SpanContext().SpanID()
	if i, ok := w.open[id]; ok {
		w.spans[i] = s
		delete(w.open, id)
	}
	return true
}

// close ends the window and hands over what it has.
func (w *window) close() (spans []sdktrace.ReadOnlySpan, dropped int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	spans, w.spans, w.open = w.spans, nil, nil
	return spans, w.dropped
}
