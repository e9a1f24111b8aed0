package main

import (
	"context"
	"io"

	"github.com/waymark-trace/waymark/internal/summary"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
)

const statsUsage = `usage: waymark stats [flags] [FILE …]

Prints the totals of the chosen spans (the total duration is the latest end minus
the earliest start), how many there are by service, status and depth, how long
those of each service took, and when those of each name were at work. Depth counts
from the root, or from a span whose parent is in no file.

` + selectUsage + windowUsage + `  -json           JSON, schema waymark.stats/v1
` + sourceUsage

func runStats(ctx context.Context, c *call, args []string) error {
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	src, err := c.source(ctx, args)
	if err == nil {
		err = c.ofSpans()
	}
	if err != nil {
		return err
	}
	b := summary.New()
	err = c.each(ctx, src, func(span *traces.Span) { b.Add(span, c.sel.matches(span)) }, c.sel.fields()...)
	if err != nil {
		return err
	}
	s := b.Sum()
	if c.json {
		return c.printJSON(struct {
			Schema  string          `json:"schema"`
			Summary summary.Summary `json:"summary"`
		}{c.schema(), s})
	}
	return c.output(func(w io.Writer) error { return s.WriteText(w, terminal.Width(c.stdout, c.lookup.Lookup)) })
}
