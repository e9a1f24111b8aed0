package main

import (
	"context"
	"io"
	"strconv"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

const treeUsage = `usage: waymark tree [flags] [FILE …]

Draws traces as text trees: of all traces with a chosen span the newest ten.

  -n N            how many traces (default 10; 0: all)
` + selectUsage + `  -events         show span events: exceptions and the like
  -all            show all attributes, also the method, those of the connection
                  (server.*, user_agent.* …), code.* and other noise
  -sort           sort attributes by key
  -width N        cut lines to N characters (default: $COLUMNS on a terminal)
  -json           JSON, schema waymark.tree/v1: all spans, depth first
` + sourceUsage

type treeFlags struct {
	n, width          int
	events, all, sort bool
}

func runTree(ctx context.Context, c *call, args []string) error {
	const newest = 10
	var o treeFlags
	c.sourceFlags()
	c.selectFlags()
	c.jsonFlag()
	c.flags.IntVar(&o.n, "n", newest, "")
	c.flags.IntVar(&o.width, "width", 0, "")
	c.flags.BoolVar(&o.events, "events", false, "")
	c.flags.BoolVar(&o.all, "all", false, "")
	c.flags.BoolVar(&o.sort, "sort", false, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case o.n < 0 || o.width < 0:
		return usagef("want no negative number")
	}
	src, err := c.open(files)
	if err != nil {
		return err
	}
	set, err := c.wholeTraces(ctx, src, o.n)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(treeJSON(c.schema(), set))
	}
	return c.output(func(w io.Writer) error {
		if err := render.Tree(w, set, c.treeOptions(o)...); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	})
}

func (c *call) treeOptions(o treeFlags) []render.TreeOption {
	opts := []render.TreeOption{render.WithStatusText(), render.WithOpenMark(), render.WithHiddenKeys(noise()...)}
	if o.events {
		opts = append(opts, render.WithEvents())
	}
	if o.all { // the later option wins
		opts = append(opts, render.WithoutHiddenKeys())
	}
	if o.sort {
		opts = append(opts, render.WithSortedAttributes())
	}
	if terminal.Color(c.stdout, c.lookup.Lookup) {
		opts = append(opts, render.WithColor())
	}
	if o.width == 0 && terminal.IsTerminal(c.stdout) {
		columns, _ := c.lookup.Lookup("COLUMNS")
		o.width, _ = strconv.Atoi(columns) // not a number: not cut
	}
	return append(opts, render.WithWidth(o.width))
}

// noise are attributes of HTTP spans that the name says too, or that are the
// same for most requests: more than half of a server span's line.
func noise() []string {
	return []string{"network.*", "server.*", "client.*", "url.scheme", "user_agent.*", "http.request.method"}
}

type treeDoc struct {
	Schema string      `json:"schema"`
	Traces []traceTree `json:"traces"`
}

type traceTree struct {
	TraceID traces.TraceID `json:"trace_id"`
	Spans   []spanJSON     `json:"spans"` // depth first
}

func treeJSON(schema string, set *traces.Set) treeDoc {
	doc := treeDoc{Schema: schema, Traces: []traceTree{}}
	for _, t := range set.Traces() {
		tree := traceTree{TraceID: t.ID()}
		for n := range t.All() {
			tree.Spans = append(tree.Spans, nodeJSON(n))
		}
		doc.Traces = append(doc.Traces, tree)
	}
	return doc
}
