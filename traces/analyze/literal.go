package analyze

import "strings"

// maxShape bounds the text of a shape in bytes.
const maxShape = 1024

// withoutLiterals writes the literals of a query as ?: numbers, and texts in single quotes; a list of them as one. Names
// in double quotes and placeholders stay.
func withoutLiterals(query string) string {
	var b strings.Builder
	b.Grow(min(len(query), maxShape))
	for at := 0; at < len(query) && b.Len() < maxShape; {
		switch n, what := token(query[at:], at > 0 && isName(query[at-1])); what {
		case literal:
			writeLiteral(&b)
			at += n
		case space:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			at += n
		default:
			b.WriteString(query[at : at+n])
			at += n
		}
	}
	return strings.TrimRight(b.String(), " ;")
}

// writeLiteral writes ?, unless it goes on a list of them.
func writeLiteral(b *strings.Builder) {
	text := b.String()
	if list := strings.TrimRight(text, " "); strings.HasSuffix(list, ",") {
		if list = strings.TrimRight(list[:len(list)-1], " "); strings.HasSuffix(list, "?") {
			b.Reset()
			b.WriteString(list)
			return
		}
	}
	b.WriteByte('?')
}

type tokenKind int

const (
	other tokenKind = iota
	literal
	space
)

// token returns the length and the kind of the token that text begins with.
func token(text string, inName bool) (int, tokenKind) {
	c := text[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return len(text) - len(strings.TrimLeft(text, " \t\n\r")), space
	case c == '\'':
		return quoted(text), literal
	case c == '?':
		return 1, literal
	case isDigit(c) && !inName:
		return number(text), literal
	}
	return 1, other
}

// quoted is the length of a text in single quotes; a doubled quote, or one behind a backslash, is part of it.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] != '\'':
		case i+1 < len(text) && text[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// number is the length of a number: 7, 0x1f, 1.5e-3.
func number(text string) int {
	n := 1
	for n < len(text) && (isName(text[n]) || text[n] == '.' || (text[n] == '-' || text[n] == '+') && (text[n-1]|0x20) == 'e') {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isName reports whether c can be inside of a name or a placeholder like $1.
func isName(c byte) bool {
	return isDigit(c) || isLetter(c) || c == '_' || c == '$' || c == '@' || c >= 0x80
}

// minHex is how long an id in hexadecimal digits is at least.
const minHex = 8

// withoutValues writes what in a name is a value as *: digits, UUIDs, and ids in hexadecimal.
func withoutValues(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return '0' <= r && r <= '9' }) < 0 {
		return name
	}
	var b strings.Builder
	b.Grow(min(len(name), maxShape))
	for at := 0; at < len(name) && b.Len() < maxShape; {
		n, isValue := word(name[at:])
		if !isValue {
			b.WriteString(name[at : at+n])
		} else if text := b.String(); !strings.HasSuffix(text, "*") {
			b.WriteByte('*')
		}
		at += n
	}
	return b.String()
}

// word returns the length of what text begins with, and whether it is a value: letters and digits that are an id in
// hexadecimal with its hyphens, digits alone, or all that comes before either.
func word(text string) (n int, isValue bool) {
	hex, digits := 0, 0
	for hex < len(text) && isHex(text[hex]) {
		if isDigit(text[hex]) {
			digits++
		}
		hex++
	}
	if hex >= minHex && digits > 0 && (hex == len(text) || !isLetter(text[hex]) && text[hex] != '_') {
		return uuid(text, hex), true
	}
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	if n > 0 {
		return n, true
	}
	for n < len(text) && !isDigit(text[n]) { // up to a digit, or to where an id may begin
		n++
		if n < len(text) && isHex(text[n]) && !isLetter(text[n-1]) && !isDigit(text[n-1]) {
			break
		}
	}
	return n, false
}

// uuid is the length of the groups of hexadecimal digits that begin with one of n.
func uuid(text string, n int) int {
	for n+1 < len(text) && text[n] == '-' && isHex(text[n+1]) {
		end := n + 1
		for end < len(text) && isHex(text[end]) {
			end++
		}
		if end-n-1 < 4 {
			break
		}
		n = end
	}
	return n
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
