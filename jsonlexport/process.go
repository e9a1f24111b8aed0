package jsonlexport

import (
	"fmt"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// maxScratch is the largest scratch buffer that is kept for the next span.
const maxScratch = 256 << 10

// scratch is what encoding one span needs. Between uses it remembers the last
// groups, which saves building and hashing a key for nearly every span, and how
// attributes begin.
type scratch struct {
	buf    []byte
	keys   otlpjson.Keys
	recent [4]*group
	next   int
	lines  []*chunk // of ExportSpans
}

func (e *Exporter) scratch() *scratch {
	if s, ok := e.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{buf: make([]byte, 0, minBytes)}
}

func (e *Exporter) putScratch(s *scratch) {
	if cap(s.buf) > maxScratch {
		s.buf = nil
	}
	clear(s.lines) // the writer has them
	e.pool.Put(s)
}

// OnEnd encodes a sampled span and leaves it to the background writer. It never
// waits for the disk. A span that ends after [Exporter.Shutdown], or for which
// the buffers have no room, is counted as dropped.
func (e *Exporter) OnEnd(s sdktrace.ReadOnlySpan) {
	if s == nil || !s.SpanContext().IsSampled() {
		return
	}
	sc := e.scratch()
	defer e.putScratch(sc)
	var g *group
	var err error
	sc.buf, g, err = e.encode(sc, sc.buf[:0], s)
	if err != nil {
		e.unencodable(1)
		e.report(kindEncode, err)
		return
	}
	if dropped := e.enqueue(g, sc.buf); dropped != nil {
		e.report(kindDrop, dropped)
	}
}

// encode appends the span to b and finds its group.
func (e *Exporter) encode(sc *scratch, b []byte, s sdktrace.ReadOnlySpan) (_ []byte, g *group, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("encode span: panic: %v", r)
		}
	}()
	scope := s.InstrumentationScope()
	g = e.group(sc, s.Resource(), &scope)
	return e.enc.AppendSpan(&sc.keys, b, s), g, nil
}

func (e *Exporter) unencodable(spans uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Ended += spans
	e.stats.Failed += spans
}

// group returns the group of the resource and scope, known or new.
func (e *Exporter) group(sc *scratch, res *resource.Resource, scope *instrumentation.Scope) *group {
	key := keyOf(res, scope)
	for _, g := range sc.recent {
		if g != nil && g.key == key {
			return g
		}
	}
	e.mu.Lock()
	g := e.buf.groups[key]
	e.mu.Unlock()
	if g == nil {
		// Outside the lock: the attributes go through the caller's transform.
		g = &group{key: key, end: e.enc.LineEnd(res, scope), gone: true}
	}
	sc.recent[sc.next] = g
	sc.next = (sc.next + 1) % len(sc.recent)
	return g
}

// enqueue appends the encoded span to its group's line. It returns why the span
// was dropped, or nil.
func (e *Exporter) enqueue(g *group, span []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Ended++
	if e.closed {
		e.stats.Dropped++
		return nil
	}
	if g.gone {
		g = e.buf.insert(g)
	}
	wasEmpty, wasDue := e.buf.empty(), e.buf.due()
	if !e.buf.append(g, span) {
		e.stats.Dropped++
		return fmt.Errorf("buffers hold %d bytes and are full, spans are dropped: the disk is too slow or stalled", e.buf.limit)
	}
	e.stats.Queued++
	if wasEmpty || (!wasDue && e.buf.due()) {
		e.signal()
	}
	return nil
}
