package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/internal/wholefile"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

const convertUsage = `usage: waymark convert -to FORMAT [-o OUT] [flags] [FILE …]

Writes the chosen spans in another format:

  otlp-jsonl      OTLP/JSON, a document a line
  otlp-json       OTLP/JSON, one document
  otlp-proto      OTLP protobuf, one TracesData message
  jaeger          what the Jaeger UI downloads and uploads
  zipkin          Zipkin v2 JSON
  csv             a row a span
  chrome          Chrome trace for Perfetto and chrome://tracing
  speedscope      speedscope's own format: names and times alone

What a format cannot hold is listed on stderr; the status is 0 all the same, since
the format was asked for, unless -strict is given. OTLP holds everything.

  -to FORMAT      one of these
  -o OUT          the file; it appears when it is whole (default: standard output)
  -strict         status 1 when the format could not hold something
` + selectUsage + windowUsage + sourceUsage

type convertFlags struct {
	to, out string
	strict  bool
}

// drawings are the formats that are drawn from trees, not written span by span.
const (
	toChrome     = "chrome"
	toSpeedscope = "speedscope"
)

func formats() []string {
	return []string{
		string(tracefile.OTLPJSONLines), string(tracefile.OTLPJSON), string(tracefile.OTLPProto), string(tracefile.Jaeger),
		string(tracefile.Zipkin), string(tracefile.CSV), toChrome, toSpeedscope,
	}
}

func runConvert(ctx context.Context, c *call, args []string) error {
	var o convertFlags
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.flags.StringVar(&o.to, "to", "", "")
	c.flags.StringVar(&o.out, "o", "-", "")
	c.flags.BoolVar(&o.strict, "strict", false, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case !slices.Contains(formats(), o.to):
		return usagef("-to %q: want %s", o.to, strings.Join(formats(), ", "))
	case o.to == string(tracefile.OTLPProto) && o.out == "-" && terminal.IsTerminal(c.stdout):
		return usagef("-to %s is binary and does not go to a terminal: name a file with -o", o.to)
	}
	if err := c.ofSpans(); err != nil {
		return err
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	var lost int64
	err = c.writeTo(o.out, src, func(w io.Writer) error {
		lost, err = c.convert(ctx, src, o.to, w)
		return err
	})
	if err == nil && lost > 0 && o.strict {
		return errFindings
	}
	return err
}

// convert returns how many things the format could not hold.
func (c *call) convert(ctx context.Context, src *spansource.Source, to string, w io.Writer) (int64, error) {
	if to == toChrome || to == toSpeedscope {
		return c.draw(ctx, src, to, w)
	}
	losses, err := tracefile.Write(w, tracefile.Format(to), filter(c.spans(ctx, src), c.sel.matches))
	if err != nil {
		return losses.Total, err
	}
	c.account(src.Report())
	c.losses(to, losses)
	return losses.Total, nil
}

func (c *call) draw(ctx context.Context, src *spansource.Source, to string, w io.Writer) (int64, error) {
	set, err := c.chosenSpans(ctx, src)
	if err != nil {
		return 0, err
	}
	lost := render.SpeedscopeLosses(set)
	if to == toChrome {
		lost = render.ChromeLosses(set)
		err = render.ChromeTrace(w, set)
	} else {
		err = render.Speedscope(w, set)
	}
	if err != nil {
		return 0, err
	}
	losses := countLosses(lost, int64(set.Len()))
	c.losses(to, losses)
	return losses.Total, nil
}

// maxLossKinds bounds the kinds that are listed; the rest is in the total.
const maxLossKinds = 200

func countLosses(lost iter.Seq[render.Loss], spans int64) tracefile.Losses {
	out := tracefile.Losses{Spans: spans}
	index := map[tracefile.LossCount]int{}
	for loss := range lost {
		out.Total++
		kind := tracefile.LossCount{Key: loss.Key, What: loss.What}
		i, ok := index[kind]
		switch {
		case ok:
			out.Counts[i].Count++
		case len(index) < maxLossKinds:
			index[kind] = len(out.Counts)
			out.Counts = append(out.Counts, tracefile.LossCount{Key: loss.Key, What: loss.What, Count: 1})
			out.List = append(out.List, tracefile.Loss(loss))
		}
	}
	return out
}

// chosenSpans holds the chosen spans, whatever their traces.
func (c *call) chosenSpans(ctx context.Context, src *spansource.Source) (*traces.Set, error) {
	var spans []*traces.Span
	err := c.each(ctx, src, func(span *traces.Span) {
		if c.sel.matches(span) {
			spans = append(spans, span)
		}
	})
	return traces.NewSet(spans), err
}

// losses lists what a format could not hold, by kind, with one span each: a kind
// that is not listed would be lost in silence. How many there can be is bounded.
func (c *call) losses(to string, l tracefile.Losses) {
	if l.Total == 0 {
		return
	}
	c.warn("%s could not hold %s of %s:", to, terminal.Count(l.Total, "thing"), terminal.Count(l.Spans, "span"))
	listed := int64(0)
	var reasons []string // those with the same reason share a line
	keys := map[string][]string{}
	for _, n := range l.Counts {
		listed += n.Count
		reason := fmt.Sprintf("%s (%s%s)", n.What, terminal.Count(n.Count, "time"), example(l, n))
		if keys[reason] == nil {
			reasons = append(reasons, reason)
		}
		keys[reason] = append(keys[reason], n.Key)
	}
	for _, reason := range reasons {
		c.warn("  %s: %s", reason, strings.Join(keys[reason], ", "))
	}
	if rest := l.Total - listed; rest > 0 {
		c.warn("  and %d more", rest)
	}
}

// example is the first span with a loss of the kind.
func example(l tracefile.Losses, n tracefile.LossCount) string {
	for _, loss := range l.List {
		if loss.Key == n.Key && loss.What == n.What {
			return fmt.Sprintf(", first in span %s of trace %s", loss.SpanID, loss.TraceID)
		}
	}
	return ""
}

// writeTo writes a file, making its folder, or standard output. The file
// replaces another in one step, once it is whole; it is for its owner alone, as
// the span file is. A device is not replaced, and nor is what was read.
func (c *call) writeTo(path string, src *spansource.Source, write func(io.Writer) error) error {
	if path == "-" {
		return c.output(write)
	}
	if err := mayReplace(path, src); err != nil {
		return err
	}
	return wholefile.Write(path, write)
}

func mayReplace(path string, src *spansource.Source) error {
	if path == "" {
		return usagef("-o %q: want a file, or - for standard output", path)
	}
	there, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // it is not there, or writing it says why not
	}
	if !there.Mode().IsRegular() {
		return usagef("-o %s: it is no regular file (- is standard output)", path)
	}
	for _, input := range src.Paths() {
		for _, name := range []string{input, filepath.Join(input, filepath.Base(path))} {
			if info, err := os.Stat(name); err == nil && os.SameFile(info, there) {
				return usagef("-o %s: it is what is read", path)
			}
		}
	}
	return nil
}
