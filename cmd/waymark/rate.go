package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/analyze"
)

const rateUsage = `usage: waymark rate [flags] [FILE …]

Prints how many requests started when, as bars, how many of them failed, and how
many spans there were; below, the second with the most spans, and the one with the
most requests.

  -n N            how many bars (default 30)
` + selectUsage + windowUsage + `  -json           JSON, schema waymark.rate/v1
` + sourceUsage

func runRate(ctx context.Context, c *call, args []string) error {
	const bars = 30
	n := bars
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.IntVar(&n, "n", bars, "")
	files, err := c.parse(args)
	const most = 10_000
	switch {
	case err != nil:
		return err
	case n <= 0 || n > most:
		return usagef("-n %d: want 1 to %d", n, most)
	}
	if err := c.ofSpans(); err != nil {
		return err
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	ix, t, err := c.index(ctx, src, analyze.IndexOptions{})
	if err != nil {
		return err
	}
	rates := ix.Rates(n, analyze.Window{})
	if c.json {
		return c.printJSON(struct {
			Schema string     `json:"schema"`
			Source sourceJSON `json:"source"`
			analyze.Rates
		}{c.schema(), t.source(src), rates})
	}
	return c.printRates(rates)
}

func (c *call) printRates(r analyze.Rates) error {
	most := 0
	for _, b := range r.Buckets {
		most = max(most, b.Count)
	}
	const bar = 40
	rows := func(yield func([]string) bool) {
		for _, b := range r.Buckets {
			seconds := float64(b.To-b.From) / 1e9
			cells := []string{
				clock(b.From), strconv.Itoa(b.Count), digits(float64(b.Count) / seconds), strconv.Itoa(b.Failed), strconv.Itoa(b.Spans),
				terminal.Bar(uint64(b.Count), uint64(most), bar),
			}
			if !yield(cells) {
				return
			}
		}
	}
	return c.output(func(w io.Writer) error {
		t := terminal.NewTable(rows, "FROM", ">REQUESTS", ">RATE/S", ">FAILED", ">SPANS", "")
		if _, err := t.Fit(terminal.Width(c.stdout, c.lookup.Lookup)).WriteTo(w); err != nil || len(r.Buckets) == 0 {
			return err
		}
		_, err := fmt.Fprintf(w, "\nmost spans: %s in the second from %s; most requests: %d in that from %s\n",
			terminal.Count(r.Peak.Spans, "span"), clock(r.Peak.From), r.PeakRequests.Count, clock(r.PeakRequests.From))
		return err
	})
}
