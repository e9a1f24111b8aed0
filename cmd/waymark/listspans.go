package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
)

type spanOrder = func(a, b *traces.Node) int

func spanOrders() map[string]spanOrder {
	return map[string]spanOrder{
		"start":    func(a, b *traces.Node) int { return cmp.Compare(a.Span().StartUnixNano, b.Span().StartUnixNano) },
		"name":     func(a, b *traces.Node) int { return cmp.Compare(a.Span().Name, b.Span().Name) },
		"service":  func(a, b *traces.Node) int { return cmp.Compare(a.Span().Service(), b.Span().Service()) },
		"duration": func(a, b *traces.Node) int { return cmp.Compare(a.Span().Duration(), b.Span().Duration()) },
		"kind":     func(a, b *traces.Node) int { return cmp.Compare(a.Span().Kind, b.Span().Kind) },
		"status":   func(a, b *traces.Node) int { return cmp.Compare(a.Span().Status.Code, b.Span().Status.Code) },
		"depth":    func(a, b *traces.Node) int { return cmp.Compare(a.Depth(), b.Depth()) },
	}
}

// listSpans holds all spans, without attributes that nobody asked for: depth and
// the order need them.
func (c *call) listSpans(ctx context.Context, src *spansource.Source, o listFlags) error {
	var spans []*traces.Span
	err := c.each(ctx, src, func(span *traces.Span) {
		if c.sel.hasTrace(span.TraceID) {
			spans = append(spans, span)
		}
	}, c.sel.fields())
	if err != nil {
		return err
	}
	var list []*traces.Node
	for n := range traces.NewSet(spans).All() {
		if c.sel.matches(n.Span()) {
			list = append(list, n)
		}
	}
	order := directed(spanOrders()[o.sort], o.down)
	slices.SortStableFunc(list, func(a, b *traces.Node) int {
		return cmp.Or(order(a, b), cmp.Compare(a.Span().StartUnixNano, b.Span().StartUnixNano))
	})
	list = limited(c, list, o.n)
	if c.json {
		return c.printJSON(spanRowsJSON(c.schema(), list))
	}
	t := terminal.NewTable("NAME", "KIND", "PARENT", "START", "END", "STATUS", ">DURATION MS", ">DEPTH", "SERVICE")
	for _, n := range list {
		t.Add(spanCells(n)...)
	}
	return c.printTable(t)
}

func spanCells(n *traces.Node) []string {
	span := n.Span()
	parent := "-"
	if !span.ParentID.IsZero() {
		parent = span.ParentID.String()
	}
	return []string{
		cell(span.Name), span.Kind.String(), parent, instant(span.StartUnixNano), instant(span.EndUnixNano),
		span.Status.Code.String(), millis(span.Duration()), strconv.Itoa(n.Depth()), cell(span.Service()),
	}
}

func spanRowsJSON(schema string, list []*traces.Node) any {
	out := struct {
		Schema string     `json:"schema"`
		Spans  []spanJSON `json:"spans"`
	}{schema, []spanJSON{}}
	for _, n := range list {
		row := nodeJSON(n)
		row.Attributes = nil // only those that -where names were read
		out.Spans = append(out.Spans, row)
	}
	return out
}
