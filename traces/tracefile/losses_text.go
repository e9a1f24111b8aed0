package tracefile

import (
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces"
)

// texts notes each text of the present span that is not UTF-8: no format here
// can hold it, and every encoder writes U+FFFD for the bad bytes.
func (l *losses) texts(sp *traces.Span) {
	l.text("name", sp.Name)
	l.text("traceState", sp.TraceState)
	l.text("status.message", sp.Status.Message)
	l.attributeTexts("attributes.", sp.Attributes)
	for _, e := range sp.Events {
		l.text("events.name", e.Name)
		l.attributeTexts("events.attributes.", e.Attributes)
	}
	for _, k := range sp.Links {
		l.text("links.traceState", k.TraceState)
		l.attributeTexts("links.attributes.", k.Attributes)
	}
	if r := sp.Resource; r != nil && l.first("texts", r) {
		l.text("resource.schemaUrl", r.SchemaURL)
		l.attributeTexts("resource.attributes.", r.Attributes)
	}
	if s := sp.Scope; s != nil && l.first("texts", s) {
		l.text("scope.name", s.Name)
		l.text("scope.version", s.Version)
		l.text("scope.schemaUrl", s.SchemaURL)
		l.attributeTexts("scope.attributes.", s.Attributes)
	}
}

func (l *losses) text(key, text string) {
	if !utf8.ValidString(text) {
		l.add(key, whatReplaced)
	}
}

func (l *losses) attributeTexts(path string, list []traces.Attribute) {
	for _, a := range list {
		l.text(path+a.Key, a.Key)
		l.valueTexts(path+a.Key, a.Value)
	}
}

func (l *losses) valueTexts(key string, v traces.Value) {
	switch v.Kind() {
	case traces.ValueString:
		l.text(key, v.AsString())
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			l.valueTexts(key, m)
		}
	case traces.ValueMap:
		for _, m := range v.AsMap() {
			l.text(key, m.Key)
			l.valueTexts(key, m.Value)
		}
	default:
	}
}
