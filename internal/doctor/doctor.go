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
	scopes    map[*traces.Scope]bool // those that were looked at
	names     names
}

type findingKey struct {
	rule Rule
	what string
}

// New makes a doctor who has seen nothing.
func New() *Doctor {
	return &Doctor{
		findings: map[findingKey]*Finding{}, texts: map[string]string{},
		resources: map[*traces.Resource]string{}, scopes: map[*traces.Scope]bool{}, names: newNames(),
	}
}

// Add looks at a span, and keeps what its place among the others needs. One that
// is not chosen matters to the others' places alone.
func (d *Doctor) Add(span *traces.Span, chosen bool) {
	kept := &traces.Span{
		TraceID: span.TraceID, SpanID: span.SpanID, ParentID: span.ParentID, Flags: span.Flags, Kind: span.Kind,
		StartUnixNano: span.StartUnixNano, EndUnixNano: span.EndUnixNano, Resource: span.Resource,
	}
	if chosen {
		kept.Name = d.text(span.Name)
		d.look(span, kept)
	}
	d.chosen = append(d.chosen, chosen)
	d.spans = append(d.spans, kept)
}

// PassedOver counts what could not be read of the files that the spans are from.
func (d *Doctor) PassedOver(n uint64) {
	if n > 0 {
		d.finding(PassedOver, "").Count += n
	}
}

// look looks at a span alone. What is kept of it is the example of a finding.
func (d *Doctor) look(span, kept *traces.Span) {
	if span.TraceID == (traces.TraceID{}) || span.SpanID == (traces.SpanID{}) {
		d.find(NoID, "", kept, "")
	}
	switch {
	case span.Open() && span.StartUnixNano > 0: // else no time was written at all
		d.find(NoEnd, "", kept, "")
	case span.EndUnixNano > 0 && span.EndUnixNano < span.StartUnixNano:
		d.find(Reversed, "", kept, "by "+(-span.Duration()).String())
	}
	if needsRoute(span) {
		d.find(MissingRoute, "", kept, "")
	}
	if lacks(span) {
		d.find(Dropped, "", kept, "")
	}
	d.secrets(span, kept)
	d.names.add(span, kept)
}

// text is a short copy of a text that may be told: *** for one with a secret in
// it. It is made once, since the span's own may hold the whole line of the file
// that it was on. The secret is looked for first: half of one is none to the eye.
func (d *Doctor) text(s string) string {
	const most = 10000
	if t, ok := d.texts[s]; ok {
		return t
	}
	t := strings.Clone(tellable(s))
	if len(d.texts) < most && len(s) <= maxText {
		d.texts[strings.Clone(s)] = t
	}
	return t
}

// find counts a fault.
func (d *Doctor) find(rule Rule, what string, span *traces.Span, detail string) {
	f := d.finding(rule, what)
	f.Count++
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, d.example(span, detail))
	}
}

func (d *Doctor) example(span *traces.Span, detail string) Example {
	return Example{
		TraceID: span.TraceID, SpanID: span.SpanID, Name: span.Name, Service: d.text(span.Service()), Detail: detail,
	}
}

func (d *Doctor) finding(rule Rule, what string) *Finding {
	key := findingKey{rule, what}
	if f, ok := d.findings[key]; ok {
		return f
	}
	key.what = strings.Clone(tellable(what))
	if len(d.findings) >= maxFindings {
		key.what = "(others)"
	}
	if f, ok := d.findings[key]; ok {
		return f
	}
	f := &Finding{Rule: rule, What: key.what, Hint: hint(rule)}
	d.findings[key] = f
	d.order = append(d.order, f)
	return f
}

// Findings ends the visit: it looks at the trees and returns everything, mistakes
// before hints, the most frequent of a rule first.
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
		return cmp.Or(cmp.Compare(b.Rule.Severity(), a.Rule.Severity()), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What))
	})
	return out
}
