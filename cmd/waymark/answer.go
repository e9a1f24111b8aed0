package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

// sourceJSON says what an answer is about, in the JSON of all verbs that answer.
type sourceJSON struct {
	Files      []string `json:"files"`
	From       uint64   `json:"from_unix_nano"` // the first start of the spans that were looked at
	To         uint64   `json:"to_unix_nano"`   // the last end
	Spans      int      `json:"spans"`
	Traces     int      `json:"traces"`
	PassedOver int64    `json:"passed_over"`
}

// tally counts what an answer is about.
type tally struct {
	sourceJSON
	seen map[traces.TraceID]struct{}
}

func newTally() *tally { return &tally{seen: map[traces.TraceID]struct{}{}} }

func (t *tally) add(span *traces.Span) {
	t.Spans++
	t.seen[span.TraceID] = struct{}{}
	if span.StartUnixNano > 0 && (t.From == 0 || span.StartUnixNano < t.From) {
		t.From = span.StartUnixNano
	}
	t.To = max(t.To, span.StartUnixNano, span.EndUnixNano)
}

func (t *tally) source(src *spansource.Source) sourceJSON {
	s := t.sourceJSON
	s.Traces, s.Files = len(t.seen), []string{}
	r := src.Report()
	for _, f := range r.Files {
		s.Files = append(s.Files, f.Name)
	}
	s.PassedOver = r.Total
	return s
}

// index reads the source into an index of the chosen spans.
func (c *call) index(ctx context.Context, src *spansource.Source, o analyze.IndexOptions) (*analyze.Index, *tally, error) {
	t := newTally()
	o.Match = func(span *traces.Span) bool {
		if !c.sel.matches(span) {
			return false
		}
		t.add(span)
		return true
	}
	ix := analyze.NewIndex(o)
	keys := analyze.Keys()
	if o.Key != "" {
		keys = append(keys, o.Key)
	}
	err := c.each(ctx, src, func(span *traces.Span) { ix.Add(span, 0) }, c.sel.fields(keys...)...)
	return ix, t, err
}

// wholes calls f with each trace that has a chosen span, whole.
func (c *call) wholes(ctx context.Context, src *spansource.Source, f func(*traces.Trace)) (*tally, error) {
	t := newTally()
	_, sets, err := c.wholeTraces(ctx, src, limit{})
	if err != nil {
		return nil, err
	}
	for set, err := range sets {
		if err != nil {
			return nil, err
		}
		for _, trace := range set.Traces() {
			for n := range trace.All() {
				t.add(n.Span())
			}
			f(trace)
		}
	}
	return t, nil
}

// leadOn ends an answer on a terminal with the command that leads on.
func (c *call) leadOn(w io.Writer, src *spansource.Source, format string, args ...any) {
	if terminal.IsTerminal(c.stdout) {
		fmt.Fprintf(w, "\nwaymark %s%s\n", fmt.Sprintf(format, args...), c.sourceArgs(src))
	}
}

// sourceArgs are the arguments that name the source again.
func (c *call) sourceArgs(src *spansource.Source) string {
	if c.app != "" {
		return " -app " + quoteArg(c.app)
	}
	var b strings.Builder
	if src.Note() == "" {
		for _, path := range src.Paths() {
			b.WriteString(" " + quoteArg(path))
		}
	}
	return b.String()
}

// quoteArg quotes an argument for a shell, if it must be.
func quoteArg(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// took is a duration in three digits: 1.23 ms.
func took(nano int64) string {
	d := float64(nano)
	for _, unit := range [...]struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}} {
		if math.Abs(d) >= 0.9995*unit.size {
			return digits(d/unit.size) + " " + unit.name
		}
	}
	return strconv.FormatInt(nano, 10) + " ns"
}

// digits is a number with three digits, and no point behind the third.
func digits(f float64) string {
	switch a := math.Abs(f); {
	case a >= 99.95:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
}

func percent(part float64) string {
	switch {
	case part == 0:
		return "0"
	case part < 0.001:
		return "<0.1"
	}
	return strconv.FormatFloat(100*part, 'f', 1, 64)
}

// routeCell is a route, and which one a row of the rest is.
func routeCell(name string) string {
	if name == analyze.Others {
		return "(others)"
	}
	return cell(name)
}

// clock is a time of the day, with the date where it is another one's.
func clock(unixNano uint64) string {
	if unixNano == 0 {
		return "-"
	}
	return time.Unix(0, int64(unixNano)).UTC().Format("2006-01-02T15:04:05.000Z")
}
