package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/traces/render"
)

const htmlUsage = `usage: waymark html [-o OUT] [flags] [FILE …]

Writes the traces that have a chosen span as one HTML file: flame graph, waterfall
and table, without network. Of more than 100,000 spans it holds the earliest.

  -o OUT          the file; it appears when it is whole (default: standard output)
  -n N            the newest N traces (default 0: all)
  -title TEXT     the report's heading
` + selectUsage + sourceUsage

func runHTML(ctx context.Context, c *call, args []string) error {
	var out, title string
	var newest int
	c.sourceFlags()
	c.selectFlags()
	c.flags.StringVar(&out, "o", "-", "")
	c.flags.StringVar(&title, "title", "", "")
	c.flags.IntVar(&newest, "n", 0, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case newest < 0:
		return usagef("-n %d: want no negative number", newest)
	}
	src, err := c.open(files)
	if err != nil {
		return err
	}
	set, err := c.wholeTraces(ctx, src, newest)
	if err != nil {
		return err
	}
	if title == "" {
		title = "Trace report"
	}
	opts := []render.HTMLOption{render.WithTitle(title)}
	if out != "-" {
		name := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out))
		opts = append(opts, render.WithDownloadName(name+".trace.json"))
	}
	return c.writeTo(out, src, func(w io.Writer) error { return render.HTML(w, set, opts...) })
}
