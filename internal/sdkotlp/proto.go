package sdkotlp

import (
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// The numbers of the fields are those of
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto

func appendProtoSpan(b []byte, s sdktrace.ReadOnlySpan) []byte {
	sc, parent := s.SpanContext(), s.Parent()
	b = appendProtoContext(b, sc)
	parentID := parent.SpanID()
	b = otlpproto.AppendID(b, 4, parentID[:])
	b = appendProtoText(b, 5, s.Name())
	b = otlpproto.AppendVarint(b, 6, uint64(Kind(s.SpanKind()))) //nolint:gosec // not negative
	b = otlpproto.AppendFixed64(b, 7, UnixNano(s.StartTime()))
	b = otlpproto.AppendFixed64(b, 8, UnixNano(s.EndTime()))
	b = appendProtoAttributes(b, 9, s.Attributes(), 0)
	b = otlpproto.AppendVarint(b, 10, uint64(Count(s.DroppedAttributes())))
	b = appendProtoEvents(b, s.Events())
	b = otlpproto.AppendVarint(b, 12, uint64(Count(s.DroppedEvents())))
	b = appendProtoLinks(b, s.Links())
	b = otlpproto.AppendVarint(b, 14, uint64(Count(s.DroppedLinks())))
	if status := s.Status(); status != (sdktrace.Status{}) {
		b = otlpproto.AppendMessage(b, 15, func(b []byte) []byte {
			b = appendProtoText(b, 2, status.Description)
			return otlpproto.AppendVarint(b, 3, uint64(StatusCode(status.Code))) //nolint:gosec // not negative
		})
	}
	return otlpproto.AppendFixed32(b, 16, Flags(sc, parent))
}

// appendProtoContext appends what a span and a link have at the same numbers.
func appendProtoContext(b []byte, sc trace.SpanContext) []byte {
	traceID, spanID := sc.TraceID(), sc.SpanID()
	b = otlpproto.AppendID(b, 1, traceID[:])
	b = otlpproto.AppendID(b, 2, spanID[:])
	return appendProtoText(b, 3, sc.TraceState().String())
}

func appendProtoEvents(b []byte, events []sdktrace.Event) []byte {
	for i := range events {
		e := &events[i]
		b = otlpproto.AppendMessage(b, 11, func(b []byte) []byte {
			b = otlpproto.AppendFixed64(b, 1, UnixNano(e.Time))
			b = appendProtoText(b, 2, e.Name)
			b = appendProtoAttributes(b, 3, e.Attributes, 0)
			return otlpproto.AppendVarint(b, 4, uint64(Count(e.DroppedAttributeCount)))
		})
	}
	return b
}

func appendProtoLinks(b []byte, links []sdktrace.Link) []byte {
	for i := range links {
		l := &links[i]
		b = otlpproto.AppendMessage(b, 13, func(b []byte) []byte {
			b = appendProtoContext(b, l.SpanContext)
			b = appendProtoAttributes(b, 4, l.Attributes, 0)
			b = otlpproto.AppendVarint(b, 5, uint64(Count(l.DroppedAttributeCount)))
			return otlpproto.AppendFixed32(b, 6, Flags(l.SpanContext, l.SpanContext))
		})
	}
	return b
}

func appendProtoResource(b []byte, r *resource.Resource) []byte {
	return appendProtoAttributes(b, 1, r.Attributes(), 0)
}

func appendProtoScope(b []byte, s instrumentation.Scope) []byte {
	b = appendProtoText(b, 1, s.Name)
	b = appendProtoText(b, 2, s.Version)
	return appendProtoAttributes(b, 3, s.Attributes.ToSlice(), 0)
}

// appendProtoText appends a string. A protobuf library refuses a whole request
// for one byte that is not UTF-8: each such byte becomes U+FFFD.
func appendProtoText(b []byte, field int, s string) []byte {
	return otlpproto.AppendString(b, field, utf8Text(s))
}

func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func appendProtoAttributes(b []byte, field int, kvs []attribute.KeyValue, depth int) []byte {
	for i := range kvs {
		kv := &kvs[i]
		b = otlpproto.AppendMessage(b, field, func(b []byte) []byte {
			b = appendProtoText(b, 1, string(kv.Key))
			return otlpproto.AppendMessage(b, 2, func(b []byte) []byte { return appendProtoValue(b, kv.Value, depth) })
		})
	}
	return b
}

// appendProtoValue appends the fields of an AnyValue.
func appendProtoValue(b []byte, v attribute.Value, depth int) []byte {
	switch v.Type() {
	case attribute.STRING:
		return appendProtoString(b, v.AsString())
	case attribute.BOOL:
		return appendProtoBool(b, v.AsBool())
	case attribute.INT64:
		return appendProtoInt(b, v.AsInt64())
	case attribute.FLOAT64:
		return appendProtoDouble(b, v.AsFloat64())
	case attribute.STRINGSLICE:
		return appendProtoArray(b, v.AsStringSlice(), appendProtoString)
	case attribute.BOOLSLICE:
		return appendProtoArray(b, v.AsBoolSlice(), appendProtoBool)
	case attribute.INT64SLICE:
		return appendProtoArray(b, v.AsInt64Slice(), appendProtoInt)
	case attribute.FLOAT64SLICE:
		return appendProtoArray(b, v.AsFloat64Slice(), appendProtoDouble)
	case attribute.BYTESLICE:
		return otlpproto.AppendStringAlways(b, 7, v.AsByteSlice())
	case attribute.SLICE, attribute.MAP:
		return appendProtoNested(b, v, depth)
	case attribute.EMPTY:
		return b
	default:
		// A kind that a later OTel adds: its text is better than nothing.
		return appendProtoString(b, v.String())
	}
}

func appendProtoString(b []byte, s string) []byte {
	return otlpproto.AppendStringAlways(b, 1, utf8Text(s))
}

func appendProtoBool(b []byte, v bool) []byte {
	var n uint64
	if v {
		n = 1
	}
	return otlpproto.AppendVarintAlways(b, 2, n)
}

func appendProtoInt(b []byte, v int64) []byte {
	return otlpproto.AppendVarintAlways(b, 3, uint64(v)) //nolint:gosec // two's complement
}

func appendProtoDouble(b []byte, v float64) []byte {
	return otlpproto.AppendDoubleAlways(b, 4, v)
}

func appendProtoArray[T any](b []byte, vs []T, appendValue func([]byte, T) []byte) []byte {
	return otlpproto.AppendMessage(b, 5, func(b []byte) []byte {
		for _, v := range vs {
			b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return appendValue(b, v) })
		}
		return b
	})
}

func appendProtoNested(b []byte, v attribute.Value, depth int) []byte {
	if depth >= maxDepth {
		return appendProtoString(b, tooDeep)
	}
	if v.Type() == attribute.SLICE {
		return appendProtoArray(b, v.AsSlice(), func(b []byte, v attribute.Value) []byte {
			return appendProtoValue(b, v, depth+1)
		})
	}
	return otlpproto.AppendMessage(b, 6, func(b []byte) []byte {
		return appendProtoAttributes(b, 1, v.AsMap(), depth+1)
	})
}
