package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// windowUsage is the part of the usage that verbs with a window share.
const windowUsage = `  -since TIME     only what starts then or later: 12:03, 12:03:05, 2026-01-31,
                  2026-01-31T12:03:05Z; without a date, on the day of the last
                  span; without a zone, in UTC
  -until TIME     only what starts before
  -last 5m        only what starts in so long before the last span's end
`

// windowFlags is a window as it was asked for, and as it is.
type windowFlags struct {
	since, until string
	last         time.Duration
	analyze.Window
}

func (c *call) windowFlags() {
	w := &c.sel.window
	c.flags.StringVar(&w.since, "since", "", "")
	c.flags.StringVar(&w.until, "until", "", "")
	c.flags.DurationVar(&w.last, "last", 0, "")
}

func (w *windowFlags) isSet() bool { return w.since != "" || w.until != "" || w.last != 0 }

// String is the window as it was asked for.
func (w *windowFlags) String() string {
	var parts []string
	if w.since != "" {
		parts = append(parts, "-since "+w.since)
	}
	if w.until != "" {
		parts = append(parts, "-until "+w.until)
	}
	if w.last != 0 {
		parts = append(parts, "-last "+w.last.String())
	}
	return strings.Join(parts, " ")
}

// resolve finds out what the window is: the times may be relative to the last span, for which the files are read once.
func (c *call) resolveWindow(ctx context.Context, src *spansource.Source) error {
	w := &c.sel.window
	if !w.isSet() {
		return nil
	}
	if w.last < 0 || w.last > 0 && (w.since != "" || w.until != "") {
		return usagef("either -last, which is a length, or -since and -until")
	}
	newest, err := c.newest(ctx, src)
	if err != nil {
		return err
	}
	if w.last > 0 {
		w.Window = lastOf(newest, w.last)
		return nil
	}
	for _, bound := range []struct {
		text, flag string
		to         *uint64
	}{{w.since, "-since", &w.From}, {w.until, "-until", &w.To}} {
		if bound.text == "" {
			continue
		}
		at, err := analyze.ParseTime(bound.text, newest)
		if err != nil {
			return usagef("%s %q: %v", bound.flag, bound.text, err)
		}
		*bound.to = unixNano(at)
	}
	if w.To > 0 && w.To <= w.From {
		return usagef("%s: it ends before it begins", w)
	}
	return nil
}

func lastOf(newest time.Time, length time.Duration) analyze.Window {
	return analyze.Window{From: unixNano(newest.Add(-length))}
}

func unixNano(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

// newest is when the last span ended.
func (c *call) newest(ctx context.Context, src *spansource.Source) (time.Time, error) {
	if !src.Again() {
		return time.Time{}, errors.New("a window needs a file: standard input cannot be read twice")
	}
	var last uint64
	for span, err := range c.spans(ctx, src, tracefile.WithAttributes()) {
		if err != nil {
			return time.Time{}, err
		}
		last = max(last, span.StartUnixNano, span.EndUnixNano)
	}
	return time.Unix(int64(last/1e9), int64(last%1e9)).UTC(), nil
}
