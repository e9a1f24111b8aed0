package tracefile

import (
	"bytes"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// python reads what ReadableSpan.to_json of OpenTelemetry Python writes. It
// has no scope, no flags and no counts of what was dropped, and times are
// rounded to the microsecond. Arize Phoenix has the same, but for kind and status.
func (d *decoder) python() {
	sp := d.beginSpan()
	var openInference string
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "name":
			sp.Name = d.names.string(d.s.Text())
		case "context":
			d.need(d.pythonContext(&sp.TraceID, &sp.SpanID, &sp.TraceState))
		case "parent_id":
			d.need(d.pythonSpanID(&sp.ParentID))
		case "kind":
			sp.Kind = d.pythonKind()
		case "span_kind":
			openInference = d.phoenixKind(sp)
		case "status_code":
			sp.Status.Code = d.pythonCode()
		case "status_message":
			sp.Status.Message = d.copy(d.s.Text())
		case "start_time":
			sp.StartUnixNano = d.timestamp()
		case "end_time":
			sp.EndUnixNano = d.timestamp()
		case "status":
			d.pythonStatus(&sp.Status)
		case "attributes":
			sp.Attributes = d.plainMap(0)
		case "events":
			sp.Events = d.pythonEvents()
		case "links":
			sp.Links = d.pythonLinks()
		case "resource":
			sp.Resource = d.pythonResource()
		default:
			d.unknown("span", key)
		}
	}
	if _, ok := sp.Attr(keyOpenInferenceKind); !ok && openInference != "" {
		sp.Attributes = append(sp.Attributes, traces.Attribute{Key: keyOpenInferenceKind, Value: traces.String(openInference)})
	}
	d.emit(sp)
}

// keyOpenInferenceKind is the attribute from which Phoenix makes its span_kind.
// Spec: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
const keyOpenInferenceKind = "openinference.span.kind"

// phoenixKind reads the kind of a span, which is OpenInference's ("LLM", "CHAIN")
// and is returned, or OpenTelemetry's.
func (d *decoder) phoenixKind(sp *traces.Span) string {
	text := string(d.s.Text())
	if k, ok := kindOf(text); ok {
		sp.Kind = k
		return ""
	}
	return text
}

func (d *decoder) pythonContext(trace *traces.TraceID, span *traces.SpanID, state *string) bool {
	good := true
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "trace_id":
			text := bytes.TrimPrefix(d.s.Text(), []byte("0x"))
			if !paddedHex(trace[:], text) {
				d.skipSpan("bad trace id " + clip(string(text)))
				good = false
			}
		case "span_id":
			good = d.pythonSpanID(span) && good
		case "trace_state":
			*state = pythonState(string(d.s.Text()))
		default:
			d.unknown("context", key)
		}
	}
	return good
}

func (d *decoder) pythonSpanID(id *traces.SpanID) bool {
	text := bytes.TrimPrefix(d.s.Text(), []byte("0x"))
	if paddedHex(id[:], text) {
		return true
	}
	d.skipSpan("bad span id " + clip(string(text)))
	return false
}

// pythonState turns the repr of Python's TraceState, "['a=1', 'b=2']" or in
// old releases "{'a': '1'}", into the header's form.
func pythonState(repr string) string {
	body := strings.Trim(repr, "[]{} ")
	if body == "" {
		return ""
	}
	var members []string
	for m := range strings.SplitSeq(body, ", ") {
		m = strings.ReplaceAll(m, "': '", "=")
		members = append(members, strings.Trim(m, `'"`))
	}
	return strings.Join(members, ",")
}

func (d *decoder) pythonKind() traces.Kind {
	text := d.s.Text()
	name := strings.TrimPrefix(string(text), "SpanKind.")
	if k, ok := kindOf(name); ok {
		return k
	}
	d.skip("unknown span kind " + clip(name))
	return traces.KindUnspecified
}

func (d *decoder) pythonStatus(st *traces.Status) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "status_code":
			st.Code = d.pythonCode()
		case "description":
			st.Message = d.copy(d.s.Text())
		default:
			d.unknown("status", key)
		}
	}
}

func (d *decoder) pythonCode() traces.StatusCode {
	name := string(d.s.Text())
	code, known := statusOf(strings.TrimPrefix(name, "StatusCode."))
	if !known {
		d.skip("unknown status code " + clip(name))
	}
	return code
}

func (d *decoder) pythonEvents() (list []traces.Event) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var e traces.Event
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "name":
				e.Name = d.names.string(d.s.Text())
			case "timestamp":
				e.TimeUnixNano = d.timestamp()
			case "attributes":
				e.Attributes = d.plainMap(0)
			default:
				d.unknown("event", key)
			}
		}
		list = append(list, e)
	}
	return list
}

func (d *decoder) pythonLinks() (list []traces.Link) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var l traces.Link
		good := true
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "context":
				good = d.pythonContext(&l.TraceID, &l.SpanID, &l.TraceState) && good
			case "attributes":
				l.Attributes = d.plainMap(0)
			default:
				d.unknown("link", key)
			}
		}
		if good {
			list = append(list, l)
		}
	}
	return list
}

func (d *decoder) pythonResource() *traces.Resource {
	raw := d.s.Raw()
	key := append([]byte("python\x00"), raw...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{}
		d.object("resource", raw, func(key []byte) {
			switch string(key) {
			case "attributes":
				r.Attributes = d.plainMap(0)
			case "schema_url":
				r.SchemaURL = string(d.s.Text())
			default:
				d.unknown("resource", key)
			}
		})
		return r
	})
}
