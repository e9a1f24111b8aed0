package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// selection is what -trace and -where choose. It serves one goroutine.
type selection struct {
	trace string // hexadecimal digits that the ID begins with
	conds []condition

	looked, chosen uint64 // spans
	found          map[traces.TraceID]bool
}

// condition is one -where.
type condition struct {
	key, value string
	op         operator
	seen       bool // a span has the key
}

type operator int

const (
	has operator = iota
	equal
	unequal
)

func (s *selection) setTrace(text string) error {
	const least, whole = 4, 32
	text = strings.TrimSuffix(text, "…") // as a narrow table shows it
	text = strings.ToLower(strings.TrimPrefix(text, "0x"))
	if len(text) < least || len(text) > whole || strings.Trim(text, "0123456789abcdef") != "" {
		return fmt.Errorf("want %d to %d hexadecimal digits", least, whole)
	}
	s.trace = text
	return nil
}

func (s *selection) addWhere(text string) error {
	c, err := parseCondition(text)
	s.conds = append(s.conds, c)
	return err
}

// fields limits reading to what the selection looks at.
func (s *selection) fields() tracefile.Option {
	var keys []string
	for _, c := range s.conds {
		keys = append(keys, c.key)
		if strings.HasPrefix(c.key, metadataKey+".") {
			keys = append(keys, metadataKey)
		}
	}
	return tracefile.WithAttributes(keys...)
}

// matches reports whether a span is chosen, and notes what for: see [call.unmatched].
func (s *selection) matches(span *traces.Span) bool {
	if !s.hasTrace(span.TraceID) {
		return false
	}
	s.looked++
	chosen := true
	for i := range s.conds {
		chosen = s.conds[i].matches(span) && chosen
	}
	if chosen {
		s.chosen++
	}
	return chosen
}

// hasTrace also takes the 16 digits of Zipkin's short ids, which are the second
// half of the ID.
func (s *selection) hasTrace(id traces.TraceID) bool {
	const short = 16
	if s.trace == "" {
		return true
	}
	text := id.String()
	fits := strings.HasPrefix(text, s.trace) ||
		len(s.trace) == short && text == strings.Repeat("0", short)+s.trace
	if fits && len(s.found) < maxFound {
		if s.found == nil {
			s.found = map[traces.TraceID]bool{}
		}
		s.found[id] = true
	}
	return fits
}

// maxFound bounds the traces that are counted for one -trace.
const maxFound = 1000

// unmatched says what of the question fits nothing, or more than it seems to.
func (c *call) unmatched() {
	s := &c.sel
	switch {
	case s.trace == "" || len(s.found) == 1:
	case len(s.found) == 0:
		c.warn("-trace %s: no trace has this ID", s.trace)
		return
	case len(s.found) == maxFound:
		c.warn("-trace %s: %d traces and more begin so", s.trace, maxFound)
	default:
		const shown = 3
		ids := make([]string, 0, len(s.found))
		for id := range s.found {
			ids = append(ids, id.String())
		}
		slices.Sort(ids)
		if len(ids) > shown {
			ids = append(ids[:shown], "…")
		}
		c.warn("-trace %s: %d traces begin so: %s", s.trace, len(s.found), strings.Join(ids, ", "))
	}
	told := s.looked == 0 || s.chosen > 0 && !slices.ContainsFunc(s.conds, func(d condition) bool { return !d.seen })
	for _, d := range s.conds {
		if s.looked > 0 && !d.seen {
			c.warn("-where: no span has %q", d.key)
			told = true
		}
	}
	if !told {
		c.warn("-where: none of %s fits", terminal.Count(s.looked, "span"))
	}
}

func (c *condition) matches(span *traces.Span) bool {
	if text, known := fieldOf(span, c.key); known {
		c.seen = true
		switch c.op {
		case has:
			return text != ""
		case equal:
			return same(c.key, text, c.value)
		default:
			return !same(c.key, text, c.value)
		}
	}
	v, ok := attrOf(span, c.key)
	c.seen = c.seen || ok
	switch c.op {
	case has:
		return ok
	case equal:
		return ok && equals(v, c.value)
	default:
		return !ok || !equals(v, c.value)
	}
}

// fieldOf is a key that is no attribute's.
func fieldOf(span *traces.Span, key string) (text string, known bool) {
	switch key {
	case "name":
		return span.Name, true
	case "service":
		return span.Service(), true
	case "scope":
		return span.ScopeName(), true
	case "kind":
		return span.Kind.String(), true
	case "status":
		return span.Status.Code.String(), true
	default:
		return "", false
	}
}

// same compares the words of kinds and statuses in any case.
func same(key, text, want string) bool {
	if key == "kind" || key == "status" {
		return strings.EqualFold(text, want)
	}
	return text == want
}

// equals compares a value with how it is typed: numbers as numbers, and an
// array by any of its members.
func equals(v traces.Value, want string) bool {
	switch v.Kind() {
	case traces.ValueString:
		return v.AsString() == want
	case traces.ValueBool:
		return strconv.FormatBool(v.AsBool()) == want
	case traces.ValueInt:
		return strconv.FormatInt(v.AsInt(), 10) == want
	case traces.ValueDouble:
		f, err := strconv.ParseFloat(want, 64)
		return err == nil && f == v.AsDouble()
	case traces.ValueBytes:
		return v.AsBytes() == want
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			if equals(m, want) {
				return true
			}
		}
		return false
	case traces.ValueEmpty:
		return want == ""
	default:
		return false
	}
}
