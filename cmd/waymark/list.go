package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
)

const listUsage = `usage: waymark list [flags] [FILE …]

Prints a table of the traces that have a chosen span, a line each, or with -spans
of the chosen spans.

  -spans          a line per span instead of per trace
` + selectUsage + `  -sort COLUMN    sort by start (default), name, service, duration, spans,
                  errors; with -spans by start, name, service, duration, kind,
                  status, depth; -COLUMN is from the largest down
  -n N            at most N lines (default 0: all)
  -json           JSON, schema waymark.list/v1
` + sourceUsage

type listFlags struct {
	n     int
	spans bool
	sort  string
	down  bool
}

func runList(ctx context.Context, c *call, args []string) error {
	o := listFlags{sort: "start"}
	c.sourceFlags()
	c.selectFlags()
	c.jsonFlag()
	c.flags.BoolVar(&o.spans, "spans", false, "")
	c.flags.StringVar(&o.sort, "sort", "start", "")
	c.flags.IntVar(&o.n, "n", 0, "")
	files, err := c.parse(args)
	if err != nil {
		return err
	}
	o.sort, o.down = strings.CutPrefix(o.sort, "-")
	known := traceOrders()[o.sort] != nil
	if o.spans {
		known = spanOrders()[o.sort] != nil
	}
	if !known || o.n < 0 {
		return usagef("-sort %q -n %d: want a column and no negative number", o.sort, o.n)
	}
	src, err := c.open(files)
	if err != nil {
		return err
	}
	if o.spans {
		return c.listSpans(ctx, src, o)
	}
	return c.listTraces(ctx, src, o)
}

// traceRow is a line of the table of traces.
type traceRow struct {
	id         traces.TraceID
	root       string
	service    string
	rootStart  uint64
	rootEnd    uint64
	rootHasTop bool // the root has no parent
	start, end uint64
	spans      uint64
	errors     uint64
	chosen     bool
}

func (r *traceRow) duration() time.Duration {
	return (&traces.Span{StartUnixNano: r.start, EndUnixNano: r.end}).Duration()
}

func (r *traceRow) add(span *traces.Span) {
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
	if r.spans == 1 || r.isAbove(span) {
		r.root, r.service = strings.Clone(span.Name), strings.Clone(span.Service())
		r.rootStart, r.rootEnd, r.rootHasTop = span.StartUnixNano, span.EndUnixNano, span.ParentID.IsZero()
	}
}

// isAbove reports whether a span is more of a root than the one that was taken
// for it: without a parent, else earlier, else longer. The parent that is not in
// the file cannot be told before its end; the earliest span is below it.
func (r *traceRow) isAbove(span *traces.Span) bool {
	if top := span.ParentID.IsZero(); top != r.rootHasTop {
		return top
	}
	if span.StartUnixNano != r.rootStart {
		return span.StartUnixNano < r.rootStart
	}
	return span.EndUnixNano > r.rootEnd
}

type traceOrder = func(a, b *traceRow) int

func traceOrders() map[string]traceOrder {
	return map[string]traceOrder{
		"start":    func(a, b *traceRow) int { return cmp.Compare(a.start, b.start) },
		"name":     func(a, b *traceRow) int { return cmp.Compare(a.root, b.root) },
		"service":  func(a, b *traceRow) int { return cmp.Compare(a.service, b.service) },
		"duration": func(a, b *traceRow) int { return cmp.Compare(a.duration(), b.duration()) },
		"spans":    func(a, b *traceRow) int { return cmp.Compare(a.spans, b.spans) },
		"errors":   func(a, b *traceRow) int { return cmp.Compare(a.errors, b.errors) },
	}
}

// listTraces keeps a row per trace, and no spans.
func (c *call) listTraces(ctx context.Context, src *spansource.Source, o listFlags) error {
	rows := map[traces.TraceID]*traceRow{}
	err := c.each(ctx, src, func(span *traces.Span) {
		if !c.sel.hasTrace(span.TraceID) {
			return
		}
		r := rows[span.TraceID]
		if r == nil {
			r = &traceRow{id: span.TraceID}
			rows[r.id] = r
		}
		r.add(span)
		r.chosen = r.chosen || c.sel.matches(span)
	}, c.sel.fields())
	if err != nil {
		return err
	}
	var list []*traceRow
	for _, r := range rows {
		if r.chosen {
			list = append(list, r)
		}
	}
	order := directed(traceOrders()[o.sort], o.down)
	slices.SortFunc(list, func(a, b *traceRow) int {
		return cmp.Or(order(a, b), cmp.Compare(a.start, b.start), slices.Compare(a.id[:], b.id[:]))
	})
	list = limited(c, list, o.n)
	if c.json {
		return c.printJSON(traceRowsJSON(c.schema(), list))
	}
	t := terminal.NewTable("TRACE", "NAME", "SERVICE", "START", ">DURATION MS", ">SPANS", ">ERRORS")
	for _, r := range list {
		t.Add(r.id.String(), cell(r.root), cell(r.service), instant(r.start), millis(r.duration()), nano(r.spans), nano(r.errors))
	}
	return c.printTable(t)
}

func directed[T any](order func(a, b T) int, down bool) func(a, b T) int {
	if down {
		return func(a, b T) int { return order(b, a) }
	}
	return order
}

func limited[T any](c *call, list []T, n int) []T {
	if n == 0 || len(list) <= n {
		return list
	}
	c.warn("the first %d of %d lines (-n 0 for all)", n, len(list))
	return list[:n]
}

// cell is a name in a table, or a dash: an empty cell would look like a shifted row.
func cell(s string) string {
	const width = 48
	if s == "" {
		return "-"
	}
	return terminal.Cut(s, width)
}

func instant(unixNano uint64) string {
	if unixNano == 0 {
		return "-"
	}
	return (&traces.Span{StartUnixNano: unixNano}).Start().Format("2006-01-02T15:04:05.000Z")
}

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}

type traceRowJSON struct {
	TraceID  traces.TraceID `json:"trace_id"`
	Name     string         `json:"name"`
	Service  string         `json:"service"`
	Start    string         `json:"start_unix_nano"`
	End      string         `json:"end_unix_nano"`
	Duration string         `json:"duration_nano"`
	Spans    uint64         `json:"spans"`
	Errors   uint64         `json:"errors"`
}

func traceRowsJSON(schema string, list []*traceRow) any {
	out := struct {
		Schema string         `json:"schema"`
		Traces []traceRowJSON `json:"traces"`
	}{schema, []traceRowJSON{}}
	for _, r := range list {
		out.Traces = append(out.Traces, traceRowJSON{
			r.id, r.root, r.service, nano(r.start), nano(r.end), strconv.FormatInt(int64(r.duration()), 10), r.spans, r.errors,
		})
	}
	return out
}
