package terminal

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/waymark-trace/waymark/internal/textwidth"
)

// Table is rows of cells in aligned columns.
type Table struct {
	head  []string
	right []bool
	rows  iter.Seq[[]string]
	width int // of a line; 0: any
	cuts  []map[string]int
}

// NewTable makes a table with a header. A name that begins with ">" is that of
// a column of numbers, which are aligned to the right. Each row has a cell for
// each column, and the cells are clean already. The rows are asked for twice,
// so that a long table is never held as text.
func NewTable(rows iter.Seq[[]string], columns ...string) *Table {
	t := &Table{rows: rows}
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		t.head = append(t.head, name)
		t.right = append(t.right, right)
	}
	return t
}

// Fit makes lines fit into so many columns of a terminal; 0 is any number. The
// columns of the table that the first of cuts names are cut, the widest first,
// down to the width it says, then those of the second and so on; what still does
// not fit is cut at the end of the line.
func (t *Table) Fit(width int, cuts ...map[string]int) *Table {
	t.width, t.cuts = width, cuts
	return t
}

const gap = 2 // blanks between columns

// WriteTo writes the header and the rows, with two blanks between columns and
// none at the end of a line.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := make([]int, len(t.head))
	t.measure(widths, t.head)
	for row := range t.rows {
		t.measure(widths, row)
	}
	t.shrink(widths)
	bw := bufio.NewWriter(w)
	total, err := t.write(bw, widths, t.head)
	for row := range t.rows {
		if err != nil {
			break
		}
		var n int64
		n, err = t.write(bw, widths, row)
		total += n
	}
	if flushed := bw.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		return total, fmt.Errorf("write table: %w", err)
	}
	return total, nil
}

func (t *Table) measure(widths []int, row []string) {
	for i, cell := range row {
		widths[i] = max(widths[i], textwidth.Of(cell))
	}
}

// shrink makes columns narrower until the line fits.
func (t *Table) shrink(widths []int) {
	over := gap*(len(widths)-1) - t.width
	for _, n := range widths {
		over += n
	}
	for _, least := range t.cuts {
		for ; t.width > 0 && over > 0; over-- {
			i := t.widest(widths, least)
			if i < 0 {
				break
			}
			widths[i]--
		}
	}
}

// widest is the widest column that may be cut; -1: none.
func (t *Table) widest(widths []int, least map[string]int) int {
	widest := -1
	for i, n := range widths {
		to, may := least[t.head[i]]
		if may && n > to && (widest < 0 || n > widths[widest]) {
			widest = i
		}
	}
	return widest
}

func (t *Table) write(w *bufio.Writer, widths []int, row []string) (int64, error) {
	var line strings.Builder
	for i, cell := range row {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", gap))
		}
		cell = Shorten(cell, widths[i])
		if t.right[i] {
			line.WriteString(strings.Repeat(" ", widths[i]-textwidth.Of(cell)) + cell)
		} else {
			line.WriteString(Pad(cell, widths[i]))
		}
	}
	text := strings.TrimRight(line.String(), " ")
	if t.width > 0 {
		text = Shorten(text, t.width)
	}
	n, err := w.WriteString(text + "\n")
	return int64(n), err
}

// Bar draws n of most as a bar of at most so many characters. What is not zero
// is never an empty bar.
func Bar(n, most uint64, characters int) string {
	if n == 0 || most == 0 {
		return ""
	}
	eighths := int(float64(n) / float64(most) * float64(characters) * 8)
	eighths = min(max(eighths, 1), characters*8)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}

// Spark draws values as one character each, from a blank for zero to a full
// block for the largest.
func Spark(values []uint64) string {
	most := uint64(0)
	for _, v := range values {
		most = max(most, v)
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, len(values))
	for i, v := range values {
		out[i] = ' '
		if v > 0 {
			level := int(float64(v)/float64(most)*float64(len(levels))+0.999) - 1
			out[i] = levels[min(max(level, 0), len(levels)-1)]
		}
	}
	return string(out)
}
