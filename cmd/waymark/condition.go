package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseCondition reads key, key=value or key!=value. Key and value may be in
// quotes, with escapes as in Go.
func parseCondition(text string) (condition, error) {
	p := &condParser{text: text}
	c := condition{op: has}
	var err error
	if c.key, err = p.key(); err != nil {
		return c, err
	}
	switch rest := p.text[p.at:]; {
	case rest == "":
		return c, nil
	case strings.HasPrefix(rest, "!="):
		c.op = unequal
		p.at += len("!=")
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "=~"):
		return c, p.wrong(rest[:2], "want = or !=")
	case strings.HasPrefix(rest, "="):
		c.op = equal
		p.at++
	default:
		return c, p.wrong(operatorOf(rest), "want = or !=")
	}
	at := p.at
	if c.value, err = p.value(); err != nil {
		return c, err
	}
	p.at = at
	if words := valuesOf(c.key); words != nil && !slices.Contains(words, strings.ToLower(c.value)) {
		return c, p.wrong(c.value, "want "+strings.Join(words, ", "))
	}
	return c, nil
}

// valuesOf are the values that a key can have; nil: any.
func valuesOf(key string) []string {
	switch key {
	case "status":
		return []string{"unset", "ok", "error"}
	case "kind":
		return []string{"internal", "server", "client", "producer", "consumer", "unspecified"}
	default:
		return nil
	}
}

type condParser struct {
	text string
	at   int
}

// wrong says what is at the place, which is counted in characters from 1.
func (p *condParser) wrong(what, want string) error {
	place := utf8.RuneCountInString(p.text[:p.at]) + 1
	if what == "" {
		return fmt.Errorf("at character %d: %s", place, want)
	}
	return fmt.Errorf("at character %d, %q: %s", place, what, want)
}

const wantKey = "want key, key=value or key!=value"

func (p *condParser) key() (string, error) {
	if strings.HasPrefix(p.text, `"`) {
		return p.quoted()
	}
	end := strings.IndexFunc(p.text, notInKey)
	if end < 0 {
		end = len(p.text)
	}
	if end == 0 || p.text[0] == '-' {
		_, size := utf8.DecodeRuneInString(p.text)
		return "", p.wrong(p.text[:size], wantKey)
	}
	p.at = end
	return p.text[:end], nil
}

func notInKey(r rune) bool {
	return strings.ContainsRune(`=!<>~"`, r) || unicode.IsSpace(r) || unicode.IsControl(r)
}

// operatorOf is what stands in the place of an operator.
func operatorOf(rest string) string {
	end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("=!<>~", r) })
	switch {
	case end < 0:
		return rest
	case end > 0:
		return rest[:end]
	}
	_, size := utf8.DecodeRuneInString(rest)
	return rest[:size]
}

func (p *condParser) value() (string, error) {
	if !strings.HasPrefix(p.text[p.at:], `"`) {
		return p.text[p.at:], nil
	}
	value, err := p.quoted()
	if err == nil && p.at < len(p.text) {
		return "", p.wrong(p.text[p.at:], "want nothing after the quote")
	}
	return value, err
}

func (p *condParser) quoted() (string, error) {
	quoted, err := strconv.QuotedPrefix(p.text[p.at:])
	if err != nil {
		return "", p.wrong(`"`, "the quote is not closed, or an escape is unknown")
	}
	value, err := strconv.Unquote(quoted)
	if err != nil || value == "" && p.at == 0 {
		return "", p.wrong(quoted, wantKey)
	}
	p.at += len(quoted)
	return value, nil
}
