package capturetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maxSpans bounds what a test keeps.
const maxSpans = 100_000

// patience is how long a test waits for spans to end.
const patience = 30 * time.Second

// recorder keeps every span of a provider, whatever trace it is of.
type recorder struct {
	mu      sync.Mutex
	most    int                     // spans that are kept
	dropped int                     // spans past that
	spans   []sdktrace.ReadOnlySpan // in the order of their starts
	open    map[trace.SpanID]opened
	waiting chan struct{} // closed when a span ends; nil: nobody waits
}

// opened is a span that has not ended.
type opened struct {
	index int
	at    string
}

var _ sdktrace.SpanProcessor = (*recorder)(nil)

// OnStart keeps the span and where it was started.
func (r *recorder) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	at := startedAt()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spans) >= r.most {
		r.dropped++
		return
	}
	r.open[s.SpanContext().SpanID()] = opened{len(r.spans), at}
	r.spans = append(r.spans, s)
}

// OnEnd keeps the span's final state.
func (r *recorder) OnEnd(s sdktrace.ReadOnlySpan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := s.SpanContext().SpanID()
	if o, ok := r.open[id]; ok {
		r.spans[o.index] = s
		delete(r.open, id)
	}
	if r.waiting != nil {
		close(r.waiting)
		r.waiting = nil
	}
}

// ForceFlush does nothing: there is nothing to flush.
func (*recorder) ForceFlush(context.Context) error { return nil }

// Shutdown does nothing.
func (*recorder) Shutdown(context.Context) error { return nil }

func (r *recorder) snapshot() []sdktrace.ReadOnlySpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sdktrace.ReadOnlySpan(nil), r.spans...)
}

// lost is the number of spans that were not kept.
func (r *recorder) lost() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// wait returns how many spans of the name have ended, once there are n or it has
// become late.
func (r *recorder) wait(name string, n int) int {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		ended, next := r.ended(name)
		if ended >= n {
			return ended
		}
		select {
		case <-next:
		case <-late.C:
			return ended
		}
	}
}

// ended counts the spans of the name that have ended; next is closed when another
// span ends.
func (r *recorder) ended(name string) (n int, next <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = make(chan struct{})
	}
	for _, s := range r.spans {
		if _, open := r.open[s.SpanContext().SpanID()]; !open && s.Name() == name {
			n++
		}
	}
	return n, r.waiting
}

// unended says of each span that has not ended where it was started.
func (r *recorder) unended() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := map[int]string{}
	for _, o := range r.open {
		at[o.index] = o.at
	}
	var out []string
	for i, s := range r.spans {
		if where, ok := at[i]; ok {
			out = append(out, fmt.Sprintf("span %q was never ended, started at %s", s.Name(), where))
		}
	}
	return out
}

// startedAt is the first place on the stack that is not OpenTelemetry's or ours.
func startedAt() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "go.opentelemetry.io/") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// sequence makes IDs that count up from 1.
type sequence struct{ traces, spans atomic.Uint64 }

var _ sdktrace.IDGenerator = (*sequence)(nil)

// NewIDs returns the next trace ID and span ID.
func (s *sequence) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	binary.BigEndian.PutUint64(id[8:], s.traces.Add(1))
	return id, s.NewSpanID(ctx, id)
}

// NewSpanID returns the next span ID.
func (s *sequence) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	binary.BigEndian.PutUint64(id[:], s.spans.Add(1))
	return id
}
