package tracefile

import "github.com/waymark-trace/waymark/traces"

// micro cuts a time to microseconds, and notes it.
func (l *losses) micro(key string, nano uint64) uint64 {
	if nano%1000 != 0 {
		l.add(key, "cut to microseconds")
	}
	return nano / 1000
}

// untagged notes what neither Jaeger nor Zipkin has a place for.
func (l *losses) untagged(sp *traces.Span) {
	if sp.Kind < 0 || sp.Kind > traces.KindConsumer {
		l.add("kind", whatLeftOut)
	}
	if sp.Status.Code < 0 || sp.Status.Code > traces.StatusError {
		l.add("status.code", whatLeftOut)
	}
	if sp.EndUnixNano < sp.StartUnixNano {
		l.add("endTimeUnixNano", "before the start, set to it")
	}
	leftOut(l, "droppedAttributesCount", sp.DroppedAttributes)
	leftOut(l, "droppedEventsCount", sp.DroppedEvents)
	leftOut(l, "droppedLinksCount", sp.DroppedLinks)
	for _, e := range sp.Events {
		leftOut(l, "events.droppedAttributesCount", e.DroppedAttributes)
	}
	l.untaggedScope(sp)
	if r := resourceOf(sp); l.first("rest", r) {
		leftOut(l, "resource.schemaUrl", r.SchemaURL)
		leftOut(l, "resource.droppedAttributesCount", r.DroppedAttributes)
	}
}

func (l *losses) untaggedScope(sp *traces.Span) {
	s := scopeOf(sp)
	if !l.first("rest", s) {
		return
	}
	leftOut(l, "scope.schemaUrl", s.SchemaURL)
	leftOut(l, "scope.droppedAttributesCount", s.DroppedAttributes)
	for _, a := range s.Attributes {
		l.add("scope.attributes."+a.Key, whatLeftOut)
	}
}
