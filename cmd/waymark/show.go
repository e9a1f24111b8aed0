package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/render"
)

const showUsage = `usage: waymark show [flags] TRACE [FILE …]
       waymark show [flags] -slowest ROUTE | -failed ROUTE [FILE …]
       waymark show [flags] -at p99 ROUTE [FILE …]

Shows where the time of one trace went: each span with its duration, its self time
(no child was at work), and its part of the critical path, which is what the request
waited for at each instant and adds up to 100 %. Calls of one shape in a row are one
line: ×24. Below: the time by service and by shape, clocks that differ, and what is
wrong with this trace.

TRACE is the beginning of its ID. ROUTE is a route as waymark routes has it, its
path, a part of one that no other has, or * for all.

  -slowest ROUTE  the slowest request of the route
  -failed ROUTE   its last one that failed
  -at p50|p90|p99|max   the request at that percentile of the ROUTE behind it
  -all            every span on a line of its own
` + windowUsage + `  -json           JSON, schema waymark.show/v1
` + sourceUsage

type showFlags struct {
	slowest, failed, at string
	all                 bool
}

func runShow(ctx context.Context, c *call, args []string) error {
	var o showFlags
	c.sourceFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.StringVar(&o.slowest, "slowest", "", "")
	c.flags.StringVar(&o.failed, "failed", "", "")
	c.flags.StringVar(&o.at, "at", "", "")
	c.flags.BoolVar(&o.all, "all", false, "")
	files, err := c.parse(args)
	if err != nil {
		return err
	}
	route, pick, files, err := o.question(files)
	if err != nil {
		return err
	}
	if route == "" {
		if len(files) == 0 {
			return usagef("want a TRACE, or -slowest ROUTE")
		}
		if err := c.sel.setTrace(files[0]); err != nil {
			return usagef("%q is no trace: %v, or -slowest ROUTE (waymark list lists traces, waymark routes the routes)", files[0], err)
		}
		files = files[1:]
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	if route != "" {
		if err := c.findExemplar(ctx, src, route, pick); err != nil {
			return err
		}
	}
	return c.showTrace(ctx, src, o)
}

// question is which request of which route is asked for; "" when a trace is.
func (o *showFlags) question(args []string) (route string, pick func(*analyze.Exemplars) *analyze.Ref, files []string, err error) {
	asked := 0
	for _, s := range [...]string{o.slowest, o.failed, o.at} {
		if s != "" {
			asked++
		}
	}
	slowest := func(e *analyze.Exemplars) *analyze.Ref { return e.Max }
	switch {
	case asked > 1:
		return "", nil, nil, usagef("want one of -slowest, -failed and -at")
	case o.slowest != "":
		return o.slowest, slowest, args, nil
	case o.failed != "":
		return o.failed, func(e *analyze.Exemplars) *analyze.Ref { return e.Failed }, args, nil
	case o.at == "":
		return "", nil, args, nil
	case len(args) == 0:
		return "", nil, nil, usagef("-at %s: want a ROUTE behind it", o.at)
	}
	pick = map[string]func(*analyze.Exemplars) *analyze.Ref{
		"p50": func(e *analyze.Exemplars) *analyze.Ref { return e.P50 },
		"p90": func(e *analyze.Exemplars) *analyze.Ref { return e.P90 },
		"p99": func(e *analyze.Exemplars) *analyze.Ref { return e.P99 },
		"max": slowest,
	}[o.at]
	if pick == nil {
		return "", nil, nil, usagef("-at %q: want p50, p90, p99 or max", o.at)
	}
	return args[0], pick, args[1:], nil
}

// findExemplar chooses the trace of a request of a route.
func (c *call) findExemplar(ctx context.Context, src *spansource.Source, route string, pick func(*analyze.Exemplars) *analyze.Ref) error {
	if !src.Again() {
		return errors.New("a route needs a file: standard input cannot be read twice")
	}
	ix, _, err := c.index(ctx, src, analyze.IndexOptions{})
	if err != nil {
		return err
	}
	rows := ix.Table(analyze.ByRoute, analyze.Window{}).Rows
	row, err := rowOf(rows, route)
	if err != nil {
		return err
	}
	ref := pick(&row.Exemplars)
	if ref == nil {
		return fmt.Errorf("%s: none of %s is one", row.Route, terminal.Count(row.Count, "request"))
	}
	c.sel = selection{trace: ref.TraceID.String()}
	return nil
}

// rowOf finds a route by its name, with or without the service in front, or by a part of it. Of several the one with the
// slowest request is taken for *.
func rowOf(rows []analyze.Row, route string) (*analyze.Row, error) {
	if len(rows) == 0 {
		return nil, errors.New("there are no requests")
	}
	if route == "*" {
		row := slices.MaxFunc(rows, func(a, b analyze.Row) int { return int(min(max(a.Max-b.Max, -1), 1)) })
		return &row, nil
	}
	var paths, parts []*analyze.Row
	for i := range rows {
		r := &rows[i]
		switch name := r.Service + " " + r.Route; {
		case r.Route == route || name == route:
			return r, nil
		case strings.HasSuffix(name, " "+route):
			paths = append(paths, r)
		case strings.Contains(strings.ToLower(name), strings.ToLower(route)):
			parts = append(parts, r)
		}
	}
	for _, found := range [2][]*analyze.Row{paths, parts} {
		if len(found) == 1 {
			return found[0], nil
		}
	}
	parts = append(paths, parts...)
	if len(parts) == 0 {
		return nil, fmt.Errorf("there is no route %q (waymark routes lists them)", route)
	}
	const shown = 5
	var names []string
	for _, r := range parts[:min(len(parts), shown)] {
		names = append(names, strconv.Quote(strings.TrimSpace(r.Service+" "+r.Route)))
	}
	if len(parts) > shown {
		names = append(names, "…")
	}
	return nil, fmt.Errorf("%q is in %d routes: %s", route, len(parts), strings.Join(names, ", "))
}

func (c *call) showTrace(ctx context.Context, src *spansource.Source, o showFlags) error {
	c.sel.window = windowFlags{} // the trace is shown whole
	h := analyze.NewHints(analyze.HintOptions{})
	var shown []analyze.Show
	t, err := c.wholes(ctx, src, func(trace *traces.Trace) {
		shown = append(shown, analyze.NewShow(trace))
		h.AddTrace(trace)
	})
	switch {
	case err != nil:
		return err
	case len(shown) == 0:
		return errFindings // which trace is not there is told
	case len(shown) > 1:
		return errors.New("want one trace")
	}
	if c.json {
		return c.printJSON(struct {
			Schema string     `json:"schema"`
			Source sourceJSON `json:"source"`
			analyze.Show
			Hints []analyze.Hint `json:"hints"`
		}{c.schema(), t.source(src), shown[0], h.Hints()})
	}
	return c.output(func(w io.Writer) error {
		s := &showPage{w: w, c: c, width: terminal.Width(c.stdout, c.lookup.Lookup), all: o.all}
		s.page(&shown[0], h.Hints())
		c.leadOn(w, src, "tree -events -trace %s", shown[0].TraceID)
		return s.err
	})
}

// showPage prints a trace for people. Errors stay in it.
type showPage struct {
	w     io.Writer
	c     *call
	width int
	all   bool
	err   error
}

func (p *showPage) printf(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if p.width > 0 {
		line = terminal.Shorten(line, p.width)
	}
	if _, err := io.WriteString(p.w, line+"\n"); p.err == nil {
		p.err = err
	}
}

func (p *showPage) page(s *analyze.Show, hints []analyze.Hint) {
	failed := ""
	if s.Failed {
		failed = ", failed"
	}
	p.printf("%s  %s  %s", s.TraceID, clock(s.Start), terminal.Cut(s.Route.Service, 40))
	p.printf("%s: %s, %s%s", terminal.Cut(s.Route.Name, 80), took(s.Duration), terminal.Count(len(s.Spans), "span"), failed)
	p.printf("")
	p.printf("%9s %9s %8s", "TIME", "SELF", "PATH %")
	p.spans(s)
	p.parts("by service", s.Services)
	p.parts("by shape", s.Shapes)
	for _, skew := range s.Skews {
		p.printf("")
		p.printf("the clock of %s is about %s ahead of that of %s", terminal.Cut(skew.Service, 40), took(skew.Ahead), terminal.Cut(skew.Than, 40))
	}
	for i := range hints {
		if i == 0 {
			p.printf("")
		}
		p.printf("%s: %s, costs %s", hints[i].Kind, render.FormatName(hints[i].Text), took(hints[i].CostP50))
	}
}

// maxShown is how many lines of spans are printed, and maxIndent how deep they are indented.
const (
	maxShown  = 2000
	maxIndent = 40
)

func (p *showPage) spans(s *analyze.Show) {
	lines := 0
	for i := range s.Spans {
		sp := &s.Spans[i]
		if sp.Repeats == 0 && !p.all {
			continue
		}
		if lines == maxShown && !p.all {
			p.printf("… and %d more spans (-all for all)", len(s.Spans)-i)
			return
		}
		lines++
		row := s.Spans[i : i+1]
		if !p.all {
			row = s.Spans[i : i+sp.Repeats]
		}
		p.span(s, row)
	}
}

// span prints a row of spans that are alike.
func (p *showPage) span(s *analyze.Show, row []analyze.ShownSpan) {
	var total, self, critical int64
	for i := range row {
		total, self, critical = total+row[i].Duration, self+row[i].Self, critical+row[i].Critical
	}
	sp := &row[0]
	name := sp.Name
	times := ""
	if len(row) > 1 {
		name, times = sp.Shape, fmt.Sprintf(" ×%d", len(row))
	}
	onPath := ""
	if critical > 0 && s.Duration > 0 {
		onPath = percent(float64(critical) / float64(s.Duration))
	}
	var notes strings.Builder
	if sp.Service != s.Route.Service || sp.Depth == 0 {
		notes.WriteString(" {" + terminal.Cut(sp.Service, 40) + "}")
	}
	if len(row) == 1 && sp.Shape != sp.Name && sp.Kind != "server" {
		notes.WriteString(" " + terminal.Cut(sp.Shape, 60))
	}
	if len(sp.Marks) > 0 {
		notes.WriteString(" [" + strings.Join(sp.Marks, ", ") + "]")
	}
	if sp.Message != "" {
		notes.WriteString(" " + terminal.Cut(sp.Message, 80))
	}
	p.printf("%9s %9s %8s  %s%s%s%s", took(total), took(self), onPath, strings.Repeat("  ", min(sp.Depth, maxIndent)), terminal.Cut(name, 60), times, notes.String())
}

func (p *showPage) parts(title string, parts []analyze.Part) {
	const most = 8
	if len(parts) < 2 {
		return
	}
	p.printf("")
	p.printf("%s:", title)
	for i, part := range parts {
		if i == most || part.Critical == 0 && i > 0 {
			break
		}
		name := part.Service
		if part.Shape != "" {
			name = part.Shape
		}
		p.printf("%8s %%  self %9s  %s (%s)", percent(part.Share), took(part.Self), terminal.Cut(name, 60), terminal.Count(part.Spans, "span"))
	}
}
