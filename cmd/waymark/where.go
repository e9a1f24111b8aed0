package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// selection is what -trace, -where and the window choose. It serves one goroutine.
type selection struct {
	trace  string // hexadecimal digits that the ID begins with
	query  analyze.Query
	window windowFlags

	looked, chosen uint64 // spans
	seen           *analyze.Seen
	found          map[traces.TraceID]bool
}

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
	q, err := analyze.ParseQuery(text)
	if err == nil && q.String() == "" {
		err = errors.New("want key=value, has:key, or a word")
	}
	s.query = s.query.And(q)
	return err
}

// ofSpans refuses terms about traces, for verbs that choose spans one by one.
func (c *call) ofSpans() error {
	if c.sel.query.OfTraces() {
		return usagef("-where %s: trace.dur and trace.spans are about whole traces, and %s takes spans", c.sel.query, c.verb.name)
	}
	return nil
}

// fields limits reading to what the selection looks at, and the keys.
func (s *selection) fields(keys ...string) []tracefile.Option {
	own, all := s.query.Attributes()
	if !all {
		return nil
	}
	return []tracefile.Option{tracefile.WithAttributes(append(own, keys...)...)}
}

// matches reports whether a span is chosen, and notes what for: see [call.unmatched].
func (s *selection) matches(span *traces.Span) bool {
	if !s.hasTrace(span.TraceID) || !s.window.Holds(span.StartUnixNano) {
		return false
	}
	s.looked++
	if s.seen == nil {
		s.seen = s.query.Watch()
	}
	s.seen.Add(span)
	if !s.query.MatchSpan(span) {
		return false
	}
	s.chosen++
	return true
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
		c.warn("-trace %s: %d traces begin so: %s", s.trace, len(s.found), someIDs(s.found))
	}
	if s.looked == 0 {
		if s.window.isSet() && s.trace == "" {
			c.warn("no span starts in %s", s.window.String())
		}
		return
	}
	unseen := s.seen.Unseen()
	for _, key := range unseen {
		c.warn("-where: no span has %q", key)
	}
	if s.chosen > 0 || len(unseen) > 0 {
		return
	}
	c.warn("-where: none of %s fits%s", terminal.Count(s.looked, "span"), wordsHint(s.query))
}

// fits reports whether a trace satisfies the terms about traces; nil when there are none.
func (s *selection) fits(r *traceRow) bool {
	if r == nil {
		return true
	}
	r.settle()
	return s.query.MatchSize(r.duration(), int(r.spans))
}

func someIDs(found map[traces.TraceID]bool) string {
	const shown = 3
	ids := make([]string, 0, len(found))
	for id := range found {
		ids = append(ids, id.String())
	}
	slices.Sort(ids)
	if len(ids) > shown {
		ids = append(ids[:shown], "…")
	}
	return strings.Join(ids, ", ")
}

// wordsHint says that a word stands alone, which may have been meant as a part of the value before it.
func wordsHint(q analyze.Query) string {
	words := q.Words()
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf(` (%q is looked for in names and values; a value with blanks needs quotes: name="GET /cart")`, words[0])
}
