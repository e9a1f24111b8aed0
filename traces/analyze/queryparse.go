package analyze

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxQuery bounds a query in bytes.
const maxQuery = 4096

// ParseQuery reads a query: terms with white space between them, which must all hold.
//
//	service=shop               the resource's service.name; also name, scope, kind, status, route, shape
//	http.route!=/cart          an attribute of the span, else of its resource, else metadata.KEY, an entry of its metadata
//	http.response.status_code>=500   numbers by =, !=, <, <=, >, >=
//	name~^SELECT               a regular expression (RE2)
//	dur>50ms                   the span's duration
//	has:db.system.name         the span has it
//	trace:4bf92f               the trace whose ID begins so
//	trace.dur>1s trace.spans>100     of the trace: the duration of its first root, the number of its spans
//	timeout                    a free word: in the name, the status message, or a value, in any case
//	-user.id=7                 not
//
// Keys and values can be in double quotes, with Go's escapes. An error is one line that names the place.
func ParseQuery(text string) (Query, error) {
	if len(text) > maxQuery {
		return Query{}, fmt.Errorf("the query has %d bytes, want at most %d", len(text), maxQuery)
	}
	p := &queryParser{text: text}
	var q Query
	for p.space(); p.at < len(p.text); p.space() {
		t, err := p.term()
		if err != nil {
			return Query{}, err
		}
		q.terms = append(q.terms, t)
	}
	return q, nil
}

type queryParser struct {
	text string
	at   int
}

func (p *queryParser) space() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

// wrong says what is at a place, which is counted in characters from 1.
func (p *queryParser) wrong(at int, what, want string) error {
	place := utf8.RuneCountInString(p.text[:at]) + 1
	if what == "" {
		return fmt.Errorf("at character %d: want %s", place, want)
	}
	return fmt.Errorf("at character %d, %q: want %s", place, what, want)
}

func (p *queryParser) term() (t term, err error) {
	start := p.at
	if p.text[p.at] == '-' {
		t.not = true
		p.at++
	}
	for _, prefix := range [2]op{opHas, opTrace} {
		if strings.HasPrefix(p.text[p.at:], string(prefix)) {
			p.at += len(prefix)
			return p.prefixed(t, prefix)
		}
	}
	keyAt := p.at
	key, err := p.word(isKeyRune)
	if err != nil {
		return t, err
	}
	t.op = p.operator()
	if t.op == opWord {
		return p.freeWord(t, start, key)
	}
	if key == "" {
		return t, p.wrong(keyAt, p.text[keyAt:p.at], "a key in front of it")
	}
	t.key = key
	at := p.at
	if t.value, err = p.word(isValueRune); err != nil {
		return t, err
	}
	if at == p.at && t.op != opEqual && t.op != opUnequal {
		return t, p.wrong(at, "", "a value")
	}
	return t, p.check(&t, keyAt, at)
}

func (p *queryParser) prefixed(t term, prefix op) (_ term, err error) {
	at := p.at
	t.op = prefix
	text, err := p.word(isValueRune)
	switch {
	case err != nil:
		return t, err
	case prefix == opHas && text == "":
		return t, p.wrong(at, "", "a key")
	case prefix == opHas:
		t.key = text
		return t, nil
	}
	t.value = strings.ToLower(strings.TrimPrefix(strings.TrimSuffix(text, "…"), "0x"))
	const least, whole = 4, 32
	if len(t.value) < least || len(t.value) > whole || strings.Trim(t.value, "0123456789abcdef") != "" {
		return t, p.wrong(at, text, fmt.Sprintf("%d to %d hexadecimal digits", least, whole))
	}
	return t, nil
}

func (p *queryParser) freeWord(t term, start int, word string) (term, error) {
	if p.at < len(p.text) && !isSpaceAt(p.text, p.at) {
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		return t, p.wrong(p.at, p.text[p.at:p.at+size], "a blank, or an operator: = != ~ < <= > >=")
	}
	if word == "" {
		_, size := utf8.DecodeRuneInString(p.text[start:])
		return t, p.wrong(start, p.text[start:start+size], "key=value, has:key, or a word")
	}
	t.value = word
	pattern, err := regexp.Compile("(?i)" + regexp.QuoteMeta(word))
	if err != nil {
		return t, p.wrong(start, word, "text")
	}
	t.pattern = pattern
	return t, nil
}

func isSpaceAt(s string, at int) bool {
	r, _ := utf8.DecodeRuneInString(s[at:])
	return unicode.IsSpace(r)
}

func isKeyRune(r rune) bool   { return !strings.ContainsRune(`=!<>~"`, r) && !unicode.IsSpace(r) }
func isValueRune(r rune) bool { return !unicode.IsSpace(r) }

// word reads a text, in quotes or not.
func (p *queryParser) word(isIn func(rune) bool) (text string, err error) {
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, `"`) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", p.wrong(p.at, `"`, "the quote to be closed, and Go's escapes in it")
		}
		text, err := strconv.Unquote(quoted)
		p.at += len(quoted)
		return text, err
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isIn(r) })
	if end < 0 {
		end = len(rest)
	}
	p.at += end
	return rest[:end], nil
}

// operator reads one, or returns opWord.
func (p *queryParser) operator() op {
	for _, o := range [...]op{opUnequal, opLessEqual, opGreaterEqual, opEqual, opMatch, opLess, opGreater} {
		if strings.HasPrefix(p.text[p.at:], string(o)) {
			p.at += len(o)
			return o
		}
	}
	return opWord
}

// wordsOf are the values that a key can have; nil: any.
func wordsOf(key string) []string {
	switch key {
	case keyStatus:
		return []string{"unset", "ok", "error"}
	case keyKind:
		return []string{"internal", "server", "client", "producer", "consumer", "unspecified"}
	default:
		return nil
	}
}

// check reads the value as what the key and the operator want.
func (p *queryParser) check(t *term, keyAt, at int) (err error) {
	if t.op == opMatch {
		if t.pattern, err = regexp.Compile(t.value); err != nil {
			return p.wrong(at, t.value, "a regular expression: "+whyNoPattern(err))
		}
	}
	t.number, err = strconv.ParseFloat(t.value, 64)
	t.isNumber = err == nil
	switch t.key {
	case keyDuration, keyTraceDuration:
		if t.duration, err = time.ParseDuration(t.value); err != nil || t.op == opMatch {
			return p.wrong(at, t.value, "a duration like 50ms or 1.5s")
		}
		return nil
	case keyTraceSpans:
		if !t.isNumber || t.op == opMatch {
			return p.wrong(at, t.value, "a number")
		}
		return nil
	case keyName, keyService, keyScope, keyKind, keyStatus, keyRoute, keyShape:
		if t.op != opEqual && t.op != opUnequal && t.op != opMatch {
			return p.wrong(keyAt+len(t.key), string(t.op), "=, != or ~ behind "+t.key)
		}
		if words := wordsOf(t.key); words != nil && t.op != opMatch && !slices.Contains(words, strings.ToLower(t.value)) {
			return p.wrong(at, t.value, strings.Join(words, ", "))
		}
		return nil
	}
	switch t.op { //nolint:exhaustive // the others take any text
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		if !t.isNumber {
			return p.wrong(at, t.value, "a number")
		}
	}
	return nil
}

// whyNoPattern is the reason alone: the whole error repeats the pattern, raw.
func whyNoPattern(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String()
	}
	return "of RE2's syntax"
}

// String returns a query that is read as the same.
func (q Query) String() string {
	parts := make([]string, 0, len(q.terms))
	for i := range q.terms {
		parts = append(parts, q.terms[i].String())
	}
	return strings.Join(parts, " ")
}

func (t *term) String() string {
	not := ""
	if t.not {
		not = "-"
	}
	switch t.op { //nolint:exhaustive // the others have a key in front
	case opWord:
		return not + quoteWord(t.value, isKeyRune)
	case opHas:
		return not + string(opHas) + quoteWord(t.key, isValueRune)
	case opTrace:
		return not + string(opTrace) + t.value
	}
	return not + quoteWord(t.key, isKeyRune) + string(t.op) + quoteWord(t.value, isValueRune)
}

// quoteWord puts a text in quotes if it must be.
func quoteWord(s string, isIn func(rune) bool) string {
	plain := s != "" && utf8.ValidString(s) && s[0] != '"' && s[0] != '-' && s[0] != '=' &&
		!strings.HasPrefix(s, string(opHas)) && !strings.HasPrefix(s, string(opTrace)) &&
		strings.IndexFunc(s, func(r rune) bool { return !isIn(r) || !unicode.IsPrint(r) }) < 0
	if plain {
		return s
	}
	return strconv.Quote(s)
}
