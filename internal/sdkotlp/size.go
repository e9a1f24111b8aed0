package sdkotlp

import (
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Size is how much a span holds, as far as a quick look tells.
type Size struct {
	text  int // bytes of names, keys and values
	items int // attributes, events, links, and members of values
}

// SizeOf looks at a finished span. It allocates only for values that are lists
// or maps.
func SizeOf(s sdktrace.ReadOnlySpan) Size {
	z := Size{text: len(s.Name()) + len(s.Status().Description)}
	z.attributes(s.Attributes())
	for _, e := range s.Events() {
		z.text += len(e.Name)
		z.items++
		z.attributes(e.Attributes)
	}
	for _, l := range s.Links() {
		z.items++
		z.attributes(l.Attributes)
	}
	return z
}

// Encoded is about the length of the span in OTLP/protobuf.
func (z Size) Encoded() int { return 100 + z.text + 12*z.items }

// Held is about the memory that the span keeps alive.
func (z Size) Held() int { return 600 + z.text + 72*z.items }

// attributes looks at what spans have most without a call for each.
func (z *Size) attributes(kvs []attribute.KeyValue) {
	text := 0
	for i := range kvs {
		kv := &kvs[i]
		text += len(kv.Key)
		switch kv.Value.Type() {
		case attribute.STRING:
			text += len(kv.Value.AsString())
		case attribute.INT64, attribute.BOOL, attribute.FLOAT64:
		default:
			z.value(kv.Value)
		}
	}
	z.text += text
	z.items += len(kvs)
}

// value adds what a value holds.
func (z *Size) value(v attribute.Value) {
	switch v.Type() {
	case attribute.STRING:
		z.text += len(v.AsString())
	case attribute.BYTESLICE:
		z.text += len(v.AsByteSlice())
	case attribute.STRINGSLICE:
		for _, s := range v.AsStringSlice() {
			z.text += len(s)
			z.items++
		}
	case attribute.BOOLSLICE:
		z.items += len(v.AsBoolSlice())
	case attribute.INT64SLICE:
		z.items += len(v.AsInt64Slice())
	case attribute.FLOAT64SLICE:
		z.items += len(v.AsFloat64Slice())
	case attribute.SLICE:
		for _, m := range v.AsSlice() {
			z.items++
			z.value(m)
		}
	case attribute.MAP:
		z.attributes(v.AsMap())
	default: // numbers, and nothing
	}
}
