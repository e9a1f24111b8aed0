package capture

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maxPast is how many captures that are over a collector remembers, to count
// their late spans: a trace ID and a counter each.
const maxPast = 64

// collector is the span processor that captures share, one per provider. While
// no window is open it looks at one number per call.
type collector struct {
	open  atomic.Int64             // windows
	known atomic.Pointer[watchers] // never changed, only replaced; nil: none

	mu   sync.Mutex // of whoever replaces known
	past []trace.TraceID
}

// watchers are the trace IDs that a collector knows. Before the map stands a
// filter, since nearly every span is of none of them.
type watchers struct {
	filter [32]uint64
	byID   map[trace.TraceID]*watch
}

// bit is the place of a trace ID in the filter. The last bytes are random in every
// version of trace IDs, or count.
func bit(id trace.TraceID) (word int, mask uint64) {
	return int(id[14] & 31), 1 << (id[15] & 63)
}

// watch is what a collector knows of a trace ID.
type watch struct {
	window *window // nil when the capture is over
	late   *atomic.Int64
}

var _ sdktrace.SpanProcessor = (*collector)(nil)

// OnStart keeps a span that starts inside a window.
func (c *collector) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if c.open.Load() == 0 {
		return
	}
	if w := c.find(s.SpanContext().TraceID()); w != nil && w.window != nil {
		w.window.start(s)
	}
}

// OnEnd keeps the final state of a span in its window, or counts it as late.
func (c *collector) OnEnd(s sdktrace.ReadOnlySpan) {
	if c.known.Load() == nil {
		return
	}
	w := c.find(s.SpanContext().TraceID())
	if w == nil {
		return
	}
	if w.window == nil || !w.window.end(s) {
		w.late.Add(1)
	}
}

// ForceFlush does nothing: there is nothing to flush.
func (*collector) ForceFlush(context.Context) error { return nil }

// Shutdown forgets all windows. What they have collected is still their
// captures'.
func (c *collector) Shutdown(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Store(nil)
	c.open.Store(0)
	c.past = nil
	return nil
}

func (c *collector) find(id trace.TraceID) *watch {
	known := c.known.Load()
	if known == nil {
		return nil
	}
	if word, mask := bit(id); known.filter[word]&mask == 0 {
		return nil
	}
	return known.byID[id]
}

// begin opens a window for a trace ID. It changes nothing and reports false when
// there is one already.
func (c *collector) begin(id trace.TraceID, w *window, late *atomic.Int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.find(id); old != nil && old.window != nil {
		return false
	}
	c.replace(func(known map[trace.TraceID]*watch) { known[id] = &watch{w, late} })
	c.open.Add(1)
	return true
}

// end closes the window of a trace ID, of which only a counter stays, and that
// until as many other captures have ended or [collector.forget].
func (c *collector) end(id trace.TraceID, late *atomic.Int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.find(id); w == nil || w.late != late || w.window == nil {
		return // shut down in between
	}
	c.past = append(c.past, id)
	c.replace(func(known map[trace.TraceID]*watch) {
		known[id] = &watch{late: late}
		if len(c.past) > maxPast {
			if w := known[c.past[0]]; w != nil && w.window == nil {
				delete(known, c.past[0])
			}
			c.past = c.past[1:]
		}
	})
	c.open.Add(-1)
}

// forget removes the counter of a capture whose result is gone.
func (c *collector) forget(id trace.TraceID, late *atomic.Int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.find(id); w == nil || w.late != late {
		return // it is another capture's
	}
	c.replace(func(known map[trace.TraceID]*watch) { delete(known, id) })
}

// replace changes a copy, so that spans look their trace up without a lock.
func (c *collector) replace(change func(map[trace.TraceID]*watch)) {
	next := &watchers{byID: map[trace.TraceID]*watch{}}
	if old := c.known.Load(); old != nil {
		next.byID = maps.Clone(old.byID)
	}
	change(next.byID)
	if len(next.byID) == 0 {
		c.known.Store(nil)
		return
	}
	for id := range next.byID {
		word, mask := bit(id)
		next.filter[word] |= mask
	}
	c.known.Store(next)
}
