package main

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/analyze"
)

const routesUsage = `usage: waymark routes [flags] [FILE …]

Prints a table of the routes: how many requests, how many a second, how many per
cent failed, how long they took (exact percentiles; of fewer than 20 requests those
above the median are the maximum, marked with *), and their part of the time of all.
A request is a server's or consumer's span, or one whose parent is not there or of
another service.

  -by WHAT        rows by route (default), service, or the values of an attribute,
                  of requests; by name or shape, of all spans. A shape is what a
                  call is without its data: SELECT * FROM items WHERE id = ?
                  By service, name and shape there is the self time of all spans,
                  in which none of their children was at work
  -sort COLUMN    sort by time (default), count, rate, errors, p50, p90, p99, max,
                  name; always from the largest down, but for name
  -n N            at most N lines (default 0: all)
` + selectUsage + windowUsage + `  -json           JSON, schema waymark.routes/v1: with the trace that stands at each
                  percentile
` + sourceUsage

type routesFlags struct {
	by, sort string
	n        int
}

func runRoutes(ctx context.Context, c *call, args []string) error {
	var o routesFlags
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.StringVar(&o.by, "by", "route", "")
	c.flags.StringVar(&o.sort, "sort", "time", "")
	c.flags.IntVar(&o.n, "n", 0, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case o.n < 0 || rowOrders()[o.sort] == nil || o.by == "":
		return usagef("-by %q -sort %q -n %d: want something to go by, a column, and no negative number", o.by, o.sort, o.n)
	}
	if err := c.ofSpans(); err != nil {
		return err
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	by, options := rowsBy(o.by)
	ix, t, err := c.index(ctx, src, options)
	if err != nil {
		return err
	}
	table := ix.Table(by, analyze.Window{})
	if o.sort != "time" {
		slices.SortStableFunc(table.Rows, rowOrders()[o.sort])
	}
	table.Rows = limited(c, table.Rows, o.n)
	if c.json {
		return c.printJSON(struct {
			Schema string     `json:"schema"`
			Source sourceJSON `json:"source"`
			analyze.Table
		}{c.schema(), t.source(src), table})
	}
	return c.printRoutes(src, o, table)
}

// rowsBy is what -by says; what is no word of its own is an attribute.
func rowsBy(text string) (analyze.By, analyze.IndexOptions) {
	switch by := analyze.By(text); by {
	case analyze.ByRoute, analyze.ByService, analyze.ByName, analyze.ByShape:
		return by, analyze.IndexOptions{}
	default:
		return analyze.ByKey, analyze.IndexOptions{Key: text}
	}
}

func rowOrders() map[string]func(a, b analyze.Row) int {
	down := func(of func(*analyze.Row) float64) func(a, b analyze.Row) int {
		return func(a, b analyze.Row) int {
			switch x, y := of(&a), of(&b); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		}
	}
	count := down(func(r *analyze.Row) float64 { return float64(r.Count) })
	return map[string]func(a, b analyze.Row) int{
		"time": down(func(r *analyze.Row) float64 { return float64(r.Sum) }), "count": count, "rate": count,
		"errors": down(func(r *analyze.Row) float64 { return float64(r.Failed) / float64(r.Count) }),
		"p50":    down(func(r *analyze.Row) float64 { return float64(r.P50) }),
		"p90":    down(func(r *analyze.Row) float64 { return float64(r.P90) }),
		"p99":    down(func(r *analyze.Row) float64 { return float64(r.P99) }),
		"max":    down(func(r *analyze.Row) float64 { return float64(r.Max) }),
		"name":   func(a, b analyze.Row) int { return strings.Compare(a.Route+a.Key, b.Route+b.Key) },
	}
}

func (c *call) printRoutes(src *spansource.Source, o routesFlags, table analyze.Table) error {
	name := strings.ToUpper(o.by)
	columns := []string{name, "SERVICE", ">COUNT", ">RATE/S", ">ERRORS %", ">P50", ">P90", ">P99", ">MAX", ">TIME %", ">SELF", ">SELF %"}
	rows := func(yield func([]string) bool) {
		for i := range table.Rows {
			r := &table.Rows[i]
			few := ""
			if r.Count < analyze.Few {
				few = "*"
			}
			cells := []string{
				routeCell(r.Route + r.Key), cell(r.Service), strconv.Itoa(r.Count), digits(r.Rate), percent(float64(r.Failed) / float64(r.Count)),
				took(r.P50), took(r.P90) + few, took(r.P99) + few, took(r.Max), percent(r.Share),
				took(r.Self), percent(r.SelfShare),
			}
			if !yield(withoutColumns(cells, table.By)) {
				return
			}
		}
	}
	width := terminal.Width(c.stdout, c.lookup.Lookup)
	return c.output(func(w io.Writer) error {
		t := terminal.NewTable(rows, withoutColumns(columns, table.By)...).Fit(width, map[string]int{name: 16, "SERVICE": 7})
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
		if len(table.Rows) > 0 && table.By == analyze.ByRoute {
			c.leadOn(w, src, "show -at p99 %s", quoteArg(table.Rows[0].Route))
		}
		return nil
	})
}

// withoutColumns leaves out the columns that a table has nothing for.
func withoutColumns(cells []string, by analyze.By) []string {
	const self = 10 // what no child was at work in
	switch by {
	case analyze.ByService:
		return cells[1:]
	case analyze.ByKey:
		return slices.Delete(slices.Clone(cells[:self]), 1, 2)
	case analyze.ByRoute:
		return cells[:self]
	default:
		return cells
	}
}
