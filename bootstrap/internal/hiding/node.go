package hiding

import (
	"encoding/json"
	"strings"
)

const (
	// maxNodes is how many values a JSON text may have, and maxDepth how deep they are,
	// for its parts to be told apart; a larger one is hidden whole.
	maxNodes = 100_000
	maxDepth = 200
)

// node is a value of a JSON text.
type node struct {
	start, end int // in the text
	kind       kind
	names      []string // of an object's members, as keyOf leaves them
	nodes      []node   // an object's or array's values
}

type kind int8

const (
	scalar kind = iota // a number, true, false or null
	text
	array
	object
)

// parser reads JSON, and of JSON that has been cut what there is.
type parser struct {
	s     string
	at    int
	count int
	cut   bool // the text ends before its JSON does
	bad   bool // it is no JSON
	much  bool // there are more values than are looked at
}

// verdict is what a text is.
type verdict int8

const (
	isJSON verdict = iota // or the beginning of it
	noJSON
	tooMuch
)

// parse reads a text.
func parse(s string) (root node, what verdict) {
	p := parser{s: s}
	root = p.value(0)
	p.space()
	switch {
	case p.much:
		return node{}, tooMuch
	case p.bad, !p.cut && p.at < len(s) && !p.atMark():
		return node{}, noJSON
	}
	return root, isJSON
}

// cutMark is how package annotate marks a text that it has cut.
const cutMark = "…[truncated"

func (p *parser) atMark() bool { return strings.HasPrefix(p.s[p.at:], cutMark) }

func (p *parser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

// next skips white space and reports whether there is more; else the text is cut.
func (p *parser) next() bool {
	p.space()
	if p.at == len(p.s) || p.atMark() {
		p.cut = true
	}
	return !p.cut && !p.bad
}

func (p *parser) value(depth int) node {
	n := node{start: p.at, end: p.at}
	if !p.next() {
		return n
	}
	if p.count++; p.count > maxNodes || depth > maxDepth {
		p.bad, p.much = true, true
		return n
	}
	n.start = p.at
	switch p.s[p.at] {
	case '{':
		p.object(&n, depth)
	case '[':
		p.array(&n, depth)
	case '"':
		n.kind = text
		p.text()
	default:
		p.scalar()
	}
	n.end = p.at
	return n
}

func (p *parser) object(n *node, depth int) {
	n.kind = object
	p.at++
	for first := true; p.next(); first = false {
		if p.s[p.at] == '}' {
			p.at++
			return
		}
		if !first && !p.skip(',') || !p.next() {
			return
		}
		from := p.at
		if p.s[p.at] != '"' {
			p.bad = true
			return
		}
		p.text()
		name := p.s[from:p.at]
		if !p.next() || !p.skip(':') {
			return
		}
		n.names = append(n.names, keyOf(unquoted(name)))
		n.nodes = append(n.nodes, p.value(depth+1))
	}
}

func (p *parser) array(n *node, depth int) {
	n.kind = array
	p.at++
	for first := true; p.next(); first = false {
		if p.s[p.at] == ']' {
			p.at++
			return
		}
		if !first && !p.skip(',') {
			return
		}
		n.nodes = append(n.nodes, p.value(depth+1))
	}
}

// skip passes one byte, which must be c.
func (p *parser) skip(c byte) bool {
	if p.s[p.at] != c {
		p.bad = true
		return false
	}
	p.at++
	return true
}

// text passes a string, or what there is of it.
func (p *parser) text() {
	for p.at++; p.at < len(p.s); p.at++ {
		switch p.s[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return
		}
	}
	p.at, p.cut = len(p.s), true
}

func (p *parser) scalar() {
	from := p.at
	for p.at < len(p.s) && strings.IndexByte("+-.0123456789aeflnrstuEN", p.s[p.at]) >= 0 {
		p.at++
	}
	whole := p.at < len(p.s) && !p.atMark()
	p.bad = p.bad || from == p.at || whole && !json.Valid([]byte(p.s[from:p.at]))
}

// unquoted is what a JSON string says, also one without its end.
func unquoted(s string) string {
	inner := strings.TrimPrefix(s, `"`)
	if strings.IndexByte(inner, '\\') < 0 {
		return strings.TrimSuffix(inner, `"`)
	}
	for _, whole := range []string{s, s + `"`, s[:strings.LastIndexByte(s, '\\')] + `"`} {
		var v string
		if json.Unmarshal([]byte(whole), &v) == nil {
			return v
		}
	}
	return strings.ReplaceAll(inner, `\/`, "/")
}

// quoted is s as a JSON string.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // a string has JSON
		return `"` + Placeholder + `"`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// keyOf is a member's name in the form in which names are compared: max_tokens,
// maxTokens and MaxTokens are one.
func keyOf(name string) string {
	if strings.IndexFunc(name, func(c rune) bool { return c == '_' || c == '-' || c < 'a' || c > 'z' }) < 0 {
		return name
	}
	return strings.ToLower(strings.Map(func(c rune) rune {
		if c == '_' || c == '-' {
			return -1
		}
		return c
	}, name))
}
