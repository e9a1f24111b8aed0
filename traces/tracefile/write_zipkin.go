package tracefile

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// zipkinEncoder writes Zipkin's v2 JSON, a list of spans.
type zipkinEncoder struct {
	*losses
	buf   []byte
	wrote bool
}

func (e *zipkinEncoder) close(w *bufio.Writer) {
	if !e.wrote {
		_ = w.WriteByte('[') // an error stays in w
	}
	_, _ = w.WriteString("\n]\n")
}

func (e *zipkinEncoder) span(w *bufio.Writer, sp *traces.Span) {
	e.texts(sp)
	e.untagged(sp)
	if sp.Kind == traces.KindUnspecified {
		e.add("kind", "read back as internal")
	}
	leftOut(e.losses, "flags", sp.Flags)
	for range sp.Links {
		e.add("links", whatLeftOut)
	}
	b := append(e.buf[:0], ",\n"...)
	if !e.wrote {
		b = append(e.buf[:0], "[\n"...)
	}
	e.wrote = true
	b = appendQuotedHex(append(b, `{"traceId":`...), sp.TraceID[:])
	b = appendQuotedHex(append(b, `,"id":`...), sp.SpanID[:])
	if sp.ParentID != (traces.SpanID{}) {
		b = appendQuotedHex(append(b, `,"parentId":`...), sp.ParentID[:])
	}
	if sp.Name != "" {
		b = otlpjson.AppendString(append(b, `,"name":`...), sp.Name)
	}
	if kind := kindTag(sp.Kind); kind != "" && sp.Kind != traces.KindInternal {
		b = otlpjson.AppendString(append(b, `,"kind":`...), strings.ToUpper(kind))
	}
	for _, f := range zipkinFlags {
		if v, _ := sp.Attr(f.key); v.AsBool() {
			b = append(b, f.member...)
		}
	}
	b = e.times(b, sp)
	service, rest := serviceOf(resourceOf(sp))
	local, remote := endpointOf(sp, zipkinLocal), endpointOf(sp, zipkinRemote)
	if service != noServiceName {
		local.service = service
	}
	b = local.appendTo(b, `,"localEndpoint":{`)
	b = remote.appendTo(b, `,"remoteEndpoint":{`)
	b = e.annotations(b, sp)
	b = e.tags(b, sp, rest)
	e.buf = append(b, '}')
	_, _ = w.Write(e.buf)
}

// zipkinFlags are the members that are there when an attribute is true.
//
//nolint:gochecknoglobals // constants
var zipkinFlags = []struct{ key, member string }{
	{keyZipkinShared, `,"shared":true`},
	{keyZipkinDebug, `,"debug":true`},
}

// isZipkinFlag tells attributes that are members of the span instead of tags.
func isZipkinFlag(a traces.Attribute) bool {
	return a.Value.AsBool() && (a.Key == keyZipkinShared || a.Key == keyZipkinDebug)
}

// appendTo writes an endpoint as a member, unless nothing is known of it.
func (e zipkinEndpoint) appendTo(b []byte, open string) []byte {
	if e == (zipkinEndpoint{}) {
		return b
	}
	b = append(b, open...)
	if e.service != "" {
		b = append(otlpjson.AppendString(append(b, `"serviceName":`...), e.service), ',')
	}
	if e.address != "" {
		name := `"ipv4":`
		if strings.Contains(e.address, ":") {
			name = `"ipv6":`
		}
		b = append(otlpjson.AppendString(append(b, name...), e.address), ',')
	}
	if e.port != 0 {
		b = append(strconv.AppendInt(append(b, `"port":`...), e.port, 10), ',')
	}
	b[len(b)-1] = '}'
	return b
}

// times writes start and duration, which is at least 1 in Zipkin; none for a
// span that takes no time.
func (e *zipkinEncoder) times(b []byte, sp *traces.Span) []byte {
	start, end := e.micro("startTimeUnixNano", sp.StartUnixNano), sp.EndUnixNano/1000
	if start == 0 {
		if sp.EndUnixNano > 0 {
			e.add("endTimeUnixNano", whatLeftOut+": there is no start")
		}
		return b
	}
	switch {
	case end > start:
		e.micro("endTimeUnixNano", sp.EndUnixNano)
	case sp.EndUnixNano > sp.StartUnixNano:
		end = start + 1
		e.add("endTimeUnixNano", "set to one microsecond after the start")
	case sp.EndUnixNano == sp.StartUnixNano && end*1000 != sp.EndUnixNano:
		e.add("endTimeUnixNano", "cut to microseconds")
	}
	b = strconv.AppendUint(append(b, `,"timestamp":`...), start, 10)
	if end > start {
		b = strconv.AppendUint(append(b, `,"duration":`...), end-start, 10)
	}
	return b
}

// annotations writes the events. Zipkin refuses a whole file for one without a
// time, so that such an event gets its span's.
func (e *zipkinEncoder) annotations(b []byte, sp *traces.Span) []byte {
	if len(sp.Events) == 0 {
		return b
	}
	b = append(b, `,"annotations":[`...)
	for _, ev := range sp.Events {
		at := e.micro("events.timeUnixNano", ev.TimeUnixNano)
		if at == 0 {
			at = sp.StartUnixNano / 1000
			if at == 0 {
				e.add("events", whatLeftOut+": it has no time")
				continue
			}
			e.add("events.timeUnixNano", "set to the span's start")
		}
		b = strconv.AppendUint(append(b, `{"timestamp":`...), at, 10)
		b = otlpjson.AppendString(append(b, `,"value":`...), ev.Name)
		b = otlpjson.CloseObject(b)
		for _, a := range ev.Attributes {
			e.add("events.attributes."+a.Key, whatLeftOut)
		}
	}
	return otlpjson.CloseList(b)
}

// tags writes the span's attributes, those of its resource, and what has no
// field of its own, in this order: a tag can be there once, and the first stays.
func (e *zipkinEncoder) tags(b []byte, sp *traces.Span, resource []traces.Attribute) []byte {
	t := zipkinTags{buf: append(b, `,"tags":{`...), seen: map[string]bool{}}
	scope := scopeOf(sp)
	if sp.Kind == traces.KindInternal { // Zipkin has no word for it; the Collector takes none for unspecified
		t.add(tagKind, kindTag(sp.Kind))
	}
	fields := []struct{ key, text string }{
		{tagStatusCode, statusTag(sp.Status.Code)},
		{tagStatusMessage, sp.Status.Message},
		{tagScopeName, scope.Name},
		{tagScopeVersion, scope.Version},
		{tagTraceState, sp.TraceState},
	}
	for _, f := range fields {
		if f.text != "" {
			t.add(f.key, f.text)
		}
	}
	if sp.Status.Code == traces.StatusError {
		t.add(tagError, "true")
	}
	for _, a := range sp.Attributes {
		switch {
		case isZipkinFlag(a):
		case !t.add(a.Key, valueText(a.Value)):
			e.add("attributes."+a.Key, whatLeftOut+": the key is taken")
		case isTag(a.Key, valueText(a.Value)):
			e.add("attributes."+a.Key, whatReserved)
		case a.Value.Kind() == traces.ValueInt && isEndpointPort(sp, a):
		case a.Value.Kind() != traces.ValueString:
			e.add("attributes."+a.Key, kindName(a.Value.Kind())+" written as string")
		}
	}
	first := e.first("attributes", resourceOf(sp))
	for _, a := range resource {
		if t.add(a.Key, valueText(a.Value)) && first {
			e.add("resource.attributes."+a.Key, "written as tag of each span")
		} else if first {
			e.add("resource.attributes."+a.Key, whatLeftOut+": the key is taken")
		}
	}
	if len(t.seen) == 0 {
		return b
	}
	return append(t.buf, '}')
}

// isEndpointPort tells attributes that an endpoint keeps as numbers.
func isEndpointPort(sp *traces.Span, a traces.Attribute) bool {
	for _, keys := range []zipkinKeys{zipkinLocal, zipkinRemote} {
		if port := endpointOf(sp, keys).port; a.Key == keys.port && port > 0 && a.Value.AsInt() == port {
			return true
		}
	}
	return false
}

type zipkinTags struct {
	buf  []byte
	seen map[string]bool
}

func (t *zipkinTags) add(key, text string) bool {
	if t.seen[key] {
		return false
	}
	if len(t.seen) > 0 {
		t.buf = append(t.buf, ',')
	}
	t.seen[key] = true
	t.buf = append(otlpjson.AppendString(t.buf, key), ':')
	t.buf = otlpjson.AppendString(t.buf, text)
	return true
}
