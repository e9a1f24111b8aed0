package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/summary"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/internal/wholefile"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// maxReportSpans is what a report holds at most: the last so many. A browser
// copes with them, and memory is bounded by them.
const maxReportSpans = 100_000

type analysis struct {
	options options
	stdin   io.Reader
	stdout  io.Writer
	warn    func(string)
	lookup  env.Lookup
}

func (a *analysis) find(wait bool) (*spansource.Source, error) {
	return spansource.Find(spansource.Query{
		Paths: a.options.files, App: a.options.app, Stdin: a.stdin, Lookup: a.lookup.Lookup, Wait: wait,
		File: func(app string) string {
			settings, _ := env.Parse(app, a.lookup)
			return settings.TracesFile.V
		},
	})
}

// once prints the summary and writes the report.
func (a *analysis) once(ctx context.Context) error {
	src, err := a.find(false)
	if err != nil {
		return err
	}
	if src.Note() != "" {
		a.warn(src.Note())
	}
	return a.analyze(ctx, src)
}

func (a *analysis) analyze(ctx context.Context, src *spansource.Source) error {
	b := summary.New()
	var last lastSpans
	for span, err := range src.Spans(ctx) {
		if err != nil {
			return err
		}
		b.Add(span, true)
		last.add(span)
	}
	for _, s := range src.Report().Skipped {
		a.warn(s.String())
	}
	s := b.Sum()
	if err := s.WriteText(a.stdout, terminal.Width(a.stdout, a.lookup.Lookup)); err != nil {
		return err
	}
	spans := last.list()
	if n := uint64(len(spans)); n < s.Total.Spans {
		a.warn(fmt.Sprintf("the report holds the last %d of %d spans", n, s.Total.Spans))
	}
	path := a.options.report(src)
	err := wholefile.Write(path, func(w io.Writer) error {
		return render.HTML(w, traces.NewSet(spans), render.WithTitle("Traces of "+filepath.Base(path)))
	})
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w (name another file with -o)", err)
	}
	if err != nil {
		return err
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	_, err = fmt.Fprintf(a.stdout, "\nreport: %s\n", render.FormatName(path))
	return err
}

// lastSpans keeps the last spans of the files, which are the newest: a span is
// written when it ends.
type lastSpans struct {
	ring []*traces.Span
	next int // where the oldest stands in a full ring
}

func (l *lastSpans) add(span *traces.Span) {
	if len(l.ring) < maxReportSpans {
		l.ring = append(l.ring, span)
		return
	}
	l.ring[l.next] = span
	l.next = (l.next + 1) % maxReportSpans
}

func (l *lastSpans) list() []*traces.Span { return slices.Concat(l.ring[l.next:], l.ring[:l.next]) }

// watchFiles analyzes whenever the files have changed, everything anew: a
// program that starts again clears its file. Nothing there yet is waited for.
func (a *analysis) watchFiles(ctx context.Context) error {
	ticks := time.NewTicker(a.options.watch)
	defer ticks.Stop()
	seen := "nothing yet"
	for {
		src, err := a.find(true)
		now := ""
		if err == nil {
			now = state(src.Paths())
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now != seen {
			if err := a.refresh(ctx, src, now); err != nil {
				return err
			}
			seen = now
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// refresh draws anew, over what was drawn before when it is on a terminal.
func (a *analysis) refresh(ctx context.Context, src *spansource.Source, now string) error {
	if terminal.IsTerminal(a.stdout) {
		fmt.Fprint(a.stdout, "\x1b[H\x1b[2J")
	}
	if now == "" {
		fmt.Fprintln(a.stdout, "waiting for spans")
		return nil
	}
	fmt.Fprintf(a.stdout, "%s, every %v\n\n", render.FormatName(strings.Join(src.Paths(), ", ")), a.options.watch)
	err := a.analyze(ctx, src)
	if ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
		err = nil // interrupted; or cleared while it was read, and the next look finds the new one
	}
	return err
}

// state is what changes when the files of the paths do; "" when there are none.
func state(paths []string) string {
	var b strings.Builder
	note := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.Ext(path) != ".html" {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, p := range paths {
		entries, err := os.ReadDir(p)
		if err != nil {
			note(p)
			continue
		}
		for _, e := range entries {
			note(filepath.Join(p, e.Name()))
		}
	}
	return b.String()
}
