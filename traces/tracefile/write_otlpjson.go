package tracefile

import (
	"bufio"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// lineBytes is what a line aims at. The Collector's file reader stops at 1 MiB.
const lineBytes = 512 << 10

// otlpJSONEncoder writes lines, or one document with the same contents.
type otlpJSONEncoder struct {
	*losses
	document bool

	buf      []byte // the open line
	end      []byte // of it, after the list of spans
	one      []byte // a span
	resource *traces.Resource
	scope    *traces.Scope
	wrote    bool
}

func (e *otlpJSONEncoder) span(w *bufio.Writer, sp *traces.Span) {
	e.texts(sp)
	r, sc := sp.Resource, sp.Scope
	e.one = appendSpan(e.one[:0], sp)
	if r != e.resource || sc != e.scope || len(e.buf)+len(e.one)+len(e.end) > lineBytes {
		e.flush(w)
	}
	if len(e.buf) == 0 {
		e.resource, e.scope = r, sc
		e.end = appendLineEnd(e.end[:0], resourceOf(sp), scopeOf(sp))
		e.buf = append(e.buf, otlpjson.LineStart...)
	}
	e.buf = append(e.buf, e.one...)
}

// flush ends the open line; in a document, all but its frame is written.
func (e *otlpJSONEncoder) flush(w *bufio.Writer) {
	if len(e.buf) == 0 {
		return
	}
	e.buf = append(otlpjson.CloseList(e.buf), e.end...)
	line := e.buf
	if e.document {
		line = line[len(otlpjson.DocumentStart) : len(line)-len("]}\n")]
		if e.wrote {
			_, _ = w.WriteString(",\n")
		} else {
			_, _ = w.WriteString(otlpjson.DocumentStart)
		}
	}
	_, _ = w.Write(line) // an error stays in w
	e.wrote = true
	e.buf = e.buf[:0]
}

func (e *otlpJSONEncoder) close(w *bufio.Writer) {
	e.flush(w)
	switch {
	case !e.document:
	case e.wrote:
		_, _ = w.WriteString("]}\n")
	default:
		_, _ = w.WriteString(otlpjson.DocumentStart + "]}\n")
	}
}

// appendLineEnd appends what a line has after its list of spans.
func appendLineEnd(b []byte, r *traces.Resource, s *traces.Scope) []byte {
	b = otlpjson.ScopeOfLine(b, s.Name, s.Version)
	b = appendAttributes(b, s.Attributes, s.DroppedAttributes)
	b = otlpjson.ResourceOfLine(b, s.SchemaURL)
	for _, a := range r.Attributes {
		b = appendAttribute(b, a)
	}
	return otlpjson.CloseLine(b, r.DroppedAttributes, r.SchemaURL)
}

// appendSpan appends a span as OTLP/JSON and a comma.
func appendSpan(b []byte, sp *traces.Span) []byte {
	b = otlpjson.OpenSpan(b, &otlpjson.SpanFields{
		TraceID: sp.TraceID, SpanID: sp.SpanID, ParentSpanID: sp.ParentID,
		Flags: sp.Flags, Kind: int32(sp.Kind), TraceState: sp.TraceState, Name: sp.Name,
		StartTimeUnixNano: sp.StartUnixNano, EndTimeUnixNano: sp.EndUnixNano,
	})
	b = appendAttributes(b, sp.Attributes, sp.DroppedAttributes)
	b = appendEvents(b, sp.Events)
	b = otlpjson.AppendDroppedEvents(b, sp.DroppedEvents)
	b = appendLinks(b, sp.Links)
	b = otlpjson.AppendDroppedLinks(b, sp.DroppedLinks)
	b = otlpjson.AppendStatus(b, int32(sp.Status.Code), sp.Status.Message)
	return otlpjson.CloseObject(b)
}

func appendEvents(b []byte, list []traces.Event) []byte {
	if len(list) == 0 {
		return b
	}
	b = otlpjson.OpenEvents(b)
	for _, e := range list {
		b = otlpjson.OpenEvent(b, e.TimeUnixNano, e.Name)
		b = appendAttributes(b, e.Attributes, e.DroppedAttributes)
		b = otlpjson.CloseObject(b)
	}
	return otlpjson.CloseList(b)
}

func appendLinks(b []byte, list []traces.Link) []byte {
	if len(list) == 0 {
		return b
	}
	b = otlpjson.OpenLinks(b)
	for _, l := range list {
		b = otlpjson.OpenLink(b, l.TraceID, l.SpanID, l.TraceState, l.Flags)
		b = appendAttributes(b, l.Attributes, l.DroppedAttributes)
		b = otlpjson.CloseObject(b)
	}
	return otlpjson.CloseList(b)
}

func appendAttributes(b []byte, list []traces.Attribute, dropped uint32) []byte {
	if len(list) > 0 {
		b = otlpjson.OpenAttributes(b)
		for _, a := range list {
			b = appendAttribute(b, a)
		}
		b = otlpjson.CloseList(b)
	}
	return otlpjson.AppendDroppedAttributes(b, dropped)
}

func appendAttribute(b []byte, a traces.Attribute) []byte {
	b = otlpjson.AppendKey(b, a.Key)
	b = appendValue(b, a.Value)
	return otlpjson.CloseObject(b)
}

func appendValue(b []byte, v traces.Value) []byte {
	switch v.Kind() {
	case traces.ValueString:
		return otlpjson.AppendStringValue(b, v.AsString())
	case traces.ValueBool:
		return otlpjson.AppendBoolValue(b, v.AsBool())
	case traces.ValueInt:
		return otlpjson.AppendIntValue(b, v.AsInt())
	case traces.ValueDouble:
		return otlpjson.AppendDoubleValue(b, v.AsDouble())
	case traces.ValueBytes:
		return otlpjson.AppendBytesValue(b, []byte(v.AsBytes()))
	case traces.ValueArray:
		b = otlpjson.OpenArray(b)
		for _, m := range v.AsArray() {
			b = append(appendValue(b, m), ',')
		}
		return otlpjson.CloseArray(b)
	case traces.ValueMap:
		b = otlpjson.OpenMap(b)
		for _, m := range v.AsMap() {
			b = appendAttribute(b, m)
		}
		return otlpjson.CloseMap(b)
	default:
		return otlpjson.AppendEmptyValue(b)
	}
}
