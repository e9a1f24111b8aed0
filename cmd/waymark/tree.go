package main

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

const treeUsage = `usage: waymark tree [flags] [FILE …]

Draws traces as text trees: of all traces with a chosen span the newest ten. Above
each root stand its trace ID, its start and its service.

  -n N            how many traces (default 10; 0: all)
` + selectUsage + windowUsage + `  -events         show span events: exceptions and the like; a stack in lines,
                  without the frames of Go's runtime and of tracing
  -all            show all attributes, also the method, those of the connection
                  (server.*, user_agent.* …), code.* and other noise
  -sort           sort attributes by key
  -width N        cut lines to N columns (default: what the terminal has, or
                  $COLUMNS)
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
	c.windowFlags()
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
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	ch, sets, err := c.wholeTraces(ctx, src, limit{traces: o.n})
	if err != nil {
		return err
	}
	if n := len(ch.list); n < ch.chosen {
		c.warn("the newest %d of %d traces (-n 0 for all)", n, ch.chosen)
	}
	if c.json {
		return c.printTreesJSON(sets)
	}
	return c.printTrees(sets, o)
}

// printTrees draws a trace as soon as it is whole.
func (c *call) printTrees(sets iter.Seq2[*traces.Set, error], o treeFlags) error {
	opts := c.treeOptions(o)
	return c.output(func(w io.Writer) error {
		drawn := false
		for set, err := range sets {
			if err == nil {
				err = drawTree(w, set, opts)
			}
			if err != nil {
				return err
			}
			drawn = true
		}
		if drawn {
			return nil
		}
		return drawTree(w, traces.NewSet(nil), opts)
	})
}

func drawTree(w io.Writer, set *traces.Set, opts []render.TreeOption) error {
	if err := render.Tree(w, set, opts...); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *call) treeOptions(o treeFlags) []render.TreeOption {
	opts := []render.TreeOption{
		render.WithTraceLines(), render.WithStatusText(), render.WithOpenMark(), render.WithHiddenKeys(noise()...),
	}
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
	if o.width == 0 {
		o.width = terminal.Width(c.stdout, c.lookup.Lookup)
	}
	return append(opts, render.WithWidth(o.width))
}

// noise are attributes of HTTP spans that the name says too, or that are the
// same for most requests: more than half of a server span's line.
func noise() []string {
	return []string{"network.*", "server.*", "client.*", "url.scheme", "user_agent.*", "http.request.method"}
}

type traceTree struct {
	TraceID traces.TraceID `json:"trace_id"`
	Spans   []spanJSON     `json:"spans"` // depth first
}

// printTreesJSON writes a trace as soon as it is whole.
func (c *call) printTreesJSON(sets iter.Seq2[*traces.Set, error]) error {
	var failed error
	err := c.printJSONList("traces", func(yield func(any) bool) {
		for set, err := range sets {
			if err != nil {
				failed = err
				return
			}
			for _, t := range set.Traces() {
				tree := traceTree{TraceID: t.ID()}
				for n := range t.All() {
					tree.Spans = append(tree.Spans, nodeJSON(n))
				}
				if !yield(tree) {
					return
				}
			}
		}
	})
	return errors.Join(err, failed)
}
