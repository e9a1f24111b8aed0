package analyze

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// Query is a question about spans: terms that must all hold. [ParseQuery] makes one; the zero Query fits everything. It
// does not change and is safe for concurrent use, but for [Query.Seen].
type Query struct{ terms []term }

// term is one condition.
type term struct {
	not   bool
	op    op
	key   string // "" of a free word
	value string
	// What value is where it is compared as such.
	number   float64
	isNumber bool
	duration time.Duration
	pattern  *regexp.Regexp
}

type op string

const (
	opWord         op = "" // in the name or in any value
	opHas          op = "has:"
	opTrace        op = "trace:"
	opEqual        op = "="
	opUnequal      op = "!="
	opMatch        op = "~"
	opLess         op = "<"
	opLessEqual    op = "<="
	opGreater      op = ">"
	opGreaterEqual op = ">="
)

// Keys of terms that are no attributes.
const (
	keyName, keyService, keyScope, keyKind, keyStatus = "name", "service", "scope", "kind", "status"
	keyRoute, keyShape, keyDuration                   = "route", "shape", "dur"
	keyTraceDuration, keyTraceSpans                   = "trace.dur", "trace.spans"
)

// MatchSpan reports whether a span satisfies all terms about spans. Those about its trace, trace.dur and trace.spans, are
// [Query.MatchTrace]'s.
func (q Query) MatchSpan(span *traces.Span) bool {
	for i := range q.terms {
		if t := &q.terms[i]; !t.ofTrace() && t.matchSpan(span) == t.not {
			return false
		}
	}
	return true
}

// MatchTrace reports whether a trace fits: it satisfies all terms about traces, and one of its spans all about spans.
func (q Query) MatchTrace(trace *traces.Trace) bool {
	return q.MatchSize(traceDuration(trace), trace.Len()) && q.anySpan(trace)
}

func (q Query) anySpan(trace *traces.Trace) bool {
	for n := range trace.All() {
		if q.MatchSpan(n.Span()) {
			return true
		}
	}
	return false
}

// MatchSize reports whether a trace of this duration and this number of spans satisfies the terms about traces. A trace's
// duration is that of its first root without a parent, else of its first root.
func (q Query) MatchSize(duration time.Duration, spans int) bool {
	for i := range q.terms {
		t := &q.terms[i]
		switch {
		case !t.ofTrace():
		case t.key == keyTraceSpans:
			if t.compare(float64(spans)) == t.not {
				return false
			}
		case t.compareDuration(duration) == t.not:
			return false
		}
	}
	return true
}

// OfTraces reports whether a term is about traces.
func (q Query) OfTraces() bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return t.ofTrace() })
}

// traceDuration is the duration of the trace's first root without a parent, else of its first root.
func traceDuration(trace *traces.Trace) time.Duration {
	roots := trace.Roots()
	if len(roots) == 0 {
		return 0
	}
	for _, r := range roots {
		if r.Span().ParentID.IsZero() {
			return r.Span().Duration()
		}
	}
	return roots[0].Span().Duration()
}

// Attributes returns the keys of the attributes that the query looks at, and whether these are all: a free word looks at
// every attribute.
func (q Query) Attributes() (keys []string, all bool) {
	all = true
	for _, t := range q.terms {
		switch t.key {
		case "":
			all = all && t.op != opWord
		case keyRoute, keyShape:
			keys = append(keys, Keys()...)
		default:
			keys = append(keys, t.key)
			if strings.HasPrefix(t.key, metadata+".") {
				keys = append(keys, metadata)
			}
		}
	}
	return keys, all
}

func (t *term) ofTrace() bool { return t.key == keyTraceDuration || t.key == keyTraceSpans }

func (t *term) matchSpan(span *traces.Span) bool {
	if t.op == opWord {
		return t.inAnyValue(span)
	}
	if t.op == opTrace {
		return isTrace(span.TraceID, t.value)
	}
	if t.key == keyDuration {
		return t.compareDuration(span.Duration())
	}
	if text, known := fieldOf(span, t.key); known {
		return t.matchText(text)
	}
	v, ok := AttributeOf(span, t.key)
	if t.op == opHas || !ok {
		return ok || t.op == opUnequal
	}
	return t.matchValue(v)
}

// isTrace reports whether an ID begins with digits. The 16 of Zipkin's short ids are the second half of the ID.
func isTrace(id traces.TraceID, digits string) bool {
	const short = 16
	text := id.String()
	return strings.HasPrefix(text, digits) || len(digits) == short && text == strings.Repeat("0", short)+digits
}

// fieldOf is what a key names that is no attribute.
func fieldOf(span *traces.Span, key string) (text string, known bool) {
	switch key {
	case keyName:
		return span.Name, true
	case keyService:
		return span.Service(), true
	case keyScope:
		return span.ScopeName(), true
	case keyKind:
		return span.Kind.String(), true
	case keyStatus:
		return span.Status.Code.String(), true
	case keyRoute:
		return RouteOf(span).Name, true
	case keyShape:
		return ShapeOf(span).Text, true
	default:
		return "", false
	}
}

// matchText compares a field.
func (t *term) matchText(text string) bool {
	switch t.op { //nolint:exhaustive // the others are refused when the query is read
	case opHas:
		return text != ""
	case opMatch:
		return t.pattern.MatchString(text)
	}
	same := text == t.value
	if wordsOf(t.key) != nil {
		same = strings.EqualFold(text, t.value)
	}
	return same == (t.op == opEqual)
}

// matchValue compares an attribute. Of an array, one member is enough.
func (t *term) matchValue(v traces.Value) bool {
	switch t.op { //nolint:exhaustive // matchSpan has the others
	case opEqual:
		return t.equals(v)
	case opUnequal:
		return !t.equals(v)
	}
	if v.Kind() == traces.ValueArray {
		return slices.ContainsFunc(v.AsArray(), t.matchValue)
	}
	if t.op == opMatch {
		return t.pattern.MatchString(valueText(v))
	}
	n, ok := numberOf(v)
	return ok && t.compare(n)
}

// equals compares numbers as numbers, and an array by any of its members.
func (t *term) equals(v traces.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others by their text
	case traces.ValueArray:
		return slices.ContainsFunc(v.AsArray(), t.equals)
	case traces.ValueInt:
		if t.isNumber && strings.ContainsAny(t.value, ".eE") {
			return float64(v.AsInt()) == t.number
		}
	case traces.ValueDouble:
		return t.isNumber && t.number == v.AsDouble()
	}
	return valueText(v) == t.value
}

// numberOf is a value as a number. A text may be one.
func numberOf(v traces.Value) (float64, bool) {
	switch v.Kind() { //nolint:exhaustive // the others are none
	case traces.ValueInt:
		return float64(v.AsInt()), true
	case traces.ValueDouble:
		return v.AsDouble(), true
	case traces.ValueString:
		n, err := strconv.ParseFloat(v.AsString(), 64)
		return n, err == nil
	}
	return 0, false
}

func (t *term) compare(n float64) bool {
	switch t.op {
	case opEqual:
		return n == t.number
	case opUnequal:
		return n != t.number
	default:
		return t.inOrder(cmp.Compare(n, t.number))
	}
}

func (t *term) compareDuration(d time.Duration) bool {
	switch t.op {
	case opEqual:
		return d == t.duration
	case opUnequal:
		return d != t.duration
	default:
		return t.inOrder(cmp.Compare(d, t.duration))
	}
}

func (t *term) inOrder(c int) bool {
	switch t.op {
	case opLess:
		return c < 0
	case opLessEqual:
		return c <= 0
	case opGreater:
		return c > 0
	default:
		return c >= 0
	}
}

// inAnyValue reports whether a free word is in the span's name, its status message, or a value of its attributes or of
// those of its events, in any case.
func (t *term) inAnyValue(span *traces.Span) bool {
	if t.pattern.MatchString(span.Name) || t.pattern.MatchString(span.Status.Message) || t.inAttributes(span.Attributes) {
		return true
	}
	for i := range span.Events {
		if t.pattern.MatchString(span.Events[i].Name) || t.inAttributes(span.Events[i].Attributes) {
			return true
		}
	}
	return false
}

func (t *term) inAttributes(list []traces.Attribute) bool {
	return slices.ContainsFunc(list, func(a traces.Attribute) bool { return t.pattern.MatchString(valueText(a.Value)) })
}

// And returns a query of the terms of both.
func (q Query) And(o Query) Query {
	return Query{slices.Concat(q.terms, o.terms)}
}

// Words returns the free words of the query.
func (q Query) Words() (words []string) {
	for i := range q.terms {
		if t := &q.terms[i]; t.op == opWord {
			words = append(words, t.value)
		}
	}
	return words
}
