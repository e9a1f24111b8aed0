package main

import (
	"context"
	"io"
	"strconv"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/analyze"
)

const errorsUsage = `usage: waymark errors [flags] [FILE …]

Prints what failed, in groups: of one route, one type, one message but for its data
(numbers, ids and quoted text are *), from one place in the program's own code. A
span that failed because of its child is the child's. The trace is the latest.

  -n N            at most N groups (default 0: all)
` + selectUsage + windowUsage + `  -json           JSON, schema waymark.errors/v1
` + sourceUsage

func runErrors(ctx context.Context, c *call, args []string) error {
	n := 0
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.IntVar(&n, "n", 0, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case n < 0:
		return usagef("-n %d: want no negative number", n)
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	groups := analyze.NewErrors(c.sel.window.Window)
	t, err := c.wholes(ctx, src, groups.AddTrace)
	if err != nil {
		return err
	}
	table := groups.Table()
	table.Groups = limited(c, table.Groups, n)
	if c.json {
		return c.printJSON(struct {
			Schema string     `json:"schema"`
			Source sourceJSON `json:"source"`
			analyze.ErrorTable
		}{c.schema(), t.source(src), table})
	}
	if table.Beyond > 0 {
		c.warn("%d failures are in none of the groups: there are too many of them", table.Beyond)
	}
	rows := func(yield func([]string) bool) {
		for _, g := range table.Groups {
			if !yield([]string{
				strconv.Itoa(g.Count), clock(g.Last), routeCell(g.Route), cell(g.Service), cell(g.Type), cell(g.Message), cell(g.Frame), g.Examples[0].TraceID.String(),
			}) {
				return
			}
		}
	}
	return c.output(func(w io.Writer) error {
		if len(table.Groups) == 0 {
			_, err := io.WriteString(w, terminal.Count(t.Spans, "span")+", nothing failed\n")
			return err
		}
		columns := terminal.NewTable(rows, ">COUNT", "LAST", "ROUTE", "SERVICE", "TYPE", "MESSAGE", "AT", "TRACE").
			Fit(terminal.Width(c.stdout, c.lookup.Lookup), map[string]int{"TRACE": 9, "LAST": 24}, map[string]int{"AT": 8, "TYPE": 8, "SERVICE": 7, "ROUTE": 12}, map[string]int{"MESSAGE": 16})
		if _, err := columns.WriteTo(w); err != nil {
			return err
		}
		c.leadOn(w, src, "show %s", table.Groups[0].Examples[0].TraceID)
		return nil
	})
}
