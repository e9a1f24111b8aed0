// Package terminal is what a command shows on a terminal: tables, bars, and text
// from spans that is short and cannot control it.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces/render"
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

// Cut is [render.FormatName], cut to so many characters, the last being "…".
func Cut(s string, characters int) string {
	// Escapes make text longer, never shorter: what is past the limit before
	// stays past it, and a name of a megabyte is not looked through for nothing.
	n := 0
	for i := range s {
		if n++; n > characters+1 {
			s = s[:i]
			break
		}
	}
	s = render.FormatName(s)
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
