package summary

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/render"
)

// What the text shows of long lists; JSON has all.
const (
	textServices = 10
	textNames    = 25
)

// WriteText draws the summary for a terminal: totals, bars, timelines. Lines have
// at most so many columns; 0 is no limit.
func (s *Summary) WriteText(w io.Writer, columns int) error {
	bw := bufio.NewWriter(w)
	p := &page{w: bw, columns: columns}
	s.totals(p)
	if s.Total.Spans > 0 {
		s.statuses(p)
		s.services(p)
		s.depths(p)
		s.durations(p)
		s.names(p)
	}
	return bw.Flush()
}

func (s *Summary) totals(w *page) {
	t := &s.Total
	w.text("%s in %s of %s, %s", terminal.Count(t.Spans, "span"), terminal.Count(t.Traces, "trace"),
		terminal.Count(uint64(len(s.Services)), "service"), terminal.Count(t.Failed, "error"))
	if t.Start > 0 {
		w.text("total duration %s, from %s to %s", duration(t.Duration()), instant(t.Start), instant(t.End))
	}
	if t.Open > 0 {
		w.text("%s without an end", terminal.Count(t.Open, "span"))
	}
	if t.Reversed > 0 {
		which := "that end before they start"
		if t.Reversed == 1 {
			which = "that ends before it starts"
		}
		w.text("%s %s, in no duration below", terminal.Count(t.Reversed, "span"), which)
	}
}

func duration(d time.Duration) string { return render.FormatDuration(int64(d)) }

func instant(unixNano uint64) string {
	return time.Unix(0, int64(min(unixNano, math.MaxInt64))).UTC().Format("2006-01-02T15:04:05.000Z")
}

func (s *Summary) statuses(w *page) {
	t := &s.Total
	w.bars("spans by status", []string{"Unset", "Ok", "Error"}, []uint64{t.Unset, t.OK, t.Failed})
}

func (s *Summary) services(w *page) {
	var labels []string
	var counts []uint64
	for i := range s.Services[:min(len(s.Services), textServices)] {
		labels = append(labels, w.label(s.Services[i].Service))
		counts = append(counts, s.Services[i].Spans)
	}
	w.bars("spans by service"+more(len(s.Services), textServices), labels, counts)
}

// more says how many lines a section leaves out.
func more(n, shown int) string {
	if n <= shown {
		return ""
	}
	return fmt.Sprintf(" (first %d of %d)", shown, n)
}

func (s *Summary) depths(w *page) {
	const shown = 12
	var labels []string
	counts := s.Depths
	if len(counts) > shown {
		counts = append([]uint64(nil), counts[:shown]...)
		for _, n := range s.Depths[shown:] {
			counts[shown-1] += n
		}
	}
	for i := range counts {
		labels = append(labels, strconv.Itoa(i))
	}
	if len(s.Depths) > shown {
		labels[shown-1] += "+"
	}
	w.bars("spans by depth", labels, counts)
}

func (s *Summary) durations(w *page) {
	for i := range s.Services[:min(len(s.Services), textServices)] {
		d := &s.Services[i]
		if d.Count == 0 {
			continue
		}
		title := fmt.Sprintf("durations of %s: p50 %s, p90 %s, p99 %s, max %s, mean %s", w.label(d.Service),
			duration(d.Quantile(0.5)), duration(d.Quantile(0.9)), duration(d.Quantile(0.99)), duration(d.Max), duration(d.Mean()))
		var labels []string
		var counts []uint64
		for _, b := range d.Histogram() {
			name := "from " + short(b.Low)
			if b.Low == 0 {
				name = "below 1 µs"
			}
			labels = append(labels, name)
			counts = append(counts, b.Count)
		}
		w.bars(title, labels, counts)
	}
}

// short prints the round limits of a histogram: 200 µs, 5 ms, 10 s.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	case d >= time.Millisecond:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + " ms"
	default:
		return strconv.FormatInt(int64(d/time.Microsecond), 10) + " µs"
	}
}

func (s *Summary) names(w *page) {
	if s.Timeline.Columns == 0 {
		return
	}
	shown := s.Names[:min(len(s.Names), textNames)]
	labels := make([]string, len(shown))
	for i := range shown {
		labels[i] = w.label(shown[i].Name)
	}
	const most, frame = 60, 2 // columns of a timeline, and of what stands around it
	columns := w.rest(widest(labels)+frame, most)
	per := (s.Timeline.Columns + columns - 1) / columns
	width := time.Duration(s.Timeline.Width) * time.Duration(per) //nolint:gosec // printed only
	w.text("")
	w.text("timeline by name%s: a column is %s, from %s; its height is the time that spans of the name were at work",
		more(len(s.Names), textNames), duration(width), instant(s.Timeline.Start))
	for i := range shown {
		w.row(labels[i], widest(labels), shown[i].Spans, "│"+terminal.Spark(merge(shown[i].Busy, per))+"│")
	}
}

// merge adds up neighbors.
func merge(values []uint64, per int) []uint64 {
	out := make([]uint64, (len(values)+per-1)/per)
	for i, v := range values {
		out[i/per] += v
	}
	return out
}
