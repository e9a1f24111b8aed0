// Package sdkspan turns spans of OpenTelemetry's SDK into those of package traces.
package sdkspan

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/sdkotlp"
	"github.com/waymark-trace/waymark/traces"
)

// A value nests as deep as in our span file; what is deeper becomes tooDeep.
const (
	maxDepth = 24
	tooDeep  = "(nested too deep)"
)

type converter struct {
	resources map[*resource.Resource]*traces.Resource
	scopes    map[instrumentation.Scope]*traces.Scope
}

// Convert turns spans into the model's, which share resource and scope. A nil one
// is passed over. A live span is taken as it is now.
func Convert(in []sdktrace.ReadOnlySpan) []*traces.Span {
	c := converter{map[*resource.Resource]*traces.Resource{}, map[instrumentation.Scope]*traces.Scope{}}
	out := make([]*traces.Span, 0, len(in))
	for _, s := range in {
		if s != nil {
			out = append(out, c.span(s))
		}
	}
	return out
}

func (c converter) span(s sdktrace.ReadOnlySpan) *traces.Span {
	sc, parent, status := s.SpanContext(), s.Parent(), s.Status()
	return &traces.Span{
		TraceID:           traces.TraceID(sc.TraceID()),
		SpanID:            traces.SpanID(sc.SpanID()),
		ParentID:          traces.SpanID(parent.SpanID()),
		TraceState:        sc.TraceState().String(),
		Flags:             sdkotlp.Flags(sc, parent),
		Name:              s.Name(),
		Kind:              traces.Kind(sdkotlp.Kind(s.SpanKind())),
		StartUnixNano:     sdkotlp.UnixNano(s.StartTime()),
		EndUnixNano:       sdkotlp.UnixNano(s.EndTime()),
		Attributes:        attributes(s.Attributes(), 0),
		DroppedAttributes: sdkotlp.Count(s.DroppedAttributes()),
		Events:            events(s.Events()),
		DroppedEvents:     sdkotlp.Count(s.DroppedEvents()),
		Links:             links(s.Links()),
		DroppedLinks:      sdkotlp.Count(s.DroppedLinks()),
		Status:            traces.Status{Code: traces.StatusCode(sdkotlp.StatusCode(status.Code)), Message: status.Description},
		Resource:          c.resource(s.Resource()),
		Scope:             c.scope(s.InstrumentationScope()),
	}
}

func (c converter) resource(r *resource.Resource) *traces.Resource {
	known, ok := c.resources[r]
	if !ok {
		known = &traces.Resource{Attributes: attributes(r.Attributes(), 0), SchemaURL: r.SchemaURL()}
		c.resources[r] = known
	}
	return known
}

func (c converter) scope(s instrumentation.Scope) *traces.Scope {
	known, ok := c.scopes[s]
	if !ok {
		known = &traces.Scope{
			Name: s.Name, Version: s.Version, SchemaURL: s.SchemaURL,
			Attributes: attributes(s.Attributes.ToSlice(), 0),
		}
		c.scopes[s] = known
	}
	return known
}

func events(in []sdktrace.Event) []traces.Event {
	if len(in) == 0 {
		return nil
	}
	out := make([]traces.Event, len(in))
	for i, e := range in {
		out[i] = traces.Event{
			Name:              e.Name,
			TimeUnixNano:      sdkotlp.UnixNano(e.Time),
			Attributes:        attributes(e.Attributes, 0),
			DroppedAttributes: sdkotlp.Count(e.DroppedAttributeCount),
		}
	}
	return out
}

func links(in []sdktrace.Link) []traces.Link {
	if len(in) == 0 {
		return nil
	}
	out := make([]traces.Link, len(in))
	for i, l := range in {
		sc := l.SpanContext
		out[i] = traces.Link{
			TraceID:           traces.TraceID(sc.TraceID()),
			SpanID:            traces.SpanID(sc.SpanID()),
			TraceState:        sc.TraceState().String(),
			Flags:             sdkotlp.Flags(sc, sc),
			Attributes:        attributes(l.Attributes, 0),
			DroppedAttributes: sdkotlp.Count(l.DroppedAttributeCount),
		}
	}
	return out
}

func attributes(in []attribute.KeyValue, depth int) []traces.Attribute {
	if len(in) == 0 {
		return nil
	}
	out := make([]traces.Attribute, len(in))
	for i, kv := range in {
		out[i] = traces.Attribute{Key: string(kv.Key), Value: value(kv.Value, depth)}
	}
	return out
}

// Value turns a value into the model's.
func Value(v attribute.Value) traces.Value { return value(v, 0) }

func value(v attribute.Value, depth int) traces.Value {
	switch v.Type() {
	case attribute.EMPTY:
		return traces.Value{}
	case attribute.STRING:
		return traces.String(v.AsString())
	case attribute.BOOL:
		return traces.Bool(v.AsBool())
	case attribute.INT64:
		return traces.Int(v.AsInt64())
	case attribute.FLOAT64:
		return traces.Double(v.AsFloat64())
	case attribute.BYTESLICE:
		return traces.Bytes(v.AsByteSlice())
	case attribute.STRINGSLICE:
		return array(v.AsStringSlice(), traces.String)
	case attribute.BOOLSLICE:
		return array(v.AsBoolSlice(), traces.Bool)
	case attribute.INT64SLICE:
		return array(v.AsInt64Slice(), traces.Int)
	case attribute.FLOAT64SLICE:
		return array(v.AsFloat64Slice(), traces.Double)
	case attribute.SLICE, attribute.MAP:
		return nested(v, depth)
	default:
		// A kind that a later OTel adds: its text is better than nothing.
		return traces.String(v.String())
	}
}

func array[T any](in []T, one func(T) traces.Value) traces.Value {
	out := make([]traces.Value, len(in))
	for i, v := range in {
		out[i] = one(v)
	}
	return traces.Array(out...)
}

func nested(v attribute.Value, depth int) traces.Value {
	if depth >= maxDepth {
		return traces.String(tooDeep)
	}
	if v.Type() == attribute.MAP {
		return traces.Map(attributes(v.AsMap(), depth+1)...)
	}
	return array(v.AsSlice(), func(member attribute.Value) traces.Value { return value(member, depth+1) })
}
