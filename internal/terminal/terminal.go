// Package terminal is what a command shows on a terminal: tables, bars, and text
// from spans that is short and cannot control it.
package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/textwidth"
	"github.com/waymark-trace/waymark/traces/render"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, ok = columns(f)
	return ok
}

// Width is how many columns a line on w may have: COLUMNS when it is a number,
// else what the terminal says. 0 is no limit: w is no terminal, or does not
// know its size.
func Width(w io.Writer, lookup func(string) (string, bool)) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, ok := columns(f)
	if !ok {
		return 0
	}
	v, _ := lookup("COLUMNS")
	if set, err := strconv.Atoi(v); err == nil && set > 0 {
		return set
	}
	return n
}

// Color reports whether output to w may have colors: on a terminal, unless
// NO_COLOR is set to anything or TERM is dumb.
//
// Spec: https://no-color.org/
func Color(w io.Writer, lookup func(string) (string, bool)) bool {
	if v, _ := lookup("NO_COLOR"); v != "" {
		return false
	}
	if v, _ := lookup("TERM"); v == "dumb" {
		return false
	}
	return IsTerminal(w)
}

// Cut is [render.FormatName], cut to so many columns, the last being "…".
func Cut(s string, columns int) string {
	head := begin(s, columns)
	text := render.FormatName(head)
	if len(head) < len(s) {
		text = fit(text, columns-1) + "…"
	}
	return Shorten(text, columns)
}

// Shorten cuts text that is clean already to so many columns, the last being "…".
func Shorten(s string, columns int) string {
	if textwidth.Of(s) <= columns {
		return s
	}
	return fit(s, columns-1) + "…"
}

// begin is enough of s to fill so many columns, if it has so much: a name of a
// megabyte, also of marks that take no column, is not looked through for nothing.
func begin(s string, columns int) string {
	const charactersAColumn = 20
	n := 0
	for i := range s {
		if n++; n > charactersAColumn*(columns+1) {
			return s[:i]
		}
	}
	return s
}

// fit is the longest beginning of s in so many columns.
func fit(s string, columns int) string {
	at := 0
	for at < len(s) {
		size, n := textwidth.Next(s[at:])
		if columns -= n; columns < 0 {
			break
		}
		at += size
	}
	return s[:at]
}

// Pad is s with blanks behind it up to so many columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(columns-textwidth.Of(s), 0))
}

// Messages are the lines that say what went wrong, without the names of the
// packages that found it: who types a command knows none.
func Messages(err error) []string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		var lines []string
		for _, e := range joined.Unwrap() {
			lines = append(lines, Messages(e)...)
		}
		return lines
	}
	text := err.Error()
	for _, name := range []string{"tracefile", "render"} {
		text = strings.TrimPrefix(text, name+": ")
	}
	return []string{text}
}

// Count is "1 span", "2 spans", "0 retries".
func Count[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
