package sdkotlp

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// maxDepth is how deep a value may nest; what is deeper becomes tooDeep.
// Readers in other languages stop at a hundred levels of protobuf messages, of
// which one level of a value takes up to three.
const (
	maxDepth = 24
	tooDeep  = "(nested too deep)"
)

// JSON turns spans into OTLP/JSON. It is safe for concurrent use when its
// functions are.
type JSON struct {
	// Transform says what is written for an attribute, or false to leave it out;
	// nil writes each as it is.
	Transform func(attribute.KeyValue) (attribute.KeyValue, bool)
	// Panicked is told the value of a panic of Transform.
	Panicked func(any)
}

// AppendSpan appends one span with the comma that ends an element.
func (e *JSON) AppendSpan(k *otlpjson.Keys, b []byte, s sdktrace.ReadOnlySpan) []byte {
	sc, parent := s.SpanContext(), s.Parent()
	b = otlpjson.OpenSpan(b, &otlpjson.SpanFields{
		TraceID:           sc.TraceID(),
		SpanID:            sc.SpanID(),
		ParentSpanID:      parent.SpanID(),
		TraceState:        sc.TraceState().String(),
		Flags:             Flags(sc, parent),
		Name:              s.Name(),
		Kind:              Kind(s.SpanKind()),
		StartTimeUnixNano: UnixNano(s.StartTime()),
		EndTimeUnixNano:   UnixNano(s.EndTime()),
	})
	b = e.attributes(k, b, s.Attributes())
	b = otlpjson.AppendDroppedAttributes(b, Count(s.DroppedAttributes()))
	b = e.events(k, b, s.Events())
	b = otlpjson.AppendDroppedEvents(b, Count(s.DroppedEvents()))
	b = e.links(k, b, s.Links())
	b = otlpjson.AppendDroppedLinks(b, Count(s.DroppedLinks()))
	status := s.Status()
	b = otlpjson.AppendStatus(b, StatusCode(status.Code), status.Description)
	return otlpjson.CloseObject(b)
}

func (e *JSON) events(k *otlpjson.Keys, b []byte, events []sdktrace.Event) []byte {
	if len(events) == 0 {
		return b
	}
	b = otlpjson.OpenEvents(b)
	for i := range events {
		ev := &events[i]
		b = otlpjson.OpenEvent(b, UnixNano(ev.Time), ev.Name)
		b = e.attributes(k, b, ev.Attributes)
		b = otlpjson.AppendDroppedAttributes(b, Count(ev.DroppedAttributeCount))
		b = otlpjson.CloseObject(b)
	}
	return otlpjson.CloseList(b)
}

func (e *JSON) links(k *otlpjson.Keys, b []byte, links []sdktrace.Link) []byte {
	if len(links) == 0 {
		return b
	}
	b = otlpjson.OpenLinks(b)
	for i := range links {
		l := &links[i]
		sc := l.SpanContext
		b = otlpjson.OpenLink(b, sc.TraceID(), sc.SpanID(), sc.TraceState().String(), Flags(sc, sc))
		b = e.attributes(k, b, l.Attributes)
		b = otlpjson.AppendDroppedAttributes(b, Count(l.DroppedAttributeCount))
		b = otlpjson.CloseObject(b)
	}
	return otlpjson.CloseList(b)
}

// attributes appends the list with its key, or nothing when it is empty.
func (e *JSON) attributes(k *otlpjson.Keys, b []byte, kvs []attribute.KeyValue) []byte {
	if len(kvs) == 0 {
		return b
	}
	b = otlpjson.OpenAttributes(b)
	return otlpjson.CloseList(e.keyValues(k, b, kvs))
}

// keyValues appends the elements of a list of attributes.
func (e *JSON) keyValues(k *otlpjson.Keys, b []byte, kvs []attribute.KeyValue) []byte {
	if e.Transform != nil {
		return e.transformed(k, b, kvs)
	}
	return plainKeyValues(k, b, kvs)
}

// plainKeyValues is keyValues as they are; the kinds that spans have most by the
// quick way.
func plainKeyValues(k *otlpjson.Keys, b []byte, kvs []attribute.KeyValue) []byte {
	for i := range kvs {
		kv := &kvs[i]
		switch kv.Value.Type() {
		case attribute.STRING:
			b = k.AppendStringAttribute(b, string(kv.Key), kv.Value.AsString())
		case attribute.INT64:
			b = k.AppendIntAttribute(b, string(kv.Key), kv.Value.AsInt64())
		case attribute.BOOL:
			b = k.AppendBoolAttribute(b, string(kv.Key), kv.Value.AsBool())
		case attribute.FLOAT64:
			b = k.AppendDoubleAttribute(b, string(kv.Key), kv.Value.AsFloat64())
		default:
			b = keyValue(b, kv, 0)
		}
	}
	return b
}

// transformed is keyValues through the transform. It sees these, and not what a
// map value holds: a mask hides the map as a whole.
func (e *JSON) transformed(k *otlpjson.Keys, b []byte, kvs []attribute.KeyValue) []byte {
	for i := range kvs {
		if kv, ok := e.masked(kvs[i]); ok {
			b = plainKeyValues(k, b, []attribute.KeyValue{kv})
		}
	}
	return b
}

// masked asks the transform; one that panics hides the attribute.
func (e *JSON) masked(kv attribute.KeyValue) (_ attribute.KeyValue, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			ok = false
			e.Panicked(r)
		}
	}()
	return e.Transform(kv)
}

func keyValue(b []byte, kv *attribute.KeyValue, depth int) []byte {
	b = otlpjson.AppendKey(b, string(kv.Key))
	b = value(b, kv.Value, depth)
	return otlpjson.CloseObject(b)
}

func value(b []byte, v attribute.Value, depth int) []byte {
	switch v.Type() {
	case attribute.STRING:
		return otlpjson.AppendStringValue(b, v.AsString())
	case attribute.INT64:
		return otlpjson.AppendIntValue(b, v.AsInt64())
	case attribute.BOOL:
		return otlpjson.AppendBoolValue(b, v.AsBool())
	case attribute.FLOAT64:
		return otlpjson.AppendDoubleValue(b, v.AsFloat64())
	case attribute.STRINGSLICE:
		return array(b, v.AsStringSlice(), otlpjson.AppendStringValue)
	case attribute.INT64SLICE:
		return array(b, v.AsInt64Slice(), otlpjson.AppendIntValue)
	case attribute.BOOLSLICE:
		return array(b, v.AsBoolSlice(), otlpjson.AppendBoolValue)
	case attribute.FLOAT64SLICE:
		return array(b, v.AsFloat64Slice(), otlpjson.AppendDoubleValue)
	case attribute.BYTESLICE:
		return otlpjson.AppendBytesValue(b, v.AsByteSlice())
	case attribute.SLICE, attribute.MAP:
		return nested(b, v, depth)
	case attribute.EMPTY:
		return otlpjson.AppendEmptyValue(b)
	default:
		// A kind that a later OTel adds: its text is better than nothing.
		return otlpjson.AppendStringValue(b, v.String())
	}
}

func array[T any](b []byte, vs []T, appendValue func([]byte, T) []byte) []byte {
	b = otlpjson.OpenArray(b)
	for _, v := range vs {
		b = append(appendValue(b, v), ',')
	}
	return otlpjson.CloseArray(b)
}

func nested(b []byte, v attribute.Value, depth int) []byte {
	if depth >= maxDepth {
		return otlpjson.AppendStringValue(b, tooDeep)
	}
	if v.Type() == attribute.SLICE {
		b = otlpjson.OpenArray(b)
		for _, member := range v.AsSlice() {
			b = append(value(b, member, depth+1), ',')
		}
		return otlpjson.CloseArray(b)
	}
	b = otlpjson.OpenMap(b)
	kvs := v.AsMap()
	for i := range kvs {
		b = keyValue(b, &kvs[i], depth+1)
	}
	return otlpjson.CloseMap(b)
}

// LineEnd returns what each line of the resource and scope has after its spans.
func (e *JSON) LineEnd(res *resource.Resource, scope *instrumentation.Scope) []byte {
	b := otlpjson.ScopeOfLine(nil, scope.Name, scope.Version)
	b = e.attributes(nil, b, scope.Attributes.ToSlice())
	b = otlpjson.ResourceOfLine(b, scope.SchemaURL)
	b = e.keyValues(nil, b, res.Attributes())
	return otlpjson.CloseLine(b, 0, res.SchemaURL())
}
