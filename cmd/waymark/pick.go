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

// limit bounds the traces that are taken whole, the newest first. Zeros are no
// bound.
type limit struct {
	traces int
	spans  int // of all together; the newest trace is taken however many it has
}

// picked is a trace to take.
type picked struct {
	id     traces.TraceID
	order  int    // as its first span came
	start  uint64 // earliest; 0: not known
	count  int    // of its spans
	chosen bool
	size   *traceRow // when the query asks for it
	taken  bool
	spans  []*traces.Span // that have come the second time
}

// choice is the traces to take.
type choice struct {
	byID     map[traces.TraceID]*picked
	list     []*picked // by start
	chosen   int       // traces that had a chosen span, taken or not
	ofChosen int       // their spans
	spans    int       // of those taken
}

// wholeTraces yields the traces in which a span is chosen, whole, in the order of
// their start. The files are read twice, first for what the choice needs: only the
// traces that have begun and not been yielded are in memory. Standard input is
// held whole, since it cannot be read twice.
func (c *call) wholeTraces(ctx context.Context, src *spansource.Source, l limit) (*choice, iter.Seq2[*traces.Set, error], error) {
	ch, spans, err := c.choose(ctx, src, l)
	if err != nil {
		return nil, nil, err
	}
	return ch, func(yield func(*traces.Set, error) bool) {
		for list, err := range ch.traces(spans) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(traces.NewSet(list), nil) {
				return
			}
		}
		c.account(src.Report())
	}, nil
}

// choose decides which traces to take, and returns the spans to take them from.
func (c *call) choose(ctx context.Context, src *spansource.Source, l limit) (*choice, iter.Seq2[*traces.Span, error], error) {
	first, second := c.spans(ctx, src, c.sel.fields()...), c.spans(ctx, src)
	if !src.Again() {
		var all []*traces.Span
		for span, err := range second {
			if err != nil {
				return nil, nil, err
			}
			all = append(all, span)
		}
		first, second = tracefile.Seq(all), tracefile.Seq(all)
	}
	ch, err := c.pick(first)
	if err != nil {
		return nil, nil, err
	}
	ch.cut(l)
	return ch, second, nil
}

// pick finds the traces that have a chosen span.
func (c *call) pick(spans iter.Seq2[*traces.Span, error]) (*choice, error) {
	ch := &choice{byID: map[traces.TraceID]*picked{}}
	ofTraces, names := c.sel.query.OfTraces(), nameTable{}
	for span, err := range spans {
		if err != nil {
			return nil, err
		}
		p := ch.byID[span.TraceID]
		if p == nil {
			p = &picked{id: span.TraceID, order: len(ch.byID)}
			ch.byID[p.id] = p
		}
		p.count++
		if at := span.StartUnixNano; at > 0 && (p.start == 0 || at < p.start) {
			p.start = at
		}
		p.chosen = c.sel.matches(span) || p.chosen
		if ofTraces {
			if p.size == nil {
				p.size = &traceRow{}
			}
			p.size.add(span, names)
		}
	}
	for _, p := range ch.byID {
		if p.chosen && c.sel.fits(p.size) {
			p.size = nil
			ch.list = append(ch.list, p)
			ch.chosen++
			ch.ofChosen += p.count
		}
	}
	slices.SortFunc(ch.list, func(a, b *picked) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order))
	})
	return ch, nil
}

// cut leaves the newest traces within the limit, and forgets the others.
func (ch *choice) cut(l limit) {
	from := len(ch.list)
	for from > 0 {
		n := ch.list[from-1].count
		taken := len(ch.list) - from
		if l.traces > 0 && taken == l.traces || l.spans > 0 && taken > 0 && ch.spans+n > l.spans {
			break
		}
		ch.spans += n
		from--
	}
	ch.list = slices.Clone(ch.list[from:])
	ch.byID = make(map[traces.TraceID]*picked, len(ch.list))
	for _, p := range ch.list {
		ch.byID[p.id] = p
	}
}

// traces yields the traces as their turn comes and their last span has come. What
// a growing file has more of than it had at the first reading is left out.
func (ch *choice) traces(spans iter.Seq2[*traces.Span, error]) iter.Seq2[[]*traces.Span, error] {
	return func(yield func([]*traces.Span, error) bool) {
		next := 0
		take := func(p *picked) bool {
			next++
			spans := p.spans
			p.spans, p.taken = nil, true
			return len(spans) == 0 || yield(spans, nil)
		}
		for span, err := range spans {
			if err != nil {
				yield(nil, err)
				return
			}
			p := ch.byID[span.TraceID]
			if p == nil || p.taken {
				continue
			}
			p.spans = append(p.spans, span)
			for next < len(ch.list) && len(ch.list[next].spans) >= ch.list[next].count {
				if !take(ch.list[next]) {
					return
				}
			}
		}
		for next < len(ch.list) { // the file was cleared in between
			if !take(ch.list[next]) {
				return
			}
		}
	}
}
