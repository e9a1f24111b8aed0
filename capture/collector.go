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
	open  atomic.Int64                             // windows
	known atomic.Pointer[map[trace.TraceID]*watch] // never changed, only replaced; nil: none

	mu   sync.Mutex // of whoever replaces known
	past []trace.TraceID
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
	if known := c.known.Load(); known != nil {
		return (*known)[id]
	}
	return nil
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
	if w := c.find(id); w == nil || w.late != late || w.window != nil {
		return
	}
	c.replace(func(known map[trace.TraceID]*watch) { delete(known, id) })
}

// replace changes a copy, so that spans look their trace up without a lock.
func (c *collector) replace(change func(map[trace.TraceID]*watch)) {
	known := map[trace.TraceID]*watch{}
	if old := c.known.Load(); old != nil {
		known = maps.Clone(*old)
	}
	change(known)
	if len(known) == 0 {
		c.known.Store(nil)
		return
	}
	c.known.Store(&known)
}
