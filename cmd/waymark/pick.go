package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// wholeTraces reads the traces in which a span is chosen, whole; of more than
// newest traces (0: no limit) those that started last. The rest is never in
// memory: the files are read twice, first for what the choice needs. Standard
// input cannot be, and is held whole.
func (c *call) wholeTraces(ctx context.Context, src *spansource.Source, newest int) (*traces.Set, error) {
	var spans []*traces.Span
	add := func(span *traces.Span) { spans = append(spans, span) }
	switch {
	case c.sel.all() && newest == 0, !src.Again():
		if err := c.each(ctx, src, add); err != nil {
			return nil, err
		}
		keep, err := c.pick(tracefile.Seq(spans), newest)
		if err != nil {
			return nil, err
		}
		spans = slices.DeleteFunc(spans, func(s *traces.Span) bool { return !keep(s) })
		return traces.NewSet(spans), nil
	}
	keep, err := c.pick(src.Spans(ctx, c.sel.fields()), newest)
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, src, func(span *traces.Span) {
		if keep(span) {
			add(span)
		}
	})
	return traces.NewSet(spans), err
}

// picked is a trace in question.
type picked struct {
	id     traces.TraceID
	start  uint64 // earliest; 0: not known
	chosen bool
}

// pick decides which traces to keep.
func (c *call) pick(spans iter.Seq2[*traces.Span, error], newest int) (keep func(*traces.Span) bool, err error) {
	all := map[traces.TraceID]*picked{}
	for span, err := range spans {
		if err != nil {
			return nil, err
		}
		p := all[span.TraceID]
		if p == nil {
			p = &picked{id: span.TraceID}
			all[p.id] = p
		}
		if at := span.StartUnixNano; at > 0 && (p.start == 0 || at < p.start) {
			p.start = at
		}
		p.chosen = p.chosen || c.sel.matches(span)
	}
	var chosen []*picked
	for _, p := range all {
		if p.chosen {
			chosen = append(chosen, p)
		}
	}
	if newest > 0 && len(chosen) > newest {
		slices.SortFunc(chosen, func(a, b *picked) int {
			return cmp.Or(cmp.Compare(b.start, a.start), slices.Compare(a.id[:], b.id[:]))
		})
		c.warn("the newest %d of %d traces (-n 0 for all)", newest, len(chosen))
		chosen = chosen[:newest]
	}
	kept := make(map[traces.TraceID]bool, len(chosen))
	for _, p := range chosen {
		kept[p.id] = true
	}
	return func(span *traces.Span) bool { return kept[span.TraceID] }, nil
}
