package tracefile

import (
	"bufio"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpproto"
	"github.com/waymark-trace/waymark/traces"
)

// otlpProtoEncoder writes a TracesData, a ResourceSpans at a time.
type otlpProtoEncoder struct {
	*losses
	spans    []byte // those of the open ResourceSpans
	out      []byte
	resource *traces.Resource
	scope    *traces.Scope
}

func (e *otlpProtoEncoder) span(w *bufio.Writer, sp *traces.Span) {
	e.texts(sp)
	if len(e.spans) > 0 && (sp.Resource != e.resource || sp.Scope != e.scope || len(e.spans) > lineBytes) {
		e.close(w)
	}
	e.resource, e.scope = sp.Resource, sp.Scope
	e.spans = otlpproto.AppendMessage(e.spans, 2, func(b []byte) []byte { return appendProtoSpan(b, sp) })
}

// close writes what is open. Messages one after the other are one message.
func (e *otlpProtoEncoder) close(w *bufio.Writer) {
	if len(e.spans) == 0 {
		return
	}
	sp := &traces.Span{Resource: e.resource, Scope: e.scope}
	r, s := resourceOf(sp), scopeOf(sp)
	e.out = otlpproto.AppendMessage(e.out[:0], 1, func(b []byte) []byte {
		b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte {
			b = appendProtoAttributes(b, 1, r.Attributes)
			return otlpproto.AppendVarint(b, 2, uint64(r.DroppedAttributes))
		})
		b = otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
			b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte {
				b = appendProtoText(b, 1, s.Name)
				b = appendProtoText(b, 2, s.Version)
				b = appendProtoAttributes(b, 3, s.Attributes)
				return otlpproto.AppendVarint(b, 4, uint64(s.DroppedAttributes))
			})
			b = append(b, e.spans...)
			return appendProtoText(b, 3, s.SchemaURL)
		})
		return appendProtoText(b, 3, r.SchemaURL)
	})
	_, _ = w.Write(e.out) // an error stays in w
	e.spans = e.spans[:0]
}

// appendText appends a string; protobuf's have to be UTF-8.
func appendProtoText(b []byte, field int, text string) []byte {
	return otlpproto.AppendString(b, field, utf8Text(text))
}

// utf8Text replaces each bad byte, as the JSON encoders do.
func utf8Text(text string) string {
	if valid := strings.ToValidUTF8(text, ""); len(valid) == len(text) {
		return text
	}
	return string([]rune(text))
}

func appendProtoSpan(b []byte, sp *traces.Span) []byte {
	b = appendProtoIDs(b, sp.TraceID, sp.SpanID)
	b = appendProtoText(b, 3, sp.TraceState)
	b = otlpproto.AppendID(b, 4, sp.ParentID[:])
	b = appendProtoText(b, 5, sp.Name)
	b = otlpproto.AppendVarint(b, 6, enum(sp.Kind))
	b = otlpproto.AppendFixed64(b, 7, sp.StartUnixNano)
	b = otlpproto.AppendFixed64(b, 8, sp.EndUnixNano)
	b = appendProtoAttributes(b, 9, sp.Attributes)
	b = otlpproto.AppendVarint(b, 10, uint64(sp.DroppedAttributes))
	for _, e := range sp.Events {
		b = otlpproto.AppendMessage(b, 11, func(b []byte) []byte {
			b = otlpproto.AppendFixed64(b, 1, e.TimeUnixNano)
			b = appendProtoText(b, 2, e.Name)
			b = appendProtoAttributes(b, 3, e.Attributes)
			return otlpproto.AppendVarint(b, 4, uint64(e.DroppedAttributes))
		})
	}
	b = otlpproto.AppendVarint(b, 12, uint64(sp.DroppedEvents))
	for _, l := range sp.Links {
		b = otlpproto.AppendMessage(b, 13, func(b []byte) []byte {
			b = appendProtoIDs(b, l.TraceID, l.SpanID)
			b = appendProtoText(b, 3, l.TraceState)
			b = appendProtoAttributes(b, 4, l.Attributes)
			b = otlpproto.AppendVarint(b, 5, uint64(l.DroppedAttributes))
			return otlpproto.AppendFixed32(b, 6, l.Flags)
		})
	}
	b = otlpproto.AppendVarint(b, 14, uint64(sp.DroppedLinks))
	if sp.Status != (traces.Status{}) {
		b = otlpproto.AppendMessage(b, 15, func(b []byte) []byte {
			b = appendProtoText(b, 2, sp.Status.Message)
			return otlpproto.AppendVarint(b, 3, enum(sp.Status.Code))
		})
	}
	return otlpproto.AppendFixed32(b, 16, sp.Flags)
}

// enum is an enum's number as protobuf has it: sign-extended.
func enum[T ~int32](n T) uint64 { return uint64(int64(n)) } //nolint:gosec // two's complement

func appendProtoIDs(b []byte, trace traces.TraceID, span traces.SpanID) []byte {
	return otlpproto.AppendID(otlpproto.AppendID(b, 1, trace[:]), 2, span[:])
}

func appendProtoAttributes(b []byte, field int, list []traces.Attribute) []byte {
	for _, a := range list {
		b = otlpproto.AppendMessage(b, field, func(b []byte) []byte {
			b = appendProtoText(b, 1, a.Key)
			return otlpproto.AppendMessage(b, 2, func(b []byte) []byte { return appendProtoValue(b, a.Value) })
		})
	}
	return b
}

func appendProtoValue(b []byte, v traces.Value) []byte {
	switch v.Kind() {
	case traces.ValueString:
		return otlpproto.AppendStringAlways(b, 1, utf8Text(v.AsString()))
	case traces.ValueBool:
		n := uint64(0)
		if v.AsBool() {
			n = 1
		}
		return otlpproto.AppendVarintAlways(b, 2, n)
	case traces.ValueInt:
		return otlpproto.AppendVarintAlways(b, 3, uint64(v.AsInt())) //nolint:gosec // two's complement
	case traces.ValueDouble:
		return otlpproto.AppendDoubleAlways(b, 4, v.AsDouble())
	case traces.ValueBytes:
		return otlpproto.AppendStringAlways(b, 7, v.AsBytes())
	case traces.ValueArray:
		return otlpproto.AppendMessage(b, 5, func(b []byte) []byte {
			for _, m := range v.AsArray() {
				b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return appendProtoValue(b, m) })
			}
			return b
		})
	case traces.ValueMap:
		return otlpproto.AppendMessage(b, 6, func(b []byte) []byte { return appendProtoAttributes(b, 1, v.AsMap()) })
	default:
		return b
	}
}
