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
of the chosen spans. The duration of a trace is that of its root; its extent, from
the earliest start to the latest end of all spans, has a column when it differs:
work after the answer, and clocks of other hosts, make it longer.

  -spans          a line per span instead of per trace
` + selectUsage + windowUsage + `  -sort COLUMN    sort by start (default), name, service, duration, extent, spans,
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
	c.windowFlags()
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
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	if o.spans {
		return c.listSpans(ctx, src, o)
	}
	return c.listTraces(ctx, src, o)
}

// listTraces keeps a row per trace, and no spans.
func (c *call) listTraces(ctx context.Context, src *spansource.Source, o listFlags) error {
	rows, names := map[traces.TraceID]*traceRow{}, nameTable{}
	err := c.each(ctx, src, func(span *traces.Span) {
		if !c.sel.hasTrace(span.TraceID) {
			return
		}
		r := rows[span.TraceID]
		if r == nil {
			r = &traceRow{id: span.TraceID}
			rows[r.id] = r
		}
		r.add(span, names)
		r.chosen = r.chosen || c.sel.matches(span)
	}, c.sel.fields()...)
	if err != nil {
		return err
	}
	var list []*traceRow
	for _, r := range rows {
		if r.chosen {
			r.settle()
			if c.sel.fits(r) {
				list = append(list, r)
			}
		}
	}
	order := directed(traceOrders()[o.sort], o.down)
	slices.SortFunc(list, func(a, b *traceRow) int {
		return cmp.Or(order(a, b), cmp.Compare(a.start, b.start), slices.Compare(a.id[:], b.id[:]))
	})
	list = limited(c, list, o.n)
	if c.json {
		return c.printJSONList("traces", func(yield func(any) bool) {
			for _, r := range list {
				if !yield(r.json()) {
					return
				}
			}
		})
	}
	return c.printTraces(list)
}

// printTraces has a column for the extent when one differs from the duration.
func (c *call) printTraces(list []*traceRow) error {
	columns := []string{"TRACE", "NAME", "SERVICE", "START", ">DURATION MS", ">EXTENT MS", ">SPANS", ">ERRORS"}
	const extent = 5
	differs := slices.ContainsFunc(list, func(r *traceRow) bool { return r.extentCell() != "-" })
	if !differs {
		columns = slices.Delete(columns, extent, extent+1)
	}
	width := terminal.Width(c.stdout, c.lookup.Lookup)
	start := instants(width)
	rows := func(yield func([]string) bool) {
		for _, r := range list {
			cells := []string{
				r.id.String(), cell(r.root.name), cell(r.root.service), start(r.start), r.durationCell(), r.extentCell(), nano(r.spans), nano(r.errors),
			}
			if !differs {
				cells = slices.Delete(cells, extent, extent+1)
			}
			if !yield(cells) {
				return
			}
		}
	}
	return c.printTable(terminal.NewTable(rows, columns...).Fit(width, map[string]int{"TRACE": 9}, map[string]int{"NAME": 12, "SERVICE": 7}))
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

// isNarrow reports whether lines of the terminal are too short for everything.
func isNarrow(width int) bool { return width > 0 && width < 110 }

// instants prints times; where a line has few columns, without the date.
func instants(width int) func(unixNano uint64) string {
	layout := "2006-01-02T15:04:05.000Z"
	if isNarrow(width) {
		layout = "15:04:05.000Z"
	}
	return func(unixNano uint64) string {
		if unixNano == 0 {
			return "-"
		}
		return (&traces.Span{StartUnixNano: unixNano}).Start().Format(layout)
	}
}

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}
