package render

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces"
)

// FormatDuration returns a number of nanoseconds as the tree prints it:
// "1.53 ms". From one second on the unit is s, from one millisecond on ms, each
// with two decimals; below it is µs with one. What would round up to a thousand
// of its unit is printed as one of the next, so "1000.0 µs" never appears. A
// negative duration has a minus.
func FormatDuration(nanoseconds int64) string {
	return string(appendDuration(nil, nanoseconds))
}

// appendDuration divides in the order in which the figures of the tree have
// always been made: another order rounds other halves up.
func appendDuration(b []byte, ns int64) []byte {
	ms := float64(ns) / 1e6
	if ms < 0 {
		b = append(b, '-')
		ms = -ms
	}
	micros := ms * 1000
	switch {
	case ms >= 999.995:
		b = strconv.AppendFloat(b, ms/1000, 'f', 2, 64)
		return append(b, " s"...)
	case micros >= 999.95:
		b = strconv.AppendFloat(b, ms, 'f', 2, 64)
		return append(b, " ms"...)
	default:
		b = strconv.AppendFloat(b, micros, 'f', 1, 64)
		return append(b, " µs"...)
	}
}

// FormatValue returns a value as the tree prints it: 'text', True, None, 3.0,
// [1, 'x'], {'key': 1}, b'\x00'. Nothing in the result controls a terminal.
// Values inside one another are printed to a depth of 32, deeper ones as "…".
func FormatValue(v traces.Value) string { return string(appendValue(nil, v, 0)) }

const maxValueDepth = 32

func appendValue(b []byte, v traces.Value, depth int) []byte {
	if depth > maxValueDepth {
		return append(b, "…"...)
	}
	switch v.Kind() {
	case traces.ValueString:
		return appendQuoted(b, v.AsString())
	case traces.ValueBool:
		if v.AsBool() {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case traces.ValueInt:
		return strconv.AppendInt(b, v.AsInt(), 10)
	case traces.ValueDouble:
		return appendDouble(b, v.AsDouble())
	case traces.ValueBytes:
		return appendBytes(b, v.AsBytes())
	case traces.ValueArray:
		b = append(b, '[')
		for i, m := range v.AsArray() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendValue(b, m, depth+1)
		}
		return append(b, ']')
	case traces.ValueMap:
		b = append(b, '{')
		for i, m := range v.AsMap() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendQuoted(b, m.Key), ": "...)
			b = appendValue(b, m.Value, depth+1)
		}
		return append(b, '}')
	default:
		return append(b, "None"...)
	}
}

// appendDouble prints the fewest digits that read back as f, always with a
// point or an exponent, so that a double never looks like an integer.
func appendDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	if abs := math.Abs(f); f != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if !strings.Contains(string(b[from:]), ".") {
		b = append(b, ".0"...)
	}
	return b
}

// quoteFor picks double quotes only where they save escaping single ones.
func quoteFor(s string) byte {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return '"'
	}
	return '\''
}

func appendQuoted(b []byte, s string) []byte {
	quote := quoteFor(s)
	b = append(b, quote)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', s[i])
		case r == utf8.RuneError && size == 1:
			b = appendByteEscape(b, s[i])
		case unicode.IsPrint(r):
			b = append(b, s[i:i+size]...)
		default:
			b = appendRuneEscape(b, r)
		}
		i += size
	}
	return append(b, quote)
}

func appendBytes(b []byte, s string) []byte {
	quote := quoteFor(s)
	b = append(b, 'b', quote)
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		case c < ' ':
			b = appendRuneEscape(b, rune(c))
		default:
			b = appendByteEscape(b, c)
		}
	}
	return append(b, quote)
}

// FormatName returns a name, a key or a message as the tree prints it: as it
// is, but for what a terminal obeys or what makes text look like other text
// (control characters, broken UTF-8, line separators, direction marks), which
// is escaped: \x1b, \u202e. The joiners that Persian and emoji need stay.
func FormatName(name string) string { return string(appendPlain(nil, name)) }

func appendPlain(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = appendByteEscape(b, s[i])
		case unicode.IsGraphic(r), r == '\u200c', r == '\u200d':
			b = append(b, s[i:i+size]...)
		default:
			b = appendRuneEscape(b, r)
		}
		i += size
	}
	return b
}

const hexDigits = "0123456789abcdef"

func appendByteEscape(b []byte, c byte) []byte {
	return append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}

func appendRuneEscape(b []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r < 0x100:
		return appendByteEscape(b, byte(r)) //nolint:gosec // one byte by the case
	}
	digits, width := "\\u", 4
	if r > 0xffff {
		digits, width = "\\U", 8
	}
	b = append(b, digits...)
	for shift := 4 * (width - 1); shift >= 0; shift -= 4 {
		b = append(b, hexDigits[r>>shift&15])
	}
	return b
}
