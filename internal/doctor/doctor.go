// Package doctor finds what is wrong with finished spans.
//
// It takes spans one by one and keeps of each what its place in the tree needs:
// ids, times, name. Findings are bounded: of each kind it keeps a count and a few
// examples. No secret it finds is in a finding.
package doctor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// Rule is a kind of fault.
type Rule string

// The rules.
const (
	Orphan         Rule = "orphan"                // the parent is in no file, and is no other program's
	Duplicate      Rule = "duplicate"             // a span twice
	Cycle          Rule = "cycle"                 // parents in a circle
	NoID           Rule = "no-id"                 // an id of zeros
	NoEnd          Rule = "no-end"                // never ended
	Reversed       Rule = "reversed"              // ends before it starts
	OutlivesParent Rule = "outlives-parent"       // ends after its parent
	BeforeParent   Rule = "starts-before-parent"  // starts before its parent, in the same process
	ClockSkew      Rule = "clock-skew"            // starts before its parent, in another process
	MissingRoute   Rule = "missing-route"         // HTTP server span without http.route
	ManyNames      Rule = "high-cardinality-name" // names with values in them
	Secret         Rule = "secret"                // a secret in an attribute
	Dropped        Rule = "dropped"               // attributes, events or links left out
)

// hint is what to do about a rule.
func hint(r Rule) string {
	switch r {
	case Orphan:
		return "the parent was not sampled, not ended, or written elsewhere"
	case Duplicate:
		return "the file was written twice, or two exporters wrote it"
	case Cycle:
		return "ids were made by hand, or were corrupted"
	case NoID:
		return "zeros are no id: other programs leave such spans out"
	case NoEnd:
		return "End was not called, or the program died first"
	case Reversed:
		return "the clock was set back, or WithTimestamp was given a wrong time"
	case OutlivesParent:
		return "the parent did not wait for it; a link says so better than a child"
	case BeforeParent:
		return "WithTimestamp was given a wrong time, or the context is another span's"
	case ClockSkew:
		return "the clocks of two machines differ by at least this"
	case MissingRoute:
		return "the router was not asked for its pattern: middleware.Routes or SetRoute"
	case ManyNames:
		return "put the value into an attribute, and the pattern into the name"
	case Secret:
		return "mask it where it is made: bootstrap.Config.Mask"
	case Dropped:
		return "the span limits were met: OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT and the like"
	default:
		return ""
	}
}

// Finding is one fault, as often as it was found.
type Finding struct {
	Rule     Rule
	What     string // what it is about in the rule: an attribute's key, a pattern of names; may be empty
	Count    uint64
	Hint     string
	Examples []Example // the first few
}

// Example is a span with the fault.
type Example struct {
	TraceID traces.TraceID
	SpanID  traces.SpanID
	Name    string
	Service string
	Detail  string // how much, where; with *** for a secret
}

// The bounds.
const (
	maxFindings = 200 // past them one finding per rule collects the rest
	maxExamples = 5
	maxText     = 200 // bytes of a name that is kept
)

// Doctor looks at spans. It serves one goroutine; make one with [New].
type Doctor struct {
	spans     []*traces.Span
	chosen    []bool // the spans to report on
	findings  map[findingKey]*Finding
	order     []*Finding
	texts     map[string]string
	resources map[*traces.Resource]string
	names     names
}

type findingKey struct {
	rule Rule
	what string
}

// New makes a doctor who has seen nothing.
func New() *Doctor {
	return &Doctor{
		findings: map[findingKey]*Finding{}, texts: map[string]string{}, resources: map[*traces.Resource]string{}, names: newNames(),
	}
}

// Add looks at a span, and keeps what its place among the others needs. One that
// is not chosen matters to the others' places alone.
func (d *Doctor) Add(span *traces.Span, chosen bool) {
	if chosen {
		d.look(span)
	}
	d.chosen = append(d.chosen, chosen)
	d.spans = append(d.spans, &traces.Span{
		TraceID: span.TraceID, SpanID: span.SpanID, ParentID: span.ParentID, Flags: span.Flags, Kind: span.Kind,
		StartUnixNano: span.StartUnixNano, EndUnixNano: span.EndUnixNano,
		Name: d.text(span.Name), Resource: span.Resource,
	})
}

// look looks at a span alone.
func (d *Doctor) look(span *traces.Span) {
	if span.TraceID == (traces.TraceID{}) || span.SpanID == (traces.SpanID{}) {
		d.find(NoID, "", span, "")
	}
	switch {
	case span.Open():
		d.find(NoEnd, "", span, "")
	case span.EndUnixNano < span.StartUnixNano:
		d.find(Reversed, "", span, "by "+(-span.Duration()).String())
	}
	if needsRoute(span) {
		d.find(MissingRoute, "", span, "")
	}
	if lacks(span) {
		d.find(Dropped, "", span, "")
	}
	d.secrets(span)
	d.names.add(span)
}

// text is a copy of text that is made once: the span's own may hold the whole
// line of the file that it was on.
func (d *Doctor) text(s string) string {
	const most = 10000
	if len(s) > maxText {
		s = s[:maxText]
	}
	if t, ok := d.texts[s]; ok {
		return t
	}
	s = strings.Clone(s)
	if len(d.texts) < most {
		d.texts[s] = s
	}
	return s
}

// lacks tells spans of which the writer left something out.
func lacks(span *traces.Span) bool {
	return span.DroppedAttributes > 0 || span.DroppedEvents > 0 || span.DroppedLinks > 0 ||
		slices.ContainsFunc(span.Events, func(e traces.Event) bool { return e.DroppedAttributes > 0 }) ||
		slices.ContainsFunc(span.Links, func(l traces.Link) bool { return l.DroppedAttributes > 0 })
}

// needsRoute tells HTTP server spans that have no route and should: what was
// not found, or not allowed, never met a route.
func needsRoute(span *traces.Span) bool {
	if span.Kind != traces.KindServer {
		return false
	}
	if _, ok := span.Attr("http.route"); ok {
		return false
	}
	http := false
	for _, key := range []string{"http.request.method", "http.method"} {
		_, ok := span.Attr(key)
		http = http || ok
	}
	for _, key := range []string{"http.response.status_code", "http.status_code"} {
		switch v, _ := span.Attr(key); v.AsInt() {
		case 404, 405:
			return false
		}
	}
	return http
}

// find counts a fault.
func (d *Doctor) find(rule Rule, what string, span *traces.Span, detail string) {
	f := d.finding(rule, what)
	f.Count++
	if len(f.Examples) < maxExamples {
		name := d.text(span.Name)
		if secretKind("name", span.Name) != "" {
			name = mask
		}
		f.Examples = append(f.Examples, Example{
			TraceID: span.TraceID, SpanID: span.SpanID, Name: name, Service: strings.Clone(span.Service()), Detail: detail,
		})
	}
}

func (d *Doctor) finding(rule Rule, what string) *Finding {
	if len(what) > maxText {
		what = what[:maxText]
	}
	key := findingKey{rule, what}
	if f, ok := d.findings[key]; ok {
		return f
	}
	if len(d.findings) >= maxFindings {
		key.what = "(others)"
		if f, ok := d.findings[key]; ok {
			return f
		}
	}
	key.what = strings.Clone(key.what)
	f := &Finding{Rule: rule, What: key.what, Hint: hint(rule)}
	d.findings[key] = f
	d.order = append(d.order, f)
	return f
}

// Findings ends the visit: it looks at the trees and returns everything, the
// most frequent of a rule first.
func (d *Doctor) Findings() []Finding {
	for n := range traces.NewSet(d.spans).All() {
		if d.chosen[n.Index()] {
			d.place(n)
		}
	}
	d.names.report(d)
	d.spans, d.chosen = nil, nil
	out := make([]Finding, 0, len(d.order))
	for _, f := range d.order {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What))
	})
	return out
}
