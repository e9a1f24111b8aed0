package summary

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// What the text shows of long lists; JSON has all.
const (
	textServices = 10
	textNames    = 25
	barWidth     = 40
	nameWidth    = 36
)

// WriteText draws the summary for a terminal: totals, bars, timelines.
func (s *Summary) WriteText(w io.Writer) error {
	bw := bufio.NewWriter(w)
	s.totals(bw)
	if s.Total.Spans > 0 {
		s.statuses(bw)
		s.services(bw)
		s.depths(bw)
		s.durations(bw)
		s.names(bw)
	}
	return bw.Flush()
}

func (s *Summary) totals(w io.Writer) {
	t := &s.Total
	fmt.Fprintf(w, "%s in %s of %s, %s\n", terminal.Count(t.Spans, "span"), terminal.Count(t.Traces, "trace"),
		terminal.Count(uint64(len(s.Services)), "service"), terminal.Count(t.Failed, "error"))
	if t.Start > 0 {
		fmt.Fprintf(w, "total duration %s, from %s to %s\n", duration(t.Duration()), instant(t.Start), instant(t.End))
	}
	if t.Open > 0 {
		fmt.Fprintf(w, "%s without an end\n", terminal.Count(t.Open, "span"))
	}
	if t.Reversed > 0 {
		which := "that end before they start"
		if t.Reversed == 1 {
			which = "that ends before it starts"
		}
		fmt.Fprintf(w, "%s %s, in no duration below\n", terminal.Count(t.Reversed, "span"), which)
	}
}

func duration(d time.Duration) string { return render.FormatDuration(int64(d)) }

func instant(unixNano uint64) string {
	return (&traces.Span{StartUnixNano: unixNano}).Start().Format("2006-01-02T15:04:05.000Z")
}

// label is a name from a span as the left side of a bar.
func label(name string) string {
	switch name {
	case Other:
		return "(others)"
	case "":
		return "(none)"
	}
	return terminal.Cut(name, nameWidth)
}

// bars draws one bar a line under a title.
func bars(w io.Writer, title string, labels []string, counts []uint64) {
	most, wide := uint64(0), 0
	for i, n := range counts {
		most = max(most, n)
		wide = max(wide, len([]rune(labels[i])))
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for i, n := range counts {
		line := fmt.Sprintf("  %-*s  %7d  %s", wide, labels[i], n, terminal.Bar(n, most, barWidth))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func (s *Summary) statuses(w io.Writer) {
	t := &s.Total
	bars(w, "spans by status", []string{"Unset", "Ok", "Error"}, []uint64{t.Unset, t.OK, t.Failed})
}

func (s *Summary) services(w io.Writer) {
	var labels []string
	var counts []uint64
	for i := range s.Services[:min(len(s.Services), textServices)] {
		labels = append(labels, label(s.Services[i].Service))
		counts = append(counts, s.Services[i].Spans)
	}
	bars(w, "spans by service"+more(len(s.Services), textServices), labels, counts)
}

// more says how many lines a section leaves out.
func more(n, shown int) string {
	if n <= shown {
		return ""
	}
	return fmt.Sprintf(" (first %d of %d)", shown, n)
}

func (s *Summary) depths(w io.Writer) {
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
	bars(w, "spans by depth", labels, counts)
}

func (s *Summary) durations(w io.Writer) {
	for i := range s.Services[:min(len(s.Services), textServices)] {
		d := &s.Services[i]
		if d.Count == 0 {
			continue
		}
		title := fmt.Sprintf("durations of %s: p50 %s, p90 %s, p99 %s, max %s, mean %s", label(d.Service),
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
		bars(w, title, labels, counts)
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

// textColumns is how wide a timeline is drawn.
const textColumns = 60

func (s *Summary) names(w io.Writer) {
	if s.Timeline.Columns == 0 {
		return
	}
	per := (s.Timeline.Columns + textColumns - 1) / textColumns
	width := time.Duration(s.Timeline.Width) * time.Duration(per) //nolint:gosec // printed only
	fmt.Fprintf(w, "\ntimeline by name%s: a column is %s, from %s; its height is the time that spans of the name were at work\n",
		more(len(s.Names), textNames), duration(width), instant(s.Timeline.Start))
	shown := s.Names[:min(len(s.Names), textNames)]
	wide := 0
	for i := range shown {
		wide = max(wide, len([]rune(label(shown[i].Name))))
	}
	for i := range shown {
		n := &shown[i]
		fmt.Fprintf(w, "  %-*s  %7d  │%s│\n", wide, label(n.Name), n.Spans, terminal.Spark(merge(n.Busy, per)))
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
