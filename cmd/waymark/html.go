package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

const htmlUsage = `usage: waymark html [-o OUT] [flags] [FILE …]

Writes the traces that have a chosen span as one HTML file: flame graph, waterfall
and table, without network. Of more than 100,000 spans it holds the newest traces,
and says so.

  -o OUT          the file; it appears when it is whole (default: standard output)
  -n N            the newest N traces (default 0: all)
  -title TEXT     the report's heading
` + selectUsage + windowUsage + sourceUsage

func runHTML(ctx context.Context, c *call, args []string) error {
	var out, title string
	var newest int
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
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
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	set, opts, err := c.reportSpans(ctx, src, newest, maxReportSpans)
	if err != nil {
		return err
	}
	if title == "" {
		title = "Trace report"
	}
	opts = append(opts, render.WithTitle(title))
	if out != "-" {
		name := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out))
		opts = append(opts, render.WithDownloadName(name+".trace.json"))
	}
	return c.writeTo(out, src, func(w io.Writer) error { return render.HTML(w, set, opts...) })
}

// maxReportSpans keeps a report small enough for a browser, and bounds what is in
// memory to write it.
const maxReportSpans = 100_000

// reportSpans are the spans of the report, at most so many of the newest traces;
// what is left out is told on stderr and in the report.
func (c *call) reportSpans(ctx context.Context, src *spansource.Source, newest, most int) (*traces.Set, []render.HTMLOption, error) {
	ch, sets, err := c.wholeTraces(ctx, src, limit{traces: newest, spans: most})
	if err != nil {
		return nil, nil, err
	}
	var spans []*traces.Span
	for set, err := range sets {
		if err != nil {
			return nil, nil, err
		}
		for n := range set.All() {
			spans = append(spans, n.Span())
		}
	}
	total := ch.ofChosen
	if n := len(ch.list); n == newest && n < ch.chosen {
		c.warn("the newest %d of %d traces (-n 0 for all)", n, ch.chosen)
		total = ch.spans
	}
	if shown := min(ch.spans, most); shown < total {
		c.warn("the report holds the newest %d of %d spans (-trace and -where choose others)", shown, total)
	}
	return traces.NewSet(spans), []render.HTMLOption{render.WithMaxSpans(most), render.WithTotalSpans(total)}, nil
}
