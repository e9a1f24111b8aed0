package render

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces"
)

// appendJSONString appends a JSON string that is also safe inside a script
// element: no "<", ">", "&" and no line separators. Broken UTF-8 becomes U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x7f {
				i++
				continue
			}
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, `\n`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, `\u00`...)
				b = append(b, hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, hexDigits[r&15])
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// appendJSONValue appends an attribute's value. JSON has no bytes, maps in the
// viewers' tables are unreadable, and NaN is no number: bytes and maps are
// written as the tree prints them, NaN and the infinities as OTLP/JSON spells
// them.
func appendJSONValue(b []byte, v traces.Value, depth int) []byte {
	switch v.Kind() {
	case traces.ValueEmpty:
		return append(b, "null"...)
	case traces.ValueString:
		return appendJSONString(b, v.AsString())
	case traces.ValueBool:
		return strconv.AppendBool(b, v.AsBool())
	case traces.ValueInt:
		return strconv.AppendInt(b, v.AsInt(), 10)
	case traces.ValueDouble:
		return appendJSONDouble(b, v.AsDouble())
	case traces.ValueArray:
		if depth >= maxValueDepth {
			break
		}
		b = append(b, '[')
		for i, m := range v.AsArray() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONValue(b, m, depth+1)
		}
		return append(b, ']')
	default: // bytes and maps, below
	}
	return appendJSONString(b, FormatValue(v))
}

func appendJSONDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	// As in the tree: 3.0 stays a double for readers that tell them apart.
	return appendDouble(b, f)
}

// appendArgs appends the attributes as a JSON object. Of several attributes of
// one key the last one counts, so what follows the span's own overrides it.
func appendArgs(b []byte, attrs []traces.Attribute) []byte {
	last := make(map[string]int, len(attrs))
	for i, a := range attrs {
		last[a.Key] = i
	}
	b = append(b, '{')
	first := true
	for i, a := range attrs {
		if last[a.Key] != i {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendJSONString(b, a.Key), ':')
		b = appendJSONValue(b, a.Value, 0)
	}
	return append(b, '}')
}
