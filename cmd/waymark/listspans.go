package main

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/summary"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
)

// spanRow is a line of the table of spans: a third of what a span takes, and its
// texts are shared.
type spanRow struct {
	trace                         traces.TraceID
	id, parent                    traces.SpanID
	start, end                    uint64
	name, service, scope, message string
	place                         int32 // among all spans that were read
	depth                         int32
	marks                         traces.Mark
	kind                          traces.Kind
	status                        traces.StatusCode
}

func (r *spanRow) duration() time.Duration { return between(r.start, r.end) }

type spanOrder = func(a, b *spanRow) int

func spanOrders() map[string]spanOrder {
	return map[string]spanOrder{
		"start":    func(a, b *spanRow) int { return cmp.Compare(a.start, b.start) },
		"name":     func(a, b *spanRow) int { return cmp.Compare(a.name, b.name) },
		"service":  func(a, b *spanRow) int { return cmp.Compare(a.service, b.service) },
		"duration": func(a, b *spanRow) int { return cmp.Compare(a.duration(), b.duration()) },
		"kind":     func(a, b *spanRow) int { return cmp.Compare(a.kind, b.kind) },
		"status":   func(a, b *spanRow) int { return cmp.Compare(a.status, b.status) },
		"depth":    func(a, b *spanRow) int { return cmp.Compare(a.depth, b.depth) },
	}
}

// listSpans keeps a row per chosen span and two numbers per span, which its depth
// needs. Lines are made one by one as they are written.
func (c *call) listSpans(ctx context.Context, src *spansource.Source, o listFlags) error {
	if err := c.ofSpans(); err != nil {
		return err
	}
	rows, err := c.spanRows(ctx, src)
	if err != nil {
		return err
	}
	order := directed(spanOrders()[o.sort], o.down)
	slices.SortFunc(rows, func(a, b *spanRow) int {
		return cmp.Or(order(a, b), cmp.Compare(a.start, b.start), cmp.Compare(a.place, b.place))
	})
	rows = limited(c, rows, o.n)
	if c.json {
		return c.printJSONList("spans", func(yield func(any) bool) {
			for _, r := range rows {
				if !yield(r.json()) {
					return
				}
			}
		})
	}
	return c.printTable(c.spanTable(rows))
}

func (c *call) spanRows(ctx context.Context, src *spansource.Source) ([]*spanRow, error) {
	var rows []*spanRow
	depths, names, starts := summary.NewDepths(), nameTable{}, []uint64{}
	err := c.each(ctx, src, func(span *traces.Span) {
		if !c.sel.hasTrace(span.TraceID) {
			return
		}
		if c.sel.matches(span) {
			rows = append(rows, newSpanRow(span, len(starts), names))
		}
		depths.Add(span)
		starts = append(starts, span.StartUnixNano)
	}, c.sel.fields()...)
	if err != nil {
		return nil, err
	}
	tree := depths.Tree(func(i int) uint64 { return starts[i] })
	for _, r := range rows {
		depth, marks := tree.At(int(r.place))
		r.depth, r.marks = int32(depth), marks
	}
	return rows, nil
}

func newSpanRow(span *traces.Span, place int, names nameTable) *spanRow {
	return &spanRow{
		trace: span.TraceID, id: span.SpanID, parent: span.ParentID, start: span.StartUnixNano, end: span.EndUnixNano,
		name: names.copy(span.Name), service: names.copy(span.Service()), scope: names.copy(span.ScopeName()),
		message: names.copy(span.Status.Message), kind: span.Kind, status: span.Status.Code,
		place: int32(place), // two billion spans do not fit into memory
	}
}

// spanTable leaves the end out where a line has few columns: it is start and
// duration.
func (c *call) spanTable(rows []*spanRow) *terminal.Table {
	columns := []string{"NAME", "KIND", "PARENT", "START", "END", "STATUS", ">DURATION MS", ">DEPTH", "SERVICE"}
	const end = 4
	width := terminal.Width(c.stdout, c.lookup.Lookup)
	at := instants(width)
	narrow := isNarrow(width)
	if narrow {
		columns = slices.Delete(columns, end, end+1)
	}
	var cells iter.Seq[[]string] = func(yield func([]string) bool) {
		for _, r := range rows {
			row := []string{
				cell(r.name), r.kind.String(), parentCell(r.parent), at(r.start), at(r.end),
				r.status.String(), millis(r.duration()), strconv.Itoa(int(r.depth)), cell(r.service),
			}
			if narrow {
				row = slices.Delete(row, end, end+1)
			}
			if !yield(row) {
				return
			}
		}
	}
	return terminal.NewTable(cells, columns...).Fit(width, map[string]int{"PARENT": 9}, map[string]int{"NAME": 12, "SERVICE": 7})
}

func parentCell(id traces.SpanID) string {
	if id.IsZero() {
		return "-"
	}
	return id.String()
}

// json has no attributes: only those that -where names were read.
func (r *spanRow) json() spanJSON {
	out := spanJSON{
		TraceID: r.trace, SpanID: r.id, Depth: int(r.depth), Marks: markNames(r.marks),
		Name: r.name, Kind: r.kind.String(), Service: r.service, Scope: r.scope,
		Start: nano(r.start), End: nano(r.end), Duration: strconv.FormatInt(int64(r.duration()), 10),
		Status: strings.ToLower(r.status.String()), Message: r.message,
	}
	if !r.parent.IsZero() {
		out.ParentID = &r.parent
	}
	return out
}
