package summary

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/internal/textwidth"
)

// page writes lines of a bounded width. Errors stay in the bufio.Writer, which
// keeps the first one.
type page struct {
	w       *bufio.Writer
	columns int // 0: any number
}

// text writes words, in several lines if need be. They are clean already.
func (p *page) text(format string, args ...any) {
	const indent = "  "
	line, used := "", 0
	for i, word := range strings.Split(fmt.Sprintf(format, args...), " ") {
		n := textwidth.Of(word)
		switch {
		case i == 0:
			line, used = word, n
		case p.columns > 0 && used+1+n > p.columns:
			p.line(line)
			line, used = indent+word, len(indent)+n
		default:
			line, used = line+" "+word, used+1+n
		}
	}
	p.line(line)
}

func (p *page) line(text string) {
	text = strings.TrimRight(text, " ")
	if p.columns > 0 {
		text = terminal.Shorten(text, p.columns)
	}
	_, _ = p.w.WriteString(text)
	_ = p.w.WriteByte('\n')
}

// label is a name from a span as the left side of a bar.
func (p *page) label(name string) string {
	const most, least = 36, 8
	switch name {
	case Other:
		return "(others)"
	case "":
		return "(none)"
	}
	if p.columns == 0 {
		return terminal.Cut(name, most)
	}
	return terminal.Cut(name, min(most, max(p.columns/3, least)))
}

func widest(labels []string) int {
	n := 0
	for _, l := range labels {
		n = max(n, textwidth.Of(l))
	}
	return n
}

// row is a label of so many columns, a number and a picture.
func (p *page) row(label string, columns int, n uint64, picture string) {
	p.line(fmt.Sprintf("  %s  %7d  %s", terminal.Pad(label, columns), n, picture))
}

// rest is how many columns are left for a picture, at most the ones it wants,
// beside labels of so many columns.
func (p *page) rest(labels, want int) int {
	const least, around = 8, 2 + 2 + 7 + 2 // blanks, and the number
	if p.columns == 0 {
		return want
	}
	return min(want, max(p.columns-labels-around, least))
}

// bars draws one bar a line under a title.
func (p *page) bars(title string, labels []string, counts []uint64) {
	most := uint64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	wide := widest(labels)
	const columns = 40
	p.text("")
	p.text("%s", title)
	for i, n := range counts {
		p.row(labels[i], wide, n, terminal.Bar(n, most, p.rest(wide, columns)))
	}
}
