package tracefile

import (
	"bufio"
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// jaegerEncoder writes what the Jaeger UI downloads and takes. It holds each
// trace's JSON until the end, since the spans of a trace stand together.
type jaegerEncoder struct {
	*losses
	order  []*jaegerBuffer
	traces map[traces.TraceID]*jaegerBuffer
}

type jaegerBuffer struct {
	id        traces.TraceID
	spans     []byte
	processes []byte
	ids       map[*traces.Resource]string
}

func newJaegerEncoder(l *losses) *jaegerEncoder {
	return &jaegerEncoder{losses: l, traces: map[traces.TraceID]*jaegerBuffer{}}
}

func (e *jaegerEncoder) close(w *bufio.Writer) {
	_, _ = w.WriteString(`{"data":[`) // errors stay in w
	for i, t := range e.order {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_, _ = w.WriteString("\n" + `{"traceID":"`)
		_, _ = w.Write(otlpjson.AppendHex(nil, t.id[:]))
		_, _ = w.WriteString(`","spans":[`)
		_, _ = w.Write(t.spans)
		_, _ = w.WriteString("\n" + `],"processes":{`)
		_, _ = w.Write(t.processes)
		_, _ = w.WriteString(`},"warnings":null}`)
	}
	_, _ = w.WriteString("\n" + `],"total":0,"limit":0,"offset":0,"errors":null}` + "\n")
}

func (e *jaegerEncoder) span(_ *bufio.Writer, sp *traces.Span) {
	e.texts(sp)
	e.untagged(sp)
	t := e.traces[sp.TraceID]
	if t == nil {
		t = &jaegerBuffer{id: sp.TraceID, ids: map[*traces.Resource]string{}}
		e.traces[sp.TraceID] = t
		e.order = append(e.order, t)
	}
	process := e.process(t, sp)
	b := t.spans
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = appendQuotedHex(append(b, "\n"+`{"traceID":`...), sp.TraceID[:])
	b = appendQuotedHex(append(b, `,"spanID":`...), sp.SpanID[:])
	if sp.Flags != 0 {
		b = strconv.AppendUint(append(b, `,"flags":`...), uint64(sp.Flags), 10)
	}
	b = otlpjson.AppendString(append(b, `,"operationName":`...), sp.Name)
	b = e.references(append(b, `,"references":[`...), sp)
	start, end := e.micro("startTimeUnixNano", sp.StartUnixNano), e.micro("endTimeUnixNano", sp.EndUnixNano)
	b = strconv.AppendUint(append(b, `],"startTime":`...), start, 10)
	b = strconv.AppendUint(append(b, `,"duration":`...), max(end, start)-start, 10)
	b = e.tags(append(b, `,"tags":[`...), sp)
	b = e.logs(append(b, `],"logs":[`...), sp.Events)
	b = otlpjson.AppendString(append(b, `],"processID":`...), process)
	t.spans = append(appendWarnings(append(b, `,"warnings":`...), sp), '}')
}

func appendQuotedHex(b, id []byte) []byte {
	b = append(b, '"')
	b = otlpjson.AppendHex(b, id)
	return append(b, '"')
}

// process returns the id of the span's resource in its trace.
func (e *jaegerEncoder) process(t *jaegerBuffer, sp *traces.Span) string {
	if id, ok := t.ids[sp.Resource]; ok {
		return id
	}
	id := "p" + strconv.Itoa(len(t.ids)+1)
	t.ids[sp.Resource] = id
	r := resourceOf(sp)
	service, rest := serviceOf(r)
	first := e.first("attributes", r)
	b := t.processes
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(otlpjson.AppendString(b, id), `:{"serviceName":`...)
	b = append(otlpjson.AppendString(b, service), `,"tags":[`...)
	for i, a := range rest {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.tag(b, a, "resource.attributes.", first)
	}
	t.processes = append(b, `]}`...)
	return id
}

// serviceOf splits the service's name from the other attributes.
func serviceOf(r *traces.Resource) (name string, rest []traces.Attribute) {
	for i, a := range r.Attributes {
		if text := a.Value.AsString(); a.Key == keyServiceName && text != "" && text != noServiceName {
			return text, append(r.Attributes[:i:i], r.Attributes[i+1:]...)
		}
	}
	return noServiceName, r.Attributes
}

// warnings are what Jaeger has to say of a span, when the attribute is that; else
// nil.
func warnings(a traces.Attribute) []traces.Value {
	list := a.Value.AsArray()
	noText := func(v traces.Value) bool { return v.Kind() != traces.ValueString }
	if a.Key != keyJaegerWarnings || len(list) == 0 || slices.ContainsFunc(list, noText) {
		return nil
	}
	return list
}

func appendWarnings(b []byte, sp *traces.Span) []byte {
	var list []traces.Value
	for _, a := range sp.Attributes {
		list = append(list, warnings(a)...)
	}
	if list == nil {
		return append(b, "null"...)
	}
	return appendPlain(b, traces.Array(list...))
}

// references writes the parent and then the links.
func (e *jaegerEncoder) references(b []byte, sp *traces.Span) []byte {
	if sp.ParentID != (traces.SpanID{}) {
		b = appendReference(b, "CHILD_OF", sp.TraceID, sp.ParentID)
	}
	for i, l := range sp.Links {
		if i > 0 || sp.ParentID != (traces.SpanID{}) {
			b = append(b, ',')
		}
		b = appendReference(b, "FOLLOWS_FROM", l.TraceID, l.SpanID)
		leftOut(e.losses, "links.traceState", l.TraceState)
		leftOut(e.losses, "links.flags", l.Flags)
		leftOut(e.losses, "links.droppedAttributesCount", l.DroppedAttributes)
		for _, a := range l.Attributes {
			e.add("links.attributes."+a.Key, whatLeftOut)
		}
	}
	return b
}

func appendReference(b []byte, kind string, trace traces.TraceID, span traces.SpanID) []byte {
	b = append(append(b, `{"refType":"`...), kind...)
	b = appendQuotedHex(append(b, `","traceID":`...), trace[:])
	b = appendQuotedHex(append(b, `,"spanID":`...), span[:])
	return append(b, '}')
}

// tags writes the attributes and what has no field of its own.
func (e *jaegerEncoder) tags(b []byte, sp *traces.Span) []byte {
	start := len(b)
	for _, a := range sp.Attributes {
		if warnings(a) != nil {
			continue
		}
		if k := a.Value.Kind(); (k == traces.ValueString || a.Key == tagError && a.Value.AsBool()) && isTag(a.Key, valueText(a.Value)) {
			e.add("attributes."+a.Key, whatReserved)
		}
		b = append(e.tag(b, a, "attributes.", true), ',')
	}
	scope := scopeOf(sp)
	for _, f := range []struct{ key, text string }{
		{tagKind, kindTag(sp.Kind)},
		{tagStatusCode, statusTag(sp.Status.Code)},
		{tagStatusMessage, sp.Status.Message},
		{tagScopeName, scope.Name},
		{tagScopeVersion, scope.Version},
		{tagTraceState, sp.TraceState},
	} {
		if f.text != "" {
			b = append(e.tag(b, traces.Attribute{Key: f.key, Value: traces.String(f.text)}, "", false), ',')
		}
	}
	if sp.Status.Code == traces.StatusError {
		b = append(e.tag(b, traces.Attribute{Key: tagError, Value: traces.Bool(true)}, "", false), ',')
	}
	if len(b) > start {
		b = b[:len(b)-1]
	}
	return b
}

// tag writes one typed tag.
func (e *jaegerEncoder) tag(b []byte, a traces.Attribute, path string, report bool) []byte {
	b = otlpjson.AppendString(append(b, `{"key":`...), a.Key)
	switch v := a.Value; v.Kind() {
	case traces.ValueBool:
		b = strconv.AppendBool(append(b, `,"type":"bool","value":`...), v.AsBool())
	case traces.ValueInt:
		b = strconv.AppendInt(append(b, `,"type":"int64","value":`...), v.AsInt(), 10)
	case traces.ValueDouble:
		b = otlpjson.AppendDouble(append(b, `,"type":"float64","value":`...), v.AsDouble())
	case traces.ValueBytes:
		b = append(b, `,"type":"binary","value":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(v.AsBytes()))
		b = append(b, '"')
	default:
		if report && v.Kind() != traces.ValueString {
			e.add(path+a.Key, kindName(v.Kind())+" written as string")
		}
		b = otlpjson.AppendString(append(b, `,"type":"string","value":`...), valueText(v))
	}
	return append(b, '}')
}

func (e *jaegerEncoder) logs(b []byte, list []traces.Event) []byte {
	for i, ev := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"timestamp":`...), e.micro("events.timeUnixNano", ev.TimeUnixNano), 10)
		b = append(b, `,"fields":[`...)
		start := len(b)
		if ev.Name != "" {
			b = append(e.tag(b, traces.Attribute{Key: "event", Value: traces.String(ev.Name)}, "", false), ',')
		}
		for _, a := range ev.Attributes {
			if a.Key == "event" && ev.Name == "" && a.Value.Kind() == traces.ValueString {
				e.add("events.attributes.event", whatReserved)
			}
			b = append(e.tag(b, a, "events.attributes.", true), ',')
		}
		if len(b) > start {
			b = b[:len(b)-1]
		}
		b = append(b, `]}`...)
	}
	return b
}
