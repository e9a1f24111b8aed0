package otlpjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string and returns what it means: escapes resolved, invalid
// UTF-8 and lone surrogates replaced by U+FFFD, as encoding/json does. A null
// is the empty string.
func (s *Scanner) Text() []byte {
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		if c := s.Peek(); c != '"' {
			if c == 'n' {
				s.word("null")
				return nil
			}
			s.mismatch(c, "want a string")
			return nil
		}
	}
	s.pos++
	return s.Rest()
}

// Rest reads the rest of a string whose opening quote was consumed, by [Scanner.Lit].
func (s *Scanner) Rest() []byte {
	start := s.pos
	end := plainEnd(s.data, start)
	if end < len(s.data) && s.data[end] == '"' {
		s.pos = end + 1
		return s.data[start:end]
	}
	return s.hardText(start, end)
}

// hardText goes on at byte i of a string from start that has more in it than
// plain ASCII.
func (s *Scanner) hardText(start, i int) []byte {
	escaped := false
	for ; ; i = plainEnd(s.data, i) {
		if i >= len(s.data) {
			s.pos = i
			s.unexpected(0, "")
			return nil
		}
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			if raw := s.data[start:i]; !escaped && utf8.Valid(raw) {
				return raw
			}
			return s.unescape(start, i)
		case c == '\\':
			escaped = true
			i += 2
		case c < 0x20:
			s.fail(i, "control character in a string")
			return nil
		default:
			i++
		}
	}
}

// unescape resolves the string between the quotes into the scratch buffer.
func (s *Scanner) unescape(start, end int) []byte {
	out := s.scratch[:0]
	for i := start; i < end; {
		switch c := s.data[i]; {
		case c == '\\':
			var n int
			if out, n = appendEscape(out, s.data[i:end]); n == 0 {
				s.fail(i, "invalid escape in a string")
				return nil
			}
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(s.data[i:end])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	s.scratch = out
	return out
}

// appendEscape appends what the escape at the start of b means, and returns
// its length, 0 when it is none.
func appendEscape(out, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return out, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return append(out, b[1]), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r, ok := hex4(b)
		if !ok {
			return out, 0
		}
		if utf16.IsSurrogate(r) {
			low, ok := hex4(b[6:])
			if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
				return utf8.AppendRune(out, pair), 12
			}
			r = utf8.RuneError
		}
		return utf8.AppendRune(out, r), 6
	default:
		return out, 0
	}
}

// hex4 reads `\uXXXX` at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}
