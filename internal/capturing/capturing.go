// Package capturing tells samplers which traces are being captured, so that a
// capture sees spans that are not sampled. It is what package capture and
// whoever builds a provider share; neither needs to know the other.
package capturing

import (
	"context"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Trace is a capture as samplers see it. It travels in the context in which the
// capture's root span is started; the first root there gives it its ID.
type Trace struct {
	mu       sync.Mutex
	id       trace.TraceID
	over     bool
	samplers []*Sampler
}

type traceKey struct{}

// With returns a context whose next root span belongs to t.
func With(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// End says that the capture is over: samplers forget it.
func (t *Trace) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, s := range t.samplers {
		s.forget(t.id)
	}
	t.samplers = nil
}

// claim makes id the trace's, if it has none yet, and reports whether it is.
func (t *Trace) claim(s *Sampler, id trace.TraceID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.id.IsValid() && t.id != id {
		return false
	}
	t.id = id
	t.samplers = append(t.samplers, s)
	s.remember(id)
	return true
}

// Sampler asks another sampler and decides for itself only where that one drops
// a span of a captured trace. It is safe for concurrent use.
type Sampler struct {
	base     sdktrace.Sampler
	captured sdktrace.SamplingDecision

	count atomic.Int64 // of ids
	mu    sync.RWMutex
	ids   map[trace.TraceID]int
}

var _ sdktrace.Sampler = (*Sampler)(nil)

// NewSampler returns a sampler that answers captured where base drops a span of
// a captured trace.
func NewSampler(base sdktrace.Sampler, captured sdktrace.SamplingDecision) *Sampler {
	return &Sampler{base: base, captured: captured, ids: map[trace.TraceID]int{}}
}

// ShouldSample is base's answer, or record without sampling.
func (s *Sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := s.base.ShouldSample(p)
	if result.Decision == sdktrace.Drop && s.isCaptured(p) {
		result.Decision = s.captured
	}
	return result
}

// isCaptured goes by the trace ID, so that a server in the same process, which
// the capture's context does not reach, is captured too. Only a root looks into
// the context: it is where a new trace comes from.
func (s *Sampler) isCaptured(p sdktrace.SamplingParameters) bool {
	if s.count.Load() > 0 {
		s.mu.RLock()
		known := s.ids[p.TraceID] > 0
		s.mu.RUnlock()
		if known {
			return true
		}
	}
	if p.ParentContext == nil || trace.SpanContextFromContext(p.ParentContext).IsValid() {
		return false
	}
	t, ok := p.ParentContext.Value(traceKey{}).(*Trace)
	return ok && t.claim(s, p.TraceID)
}

// Description names both samplers.
func (s *Sampler) Description() string { return "CaptureSampler{" + s.base.Description() + "}" }

func (s *Sampler) remember(id trace.TraceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[id]++
	s.count.Add(1)
}

func (s *Sampler) forget(id trace.TraceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Add(-1)
	if s.ids[id]--; s.ids[id] <= 0 {
		delete(s.ids, id)
	}
}
