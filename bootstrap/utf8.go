package bootstrap

import (
	"sync/atomic"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// cleaner replaces what is not UTF-8 in front of an exporter, as the file does:
// each such byte becomes U+FFFD. Protobuf refuses a whole batch for one of them,
// and a client can send them, in a path or a header.
type cleaner struct {
	last atomic.Pointer[[2]*resource.Resource] // the last resource, as it was and cleaned
}

// spans returns spans itself when all of it is UTF-8.
func (c *cleaner) spans(spans []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	spans, _ = cleanEach(spans, c.span)
	return spans
}

// span returns s itself when all of it is UTF-8. Of a span behind a view it
// makes a copy, so that the mask runs once.
func (c *cleaner) span(s sdktrace.ReadOnlySpan) (sdktrace.ReadOnlySpan, bool) {
	_, viewed := s.(viewedSpan)
	status := s.Status()
	name, changedName := cleanString(s.Name())
	attributes, changedAttributes := cleanAttributes(s.Attributes())
	events, changedEvents := cleanEach(s.Events(), cleanEvent)
	links, changedLinks := cleanEach(s.Links(), cleanLink)
	description, changedStatus := cleanString(status.Description)
	scope, changedScope := cleanScope(s.InstrumentationScope())
	own := s.Resource()
	shown := c.resourceOf(own)
	if !viewed && !changedName && !changedAttributes && !changedEvents && !changedLinks && !changedStatus && !changedScope && shown == own {
		return s, false
	}
	status.Description = description
	return &cleanSpan{s, name, attributes, events, links, status, scope, shown}, true
}

func (c *cleaner) resourceOf(own *resource.Resource) *resource.Resource {
	if last := c.last.Load(); last != nil && last[0] == own {
		return last[1]
	}
	shown := own
	attributes, changed := cleanAttributes(own.Attributes())
	schema, changedSchema := cleanString(own.SchemaURL())
	if changed || changedSchema {
		shown = resource.NewWithAttributes(schema, attributes...)
	}
	c.last.Store(&[2]*resource.Resource{own, shown})
	return shown
}

// cleanSpan is a finished span in UTF-8.
type cleanSpan struct {
	sdktrace.ReadOnlySpan
	name       string
	attributes []attribute.KeyValue
	events     []sdktrace.Event
	links      []sdktrace.Link
	status     sdktrace.Status
	scope      instrumentation.Scope
	resource   *resource.Resource
}

func (s *cleanSpan) Name() string                                { return s.name }
func (s *cleanSpan) Attributes() []attribute.KeyValue            { return s.attributes }
func (s *cleanSpan) Events() []sdktrace.Event                    { return s.events }
func (s *cleanSpan) Links() []sdktrace.Link                      { return s.links }
func (s *cleanSpan) Status() sdktrace.Status                     { return s.status }
func (s *cleanSpan) InstrumentationScope() instrumentation.Scope { return s.scope }
func (s *cleanSpan) Resource() *resource.Resource                { return s.resource }

// InstrumentationLibrary is what older exporters ask for.
func (s *cleanSpan) InstrumentationLibrary() instrumentation.Library { return s.scope } //nolint:staticcheck // part of the interface

// cleanString and its like return what they are given when it is UTF-8, else a
// clean copy and true.
func cleanString(s string) (string, bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	return string([]rune(s)), true
}

// cleanEach cleans a slice, copying it at the first change.
func cleanEach[T any](all []T, clean func(T) (T, bool)) (out []T, changed bool) {
	for i, v := range all {
		v, dirty := clean(v)
		if !dirty {
			continue
		}
		if !changed {
			all, changed = append([]T(nil), all...), true
		}
		all[i] = v
	}
	return all, changed
}

func cleanAttributes(kvs []attribute.KeyValue) ([]attribute.KeyValue, bool) {
	return cleanEach(kvs, cleanAttribute)
}

func cleanAttribute(kv attribute.KeyValue) (attribute.KeyValue, bool) {
	key, changedKey := cleanString(string(kv.Key))
	value, changedValue := cleanValue(kv.Value)
	return attribute.KeyValue{Key: attribute.Key(key), Value: value}, changedKey || changedValue
}

func cleanValue(v attribute.Value) (attribute.Value, bool) {
	switch v.Type() { //nolint:exhaustive // the others hold no text
	case attribute.STRING:
		if s, changed := cleanString(v.AsString()); changed {
			return attribute.StringValue(s), true
		}
	case attribute.STRINGSLICE:
		if s, changed := cleanEach(v.AsStringSlice(), cleanString); changed {
			return attribute.StringSliceValue(s), true
		}
	case attribute.SLICE:
		if s, changed := cleanEach(v.AsSlice(), cleanValue); changed {
			return attribute.SliceValue(s...), true
		}
	case attribute.MAP:
		if m, changed := cleanAttributes(v.AsMap()); changed {
			return attribute.MapValue(m...), true
		}
	}
	return v, false
}

func cleanEvent(e sdktrace.Event) (sdktrace.Event, bool) {
	name, changedName := cleanString(e.Name)
	attributes, changed := cleanAttributes(e.Attributes)
	e.Name, e.Attributes = name, attributes
	return e, changedName || changed
}

func cleanLink(l sdktrace.Link) (sdktrace.Link, bool) {
	attributes, changed := cleanAttributes(l.Attributes)
	l.Attributes = attributes
	return l, changed
}

func cleanScope(s instrumentation.Scope) (instrumentation.Scope, bool) {
	name, changedName := cleanString(s.Name)
	version, changedVersion := cleanString(s.Version)
	schema, changedSchema := cleanString(s.SchemaURL)
	changed := changedName || changedVersion || changedSchema
	s.Name, s.Version, s.SchemaURL = name, version, schema
	if s.Attributes.Len() > 0 {
		if kvs, dirty := cleanAttributes(s.Attributes.ToSlice()); dirty {
			s.Attributes, changed = attribute.NewSet(kvs...), true
		}
	}
	return s, changed
}
