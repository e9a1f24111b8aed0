package render

import (
	"iter"
	"math"

	"github.com/waymark-trace/waymark/traces"
)

// Loss is one thing of one span that a drawing cannot hold. What concerns a
// resource or scope is told once, with its first span.
type Loss struct {
	TraceID traces.TraceID
	SpanID  traces.SpanID
	Key     string // a path like "attributes.http.route", "links", "resource.schemaUrl"
	What    string // what became of it, like "left out"
}

// The words of [Loss.What].
const (
	whatLeftOut = "left out"
	whatTwice   = "key twice in an object"
)

// ChromeLosses yields what [ChromeTrace] cannot hold of the spans, span by span.
// The order of children, and which child is whose, is in the ids in args.
func ChromeLosses(set *traces.Set) iter.Seq[Loss] {
	return lossesOf(set, func(l *losses, s *traces.Span) {
		l.resource(s)
		l.scope(s, false)
		l.links(s)
		l.counts(s)
		if s.Status.Code == traces.StatusOK || s.Status.Message != "" && !s.Failed() {
			l.add("status", whatLeftOut)
		}
		if !s.Open() && s.EndUnixNano < s.StartUnixNano {
			l.add("endTimeUnixNano", "before the start, drawn as an instant")
		}
		l.args("attributes.", s.Attributes, true)
		for i := range s.Events {
			e := &s.Events[i]
			if e.TimeUnixNano == 0 {
				l.add("events.timeUnixNano", "set to the span's start")
			}
			l.count("events.droppedAttributesCount", e.DroppedAttributes)
			l.args("events.attributes.", e.Attributes, false)
		}
	})
}

// SpeedscopeLosses yields what [Speedscope] cannot hold of the spans, span by
// span: all but names, times and what lies inside what.
func SpeedscopeLosses(set *traces.Set) iter.Seq[Loss] {
	return lossesOf(set, func(l *losses, s *traces.Span) {
		if d := s.Duration(); d <= 0 {
			l.add("span", whatLeftOut+": it has no length")
			return
		}
		l.add("ids", whatLeftOut)
		if s.Kind != traces.KindUnspecified {
			l.add("kind", whatLeftOut)
		}
		if s.Status != (traces.Status{}) {
			l.add("status", whatLeftOut)
		}
		l.resource(s)
		l.scope(s, true)
		l.links(s)
		l.counts(s)
		for _, a := range s.Attributes {
			l.add("attributes."+a.Key, whatLeftOut)
		}
		for range s.Events {
			l.add("events", whatLeftOut)
		}
	})
}

// losses passes the losses of one span after the other on.
type losses struct {
	span  *traces.Span
	seen  map[any]bool // resources and scopes
	yield func(Loss) bool
	done  bool
}

func lossesOf(set *traces.Set, of func(*losses, *traces.Span)) iter.Seq[Loss] {
	return func(yield func(Loss) bool) {
		l := losses{seen: map[any]bool{}, yield: yield}
		for n := range set.All() {
			l.span = n.Span()
			if l.span.StartUnixNano == 0 && l.span.EndUnixNano == 0 {
				l.add("span", whatLeftOut+": it has no time")
			} else {
				of(&l, l.span)
			}
			if l.done {
				return
			}
		}
	}
}

func (l *losses) add(key, what string) {
	if !l.done {
		l.done = !l.yield(Loss{TraceID: l.span.TraceID, SpanID: l.span.SpanID, Key: key, What: what})
	}
}

func (l *losses) count(key string, n uint32) {
	if n > 0 {
		l.add(key, whatLeftOut)
	}
}

func (l *losses) counts(s *traces.Span) {
	if s.Flags != 0 {
		l.add("flags", whatLeftOut)
	}
	if s.TraceState != "" {
		l.add("traceState", whatLeftOut)
	}
	l.count("droppedAttributesCount", s.DroppedAttributes)
	l.count("droppedEventsCount", s.DroppedEvents)
	l.count("droppedLinksCount", s.DroppedLinks)
}

func (l *losses) links(s *traces.Span) {
	for range s.Links {
		l.add("links", whatLeftOut)
	}
}

// resource tells of all but the service's name, which names the process.
func (l *losses) resource(s *traces.Span) {
	r := s.Resource
	if r == nil || l.seen[r] {
		return
	}
	l.seen[r] = true
	for _, a := range r.Attributes {
		if a.Key != "service.name" || a.Value.Kind() != traces.ValueString {
			l.add("resource.attributes."+a.Key, whatLeftOut)
		}
	}
	if r.SchemaURL != "" {
		l.add("resource.schemaUrl", whatLeftOut)
	}
	l.count("resource.droppedAttributesCount", r.DroppedAttributes)
}

func (l *losses) scope(s *traces.Span, name bool) {
	c := s.Scope
	if c == nil || l.seen[c] {
		return
	}
	l.seen[c] = true
	for _, part := range []struct {
		key, value string
		lost       bool
	}{{"scope.name", c.Name, name}, {"scope.version", c.Version, true}, {"scope.schemaUrl", c.SchemaURL, true}} {
		if part.lost && part.value != "" {
			l.add(part.key, whatLeftOut)
		}
	}
	for _, a := range c.Attributes {
		l.add("scope.attributes."+a.Key, whatLeftOut)
	}
	l.count("scope.droppedAttributesCount", c.DroppedAttributes)
}

// args tells what a JSON object of the attributes does not hold; ours says
// whether there are members of our own in it.
func (l *losses) args(path string, attrs []traces.Attribute, ours bool) {
	seen := map[string]bool{}
	for _, a := range attrs {
		switch {
		case seen[a.Key]:
			l.add(path+a.Key, whatTwice)
		case ours && isOurArg(a.Key):
			l.add(path+a.Key, "key has a meaning of its own in this format")
		}
		seen[a.Key] = true
		l.value(path+a.Key, a.Value)
	}
}

func isOurArg(key string) bool {
	switch key {
	case argOpen, argTraceID, argSpanID, argParentID, argKind, argScope:
		return true
	}
	return false
}

func (l *losses) value(key string, v traces.Value) {
	switch v.Kind() {
	case traces.ValueBytes:
		l.add(key, "bytes written as string")
	case traces.ValueMap:
		l.add(key, "map written as string")
	case traces.ValueDouble:
		if f := v.AsDouble(); math.IsNaN(f) || math.IsInf(f, 0) {
			l.add(key, "double written as string")
		}
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			l.value(key, m)
		}
	default:
	}
}
