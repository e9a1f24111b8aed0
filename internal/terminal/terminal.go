// Package terminal is what a command may show on a terminal: text from spans
// that cannot control it, tables, and bars.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsTerminal reports whether w is a terminal. A device that is none, like
// /dev/null, counts as one: nobody sees what is written there.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
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

// Clean makes text from a span safe to print in the middle of a line: control
// characters, direction marks, line separators and broken UTF-8 are written as
// escapes. Other text stays as it is.
func Clean(s string) string {
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			quoted := strconv.Quote(s[i : i+1])
			b.WriteString(quoted[1 : len(quoted)-1])
		case isUnsafe(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// isUnsafe spares the joiners that Persian and emoji need. The replacement
// character itself is harmless, but cannot be told from broken UTF-8 here.
func isUnsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r == utf8.RuneError || (!unicode.IsGraphic(r) && r != nonJoiner && r != joiner)
}

// Cut is [Clean], cut to so many characters, the last being "…".
func Cut(s string, characters int) string {
	// Cleaning makes text longer, never shorter: what is past the limit before
	// stays past it, and a name of a megabyte is not cleaned for nothing.
	n := 0
	for i := range s {
		if n++; n > characters+1 {
			s = s[:i]
			break
		}
	}
	s = Clean(s)
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	runes := []rune(s)
	return string(runes[:characters-1]) + "…"
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
