package secrets

import (
	"html"
	"strconv"
	"strings"
)

// maxEscapes is how many escapes of a text are undone, one in the other.
const maxEscapes = 3

// view is a text and where its bytes stand in the text that was given.
type view struct {
	text     string
	from, to []int32
}

func rawView(s string) view {
	v := view{text: s, from: make([]int32, len(s)), to: make([]int32, len(s))}
	for i := range int32(len(s)) { //nolint:gosec // maxText bounds it
		v.from[i], v.to[i] = i, i+1
	}
	return v
}

// escape is one kind of escapes.
type escape struct {
	first byte // of every escaped character
	// read reads one at the beginning of text; n is its length there, 0: it is
	// none.
	read func(text string) (char string, n int)
}

func escapes() []escape {
	return []escape{{'%', percent}, {'\\', backslash}, {'&', entity}}
}

// unescape returns what v says when e is undone; false: nothing in it is escaped.
func (v view) unescape(e escape) (view, bool) {
	if strings.IndexByte(v.text, e.first) < 0 {
		return view{}, false
	}
	out := view{from: make([]int32, 0, len(v.text)), to: make([]int32, 0, len(v.text))}
	var text strings.Builder
	changed := false
	for i := 0; i < len(v.text); {
		char, n := v.text[i:i+1], 1
		if char[0] == e.first {
			if c, long := e.read(v.text[i:]); long > 0 {
				char, n, changed = c, long, true
			}
		}
		text.WriteString(char)
		for range len(char) {
			out.from, out.to = append(out.from, v.from[i]), append(out.to, v.to[i+n-1])
		}
		i += n
	}
	out.text = text.String()
	return out, changed
}

// cutShort stands for an escape that is cut in two, as the end of a text does: no
// word goes on there.
const cutShort = " "

// percent reads %41.
func percent(text string) (string, int) {
	n := 1 + hexDigits(text[1:], 2)
	if n < 3 {
		return cutShort, n
	}
	c, _ := strconv.ParseUint(text[1:3], 16, 8) // both are digits
	return string([]byte{byte(c)}), 3
}

// backslash reads the escapes of Go and JSON.
func backslash(text string) (string, int) {
	if len(text) < 2 {
		return cutShort, 1
	}
	digits := 0
	switch c := text[1]; c {
	case '"', '\'', '/':
		return string(c), 2
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if n := hexDigits(text[2:], digits); n < digits {
		return cutShort, 2 + n
	}
	char, multibyte, rest, err := strconv.UnquoteChar(text[:min(len(text), 2+8)], 0)
	n := min(len(text), 2+8) - len(rest)
	switch {
	case err != nil:
		return "", 0
	case multibyte:
		return string(char), n
	default:
		return string([]byte{byte(char)}), n //nolint:gosec // it is one byte
	}
}

// hexDigits counts the digits that text begins with, up to most.
func hexDigits(text string, most int) int {
	n := 0
	for n < most && n < len(text) && strings.IndexByte("0123456789abcdefABCDEF", text[n]) >= 0 {
		n++
	}
	return n
}

// entity reads &amp; and &#65;.
func entity(text string) (string, int) {
	const longest = 10
	n := 1
	for n < min(len(text), longest) && (isAlnum(text[n]) || text[n] == '#') {
		n++
	}
	if n == len(text) || text[n] != ';' {
		return cutShort, n
	}
	char := html.UnescapeString(text[:n+1])
	if char == text[:n+1] {
		return "", 0
	}
	return char, n + 1
}
