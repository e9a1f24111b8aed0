package main

import (
	"context"
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/render"
)

const hintsUsage = `usage: waymark hints [flags] [FILE …]

Looks for what is wrong in the program that made the spans, and prints each finding
with its route, how many of its requests show it, what it costs them, and the trace
that it costs the most. (For what is wrong in the file, there is waymark check.)

  n-plus-one        5 calls of one shape and more below one span, one after another,
                    that take 5 ms or 5 % of the request
  retries           3 calls of one shape and more in a row, all but the last failed
  serial-calls      calls of different shapes, each a tenth of the request, that
                    follow each other within 1 ms
  unexplained-time  a span of 50 ms and more that is most of the request itself,
                    though it has children
  fan-out           more than 50 children at work at once
  timeout           calls that failed after a round time: 1, 2, 3, 5, 10, 15, 30, 60 s
  slow-minority     a part of a route's requests is clearly slower, and has an
                    attribute in common
  chatty-upstream   more than 20 requests of one route for one

` + selectUsage + windowUsage + `  -json           JSON, schema waymark.hints/v1
` + sourceUsage

func runHints(ctx context.Context, c *call, args []string) error {
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	src, err := c.source(ctx, args)
	if err != nil {
		return err
	}
	h := analyze.NewHints(analyze.HintOptions{Window: c.sel.window.Window})
	t, err := c.wholes(ctx, src, h.AddTrace)
	if err != nil {
		return err
	}
	list := h.Hints()
	if c.json {
		return c.printJSON(struct {
			Schema string         `json:"schema"`
			Source sourceJSON     `json:"source"`
			Hints  []analyze.Hint `json:"hints"`
		}{c.schema(), t.source(src), list})
	}
	return c.output(func(w io.Writer) error {
		for i := range list {
			writeHint(w, &list[i])
		}
		if len(list) == 0 {
			fmt.Fprintln(w, terminal.Count(t.Spans, "span")+", nothing found")
			return nil
		}
		c.leadOn(w, src, "show %s", list[0].Examples[0].TraceID)
		return nil
	})
}

func writeHint(w io.Writer, h *analyze.Hint) {
	const longest = 300
	fmt.Fprintf(w, "%s: %s (%s): %s\n", h.Kind, render.FormatName(h.Route), render.FormatName(h.Service), terminal.Cut(h.Text, longest))
	fmt.Fprintf(w, "  %d of %s, costs %s in the median, %s at p99: trace %s span %s\n",
		h.Requests, terminal.Count(h.Of, "request"), took(h.CostP50), took(h.CostP99), h.Examples[0].TraceID, h.Examples[0].SpanID)
	for i, d := range h.Attributes {
		if i > 0 {
			fmt.Fprintf(w, "  also %s=%s: %s %% of the slow, %s %% of the others\n",
				terminal.Cut(d.Key, 60), terminal.Cut(d.Value, 60), percent(d.ShareSlow), percent(d.ShareRest))
		}
	}
}
