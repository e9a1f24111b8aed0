package doctor

import (
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// Rule is a kind of fault.
type Rule string

// The mistakes: no healthy program writes such spans.
const (
	Duplicate    Rule = "duplicate"            // a span twice
	Cycle        Rule = "cycle"                // parents in a circle
	NoID         Rule = "no-id"                // an id of zeros
	NoEnd        Rule = "no-end"               // never ended
	Reversed     Rule = "reversed"             // ends before it starts
	BeforeParent Rule = "starts-before-parent" // starts before its parent, by the same clock
	Secret       Rule = "secret"               // a secret in any text
	PassedOver   Rule = "passed-over"          // could not be read: see [Doctor.PassedOver]
)

// The hints: a healthy file may hold such spans, and some are worth a look.
const (
	Orphan         Rule = "orphan"                // the parent is in no file, and is no other program's
	OutlivesParent Rule = "outlives-parent"       // ends after its parent
	ClockSkew      Rule = "clock-skew"            // outside of its parent's time, by another clock
	MissingRoute   Rule = "missing-route"         // HTTP server span without http.route
	ManyNames      Rule = "high-cardinality-name" // names with values in them
	Dropped        Rule = "dropped"               // attributes, events or links left out
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	SeverityMistake Severity = "mistake"
	SeverityHint    Severity = "hint"
)

// Severity returns how bad a finding of the rule is.
func (r Rule) Severity() Severity {
	switch r {
	case Orphan, OutlivesParent, ClockSkew, MissingRoute, ManyNames, Dropped:
		return SeverityHint
	default:
		return SeverityMistake
	}
}

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
	case PassedOver:
		return "stderr says what and where"
	default:
		return ""
	}
}

// lacks tells spans of which the writer left something out.
func lacks(span *traces.Span) bool {
	return span.DroppedAttributes > 0 || span.DroppedEvents > 0 || span.DroppedLinks > 0 ||
		slices.ContainsFunc(span.Events, func(e traces.Event) bool { return e.DroppedAttributes > 0 }) ||
		slices.ContainsFunc(span.Links, func(l traces.Link) bool { return l.DroppedAttributes > 0 })
}

// needsRoute tells HTTP server spans that have no route and should. A redirect, a
// refusal and an answer to a preflight may come from in front of the router, where
// no route is known.
func needsRoute(span *traces.Span) bool {
	if span.Kind != traces.KindServer {
		return false
	}
	if _, ok := span.Attr("http.route"); ok {
		return false
	}
	method := attr(span, "http.request.method", "http.method").AsString()
	if method == "" || method == "OPTIONS" {
		return false
	}
	status := attr(span, "http.response.status_code", "http.status_code").AsInt()
	return (status < 300 || status >= 500) && status != 503
}

// attr is the first of several attributes that a span has.
func attr(span *traces.Span, keys ...string) (v traces.Value) {
	for _, key := range keys {
		if v, ok := span.Attr(key); ok {
			return v
		}
	}
	return v
}
