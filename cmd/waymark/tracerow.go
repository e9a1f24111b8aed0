package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// traceRow is a line of the table of traces. It is put together span by span, in
// the order of the file, in which children mostly come before their parents.
type traceRow struct {
	id         traces.TraceID
	root       rowSpan
	whole      bool      // a root without a parent has come
	partial    []rowSpan // all spans, until it comes
	start, end uint64
	spans      uint64
	errors     uint64
	chosen     bool
}

// rowSpan is what a row needs of a span that may be the root.
type rowSpan struct {
	id, parent    traces.SpanID
	start, end    uint64
	name, service string
}

// nameTable holds one copy of each text: a span's own may hold a whole line of a
// file in memory.
type nameTable map[string]string

func (t nameTable) copy(s string) string {
	if kept, ok := t[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	t[s] = s
	return s
}

func (r *traceRow) add(span *traces.Span, names nameTable) {
	r.spans++
	if span.Failed() {
		r.errors++
	}
	for _, at := range [2]uint64{span.StartUnixNano, span.EndUnixNano} {
		if at > 0 && (r.start == 0 || at < r.start) {
			r.start = at
		}
		r.end = max(r.end, at)
	}
	top := span.ParentID.IsZero()
	if r.whole && !top {
		return
	}
	s := rowSpan{span.SpanID, span.ParentID, span.StartUnixNano, span.EndUnixNano, names.copy(span.Name), names.copy(span.Service())}
	switch {
	case !top:
		r.partial = append(r.partial, s)
	case !r.whole || s.isAbove(&r.root):
		r.root, r.whole, r.partial = s, true, nil
	}
}

// isAbove reports whether of two roots this is the one that stands for the trace:
// the earlier, else the longer.
func (s *rowSpan) isAbove(other *rowSpan) bool {
	return cmp.Or(cmp.Compare(s.start, other.start), cmp.Compare(other.end, s.end)) < 0
}

// settle finds the root of a trace whose spans all have a parent: one whose parent
// is in no file. The earliest span may be another, where clocks differ.
func (r *traceRow) settle() {
	if r.whole {
		return
	}
	there := make(map[traces.SpanID]bool, len(r.partial))
	for i := range r.partial {
		there[r.partial[i].id] = true
	}
	found := false
	for _, orphans := range [2]bool{true, false} { // in a circle of parents there is none
		for i := range r.partial {
			s := &r.partial[i]
			if there[s.parent] == orphans || found && !s.isAbove(&r.root) {
				continue
			}
			r.root, found = *s, true
		}
		if found {
			break
		}
	}
	r.partial = nil
}

// duration is the root's, and extent that of all spans.
func (r *traceRow) duration() time.Duration { return between(r.root.start, r.root.end) }
func (r *traceRow) extent() time.Duration   { return between(r.start, r.end) }

func between(start, end uint64) time.Duration {
	return (&traces.Span{StartUnixNano: start, EndUnixNano: end}).Duration()
}

func (r *traceRow) durationCell() string {
	if r.root.start == 0 || r.root.end == 0 {
		return "-"
	}
	return millis(r.duration())
}

// extentCell is the extent where it differs from the duration.
func (r *traceRow) extentCell() string {
	text := millis(r.extent())
	if text == r.durationCell() || r.extent() == 0 {
		return "-"
	}
	return text
}

type traceOrder = func(a, b *traceRow) int

func traceOrders() map[string]traceOrder {
	return map[string]traceOrder{
		"start":    func(a, b *traceRow) int { return cmp.Compare(a.start, b.start) },
		"name":     func(a, b *traceRow) int { return cmp.Compare(a.root.name, b.root.name) },
		"service":  func(a, b *traceRow) int { return cmp.Compare(a.root.service, b.root.service) },
		"duration": func(a, b *traceRow) int { return cmp.Compare(a.duration(), b.duration()) },
		"extent":   func(a, b *traceRow) int { return cmp.Compare(a.extent(), b.extent()) },
		"spans":    func(a, b *traceRow) int { return cmp.Compare(a.spans, b.spans) },
		"errors":   func(a, b *traceRow) int { return cmp.Compare(a.errors, b.errors) },
	}
}

type traceRowJSON struct {
	TraceID  traces.TraceID `json:"trace_id"`
	Name     string         `json:"name"`
	Service  string         `json:"service"`
	Start    string         `json:"start_unix_nano"` // earliest of all spans
	End      string         `json:"end_unix_nano"`   // latest of all spans
	Duration string         `json:"duration_nano"`   // of the root
	Extent   string         `json:"extent_nano"`     // end minus start
	Spans    uint64         `json:"spans"`
	Errors   uint64         `json:"errors"`
}

func (r *traceRow) json() traceRowJSON {
	return traceRowJSON{
		r.id, r.root.name, r.root.service, nano(r.start), nano(r.end),
		strconv.FormatInt(int64(r.duration()), 10), strconv.FormatInt(int64(r.extent()), 10), r.spans, r.errors,
	}
}
