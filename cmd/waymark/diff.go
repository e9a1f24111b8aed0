package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/render"
)

const diffUsage = `usage: waymark diff [flags] BEFORE AFTER
       waymark diff [flags] -last 5m [-before 5m] [FILE …]
       waymark diff [flags] -trace A -trace B [FILE …]

Compares two runs, which are files or folders, two windows of one, or two traces.
Of runs, each route with its median, p99, failed requests, and whether the change is
significant: p < 0.01 by the Mann-Whitney test, corrected for the number of routes,
and medians that differ by 5 % and more; else it is ~. Below a change stand the calls
that make it, and what appeared or vanished. Traces are aligned by their calls.

  -last 5m        after: what starts in so long before the last span's end
  -before 5m      before: what starts in so long before that (default: as long)
  -previous       with -app: before is the App's previous run (<APP>_TRACES_KEEP)
  -trace ID       twice: the two traces
  -all            also routes whose change is not significant
  -where QUERY    only what fits, as in waymark list -h
  -json           JSON, schema waymark.diff/v1
` + sourceUsage

type diffFlags struct {
	last, before  time.Duration
	previous, all bool
	traces        []string
}

func runDiff(ctx context.Context, c *call, args []string) error {
	var o diffFlags
	c.sourceFlags()
	c.jsonFlag()
	c.flags.Func("where", "", c.sel.addWhere)
	c.flags.DurationVar(&o.last, "last", 0, "")
	c.flags.DurationVar(&o.before, "before", 0, "")
	c.flags.BoolVar(&o.previous, "previous", false, "")
	c.flags.BoolVar(&o.all, "all", false, "")
	c.flags.Func("trace", "", func(id string) error {
		o.traces = append(o.traces, id)
		return (&selection{}).setTrace(id)
	})
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case len(o.traces) > 0 && len(o.traces) != 2:
		return usagef("want -trace twice")
	case o.last < 0 || o.before < 0 || o.before > 0 && o.last == 0:
		return usagef("want -last, and no negative length")
	case len(o.traces) == 2:
		return c.diffTraces(ctx, files, o)
	case o.last > 0:
		return c.diffWindows(ctx, files, o)
	case o.previous:
		return c.diffPrevious(ctx, files, o)
	case len(files) != 2 || c.app != "":
		return usagef("want two files, BEFORE and AFTER, or -last, or -app NAME -previous")
	}
	before, err := c.side(ctx, files[:1], analyze.Window{})
	if err != nil {
		return err
	}
	after, err := c.side(ctx, files[1:], analyze.Window{})
	if err != nil {
		return err
	}
	return c.printDiff(before, after, o)
}

// runSide is one of the runs that are compared.
type runSide struct {
	*analyze.Side
	source sourceJSON
}

func (c *call) side(ctx context.Context, files []string, w analyze.Window) (runSide, error) {
	src, err := c.find(files, false)
	if err != nil {
		return runSide{}, err
	}
	return c.sideOf(ctx, src, w)
}

func (c *call) sideOf(ctx context.Context, src *spansource.Source, w analyze.Window) (runSide, error) {
	c.sel = selection{query: c.sel.query}
	c.sel.window.Window = w
	s := analyze.NewSide(w)
	t, err := c.wholes(ctx, src, s.AddTrace)
	if err != nil {
		return runSide{}, err
	}
	return runSide{s, t.source(src)}, nil
}

func (c *call) diffWindows(ctx context.Context, files []string, o diffFlags) error {
	src, err := c.find(files, false)
	if err != nil {
		return err
	}
	newest, err := c.newest(ctx, src)
	if err != nil {
		return err
	}
	if o.before == 0 {
		o.before = o.last
	}
	last := lastOf(newest, o.last)
	before, err := c.sideOf(ctx, src, analyze.Window{From: lastOf(newest, o.last+o.before).From, To: last.From})
	if err != nil {
		return err
	}
	after, err := c.sideOf(ctx, src, last)
	if err != nil {
		return err
	}
	return c.printDiff(before, after, o)
}

func (c *call) diffPrevious(ctx context.Context, files []string, o diffFlags) error {
	if len(files) > 0 {
		return usagef("-previous is for the files of an App, and not for named ones")
	}
	src, err := c.findPrevious()
	if err != nil {
		return err
	}
	before, err := c.sideOf(ctx, src, analyze.Window{})
	if err != nil {
		return err
	}
	after, err := c.side(ctx, nil, analyze.Window{})
	if err != nil {
		return err
	}
	return c.printDiff(before, after, o)
}

func (c *call) printDiff(before, after runSide, o diffFlags) error {
	d := analyze.Compare(before.Side, after.Side)
	if c.json {
		return c.printJSON(struct {
			Schema string     `json:"schema"`
			Before sourceJSON `json:"before"`
			After  sourceJSON `json:"after"`
			analyze.Comparison
		}{c.schema(), before.source, after.source, d})
	}
	return c.output(func(w io.Writer) error {
		p := &diffPage{w: w, width: terminal.Width(c.stdout, c.lookup.Lookup), all: o.all}
		fmt.Fprintf(w, "before: %s; after: %s\n", sideText(before.source), sideText(after.source))
		return p.page(&d)
	})
}

func sideText(s sourceJSON) string {
	return fmt.Sprintf("%s in %s from %s", terminal.Count(s.Spans, "span"), took(int64(s.To-s.From)), clock(s.From))
}

type diffPage struct {
	w     io.Writer
	width int
	all   bool
}

func (p *diffPage) page(d *analyze.Comparison) error {
	shown, quiet := p.choose(d.Routes)
	if len(shown) > 0 {
		rows := func(yield func([]string) bool) {
			for i := range shown {
				if !yield(changeCells(&shown[i])) {
					return
				}
			}
		}
		fmt.Fprintln(p.w)
		t := terminal.NewTable(rows, "ROUTE", "SERVICE", ">COUNT", ">P50", ">→", ">CHANGE", ">P99", ">→", ">FAILED %", ">→", "P VALUE")
		if _, err := t.Fit(p.width, map[string]int{"ROUTE": 16, "SERVICE": 7}).WriteTo(p.w); err != nil {
			return err
		}
	}
	for i := range shown {
		p.calls(&shown[i])
	}
	if quiet > 0 {
		fmt.Fprintf(p.w, "\n%s not significantly different", counted(quiet, "route is", "routes are"))
		if !p.all {
			fmt.Fprint(p.w, " (-all shows them)")
		}
		fmt.Fprintln(p.w)
	}
	p.oneSided("appeared", d.Appeared)
	p.oneSided("vanished", d.Vanished)
	return nil
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// choose returns the routes to print, and how many did not change.
func (p *diffPage) choose(list []analyze.RouteChange) (shown []analyze.RouteChange, quiet int) {
	for i := range list {
		changed := list[i].Significant || list[i].FailedSignificant
		if !changed {
			quiet++
		}
		if changed || p.all {
			shown = append(shown, list[i])
		}
	}
	return shown, quiet
}

func changeCells(r *analyze.RouteChange) []string {
	change := "~"
	if r.Significant {
		change = fmt.Sprintf("%+.1f%%", 100*r.ChangeP50)
	}
	failed := func(s analyze.RunSide) string { return percent(float64(s.Failed) / float64(max(s.Count, 1))) }
	value := r.PValue
	mark := ""
	if r.FailedSignificant {
		mark = " more or fewer fail"
		value = min(value, r.FailedPValue)
	}
	return []string{
		cell(r.Route), cell(r.Service), fmt.Sprintf("%d/%d", r.Before.Count, r.After.Count), took(r.Before.P50), took(r.After.P50), change,
		took(r.Before.P99), took(r.After.P99), failed(r.Before), failed(r.After), strconv.FormatFloat(value, 'g', 2, 64) + mark,
	}
}

// calls prints what a change of a route is made of: what changed by a tenth of it and more, or in its number.
func (p *diffPage) calls(r *analyze.RouteChange) {
	const most = 5
	total := r.After.P50 - r.Before.P50
	n := 0
	for _, call := range r.Calls {
		change := call.CriticalAfter - call.CriticalBefore
		small := max(change, -change)*10 < max(total, -total)
		if small && call.Before == call.After || n == most || !r.Significant {
			continue
		}
		if n == 0 {
			fmt.Fprintf(p.w, "\n%s waits in the mean of a request for\n", render.FormatName(r.Route))
		}
		n++
		fmt.Fprintf(p.w, "  %s → %s  %s, %s → %s calls\n", took(call.CriticalBefore), took(call.CriticalAfter), terminal.Cut(call.Shape, 70), digits(call.Before), digits(call.After))
	}
}

func (p *diffPage) oneSided(what string, d analyze.OneSided) {
	const most = 10
	var lines []string
	for _, r := range d.Routes {
		lines = append(lines, "route "+render.FormatName(r.Name)+" ("+render.FormatName(r.Service)+")")
	}
	for _, s := range d.Shapes {
		lines = append(lines, "call "+terminal.Cut(s.Shape, 70)+" in "+render.FormatName(s.Name))
	}
	for _, e := range d.Errors {
		lines = append(lines, fmt.Sprintf("error %s %s in %s, %d times", render.FormatName(e.Type), terminal.Cut(e.Message, 70), render.FormatName(e.Route), e.Count))
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(p.w, "\n%s:\n", what)
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(p.w, "  and %d more\n", len(lines)-most)
			return
		}
		fmt.Fprintln(p.w, "  "+line)
	}
}

func (c *call) diffTraces(ctx context.Context, files []string, o diffFlags) error {
	src, err := c.find(files, false)
	if err != nil {
		return err
	}
	if !src.Again() {
		return usagef("two traces need a file: standard input cannot be read twice")
	}
	var both [2]*traces.Trace
	for i, id := range o.traces {
		c.sel = selection{}
		if err := c.sel.setTrace(id); err != nil {
			return usagef("-trace %q: %v", id, err)
		}
		n := 0
		if _, err := c.wholes(ctx, src, func(t *traces.Trace) { both[i], n = t, n+1 }); err != nil {
			return err
		}
		if n != 1 {
			return errFindings // which trace is not there, or not one alone, is told
		}
	}
	rows := analyze.Align(both[0], both[1])
	if c.json {
		return c.printJSON(struct {
			Schema string               `json:"schema"`
			Before traces.TraceID       `json:"before"`
			After  traces.TraceID       `json:"after"`
			Rows   []analyze.AlignedRow `json:"rows"`
		}{c.schema(), both[0].ID(), both[1].ID(), rows})
	}
	cells := func(yield func([]string) bool) {
		for _, r := range rows {
			if !yield([]string{
				took(r.Before.Duration), took(r.After.Duration), signed(r.Change), fmt.Sprintf("%d/%d", r.Before.Count, r.After.Count), cell(r.Service),
				strings.Repeat("  ", min(r.Depth, maxIndent)) + terminal.Cut(r.Shape, 70),
			}) {
				return
			}
		}
	}
	return c.printTable(terminal.NewTable(cells, ">BEFORE", ">AFTER", ">CHANGE", ">COUNT", "SERVICE", "SHAPE").Fit(terminal.Width(c.stdout, c.lookup.Lookup)))
}

func signed(nano int64) string {
	if nano > 0 {
		return "+" + took(nano)
	}
	return took(nano)
}
