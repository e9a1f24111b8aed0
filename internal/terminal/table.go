package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells in aligned columns.
type Table struct {
	head  []string
	right []bool
	rows  [][]string
}

// NewTable makes a table with a header. A name that begins with ">" is that of
// a column of numbers, which are aligned to the right.
func NewTable(columns ...string) *Table {
	t := &Table{}
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		t.head = append(t.head, name)
		t.right = append(t.right, right)
	}
	return t
}

// Add appends a row with a cell for each column. The cells are clean already.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// WriteTo writes the header and the rows, with two blanks between columns and
// none at the end of a line.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	bw := bufio.NewWriter(w)
	total := int64(0)
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				line.WriteString(blanks + cell)
			} else {
				line.WriteString(cell + blanks)
			}
		}
		n, _ := bw.WriteString(strings.TrimRight(line.String(), " ") + "\n") // an error stays in bw
		total += int64(n)
	}
	if err := bw.Flush(); err != nil {
		return total, fmt.Errorf("terminal: write table: %w", err)
	}
	return total, nil
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
