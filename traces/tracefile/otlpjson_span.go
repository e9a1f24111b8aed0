package tracefile

import (
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// span reads one span. One with a value that cannot be read is passed over.
func (d *decoder) span() {
	if d.s.Null() {
		return
	}
	sp := d.beginSpan()
	ok := d.s.Begin('{')
	d.usualFields(sp)
	for ok && d.s.More('}') {
		switch key := d.s.Key(); string(key) {
		case "traceId", "trace_id":
			d.need(d.traceID(&sp.TraceID))
		case "spanId", "span_id":
			d.need(d.spanID(&sp.SpanID))
		case "parentSpanId", "parent_span_id":
			d.need(d.spanID(&sp.ParentID))
		case "name":
			sp.Name = d.names.string(d.s.Text())
		case "kind":
			sp.Kind = d.kind()
		case "startTimeUnixNano", "start_time_unix_nano":
			sp.StartUnixNano = d.s.Nanos()
		case "endTimeUnixNano", "end_time_unix_nano":
			sp.EndUnixNano = d.s.Nanos()
		case "attributes":
			sp.Attributes = d.attributes(d.fields)
		case "status":
			d.status(&sp.Status)
		case "flags":
			sp.Flags = d.s.Uint32()
		case "traceState", "trace_state":
			sp.TraceState = d.names.string(d.s.Text())
		case "droppedAttributesCount", "dropped_attributes_count":
			sp.DroppedAttributes = d.s.Uint32()
		case "events":
			sp.Events = d.events()
		case "droppedEventsCount", "dropped_events_count":
			sp.DroppedEvents = d.s.Uint32()
		case "links":
			sp.Links = d.links()
		case "droppedLinksCount", "dropped_links_count":
			sp.DroppedLinks = d.s.Uint32()
		default:
			d.unknown("span", key)
		}
	}
	if d.endSpan() {
		d.out = append(d.out, sp)
	}
}

// usualFields reads the fields of a span as far as they come in the order, and
// without the spaces, in which encoders write them. Any that does not leaves the
// scanner behind a whole member, so that the way of all others goes on from there.
func (d *decoder) usualFields(sp *traces.Span) {
	s := &d.s
	if !s.First(`"traceId":`) {
		return
	}
	d.need(d.traceID(&sp.TraceID))
	if s.Lit(`,"spanId":`) {
		d.need(d.spanID(&sp.SpanID))
	}
	if s.Lit(`,"parentSpanId":`) {
		d.need(d.spanID(&sp.ParentID))
	}
	if s.Lit(`,"flags":`) {
		sp.Flags = s.Uint32()
	}
	if s.Lit(`,"name":`) {
		sp.Name = d.names.string(s.Text())
	}
	if s.Lit(`,"kind":`) {
		sp.Kind = d.kind()
	}
	if s.Lit(`,"startTimeUnixNano":`) {
		sp.StartUnixNano = s.Nanos()
	}
	if s.Lit(`,"endTimeUnixNano":`) {
		sp.EndUnixNano = s.Nanos()
	}
	if s.Lit(`,"attributes":`) {
		sp.Attributes = d.attributes(d.fields)
	}
}

func (d *decoder) status(st *traces.Status) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "code":
			st.Code = d.statusCode()
		case "message":
			st.Message = d.copy(d.s.Text())
		case "deprecatedCode", "deprecated_code":
			d.s.Skip() // was written beside code, with the same meaning
		default:
			d.unknown("status", key)
		}
	}
}

func (d *decoder) statusCode() traces.StatusCode {
	text := d.s.Number()
	if c, ok := statusOf(string(text)); ok {
		return c
	}
	n, ok := enumNumber(text)
	if !ok {
		d.skip("unknown status code " + clip(strconv.Quote(string(text))))
	}
	return traces.StatusCode(n)
}

func (d *decoder) kind() traces.Kind {
	text := d.s.Number()
	if len(text) == 1 && text[0] <= '5' && text[0] >= '0' {
		return traces.Kind(text[0] - '0')
	}
	if k, ok := kindOf(strings.TrimPrefix(string(text), "SPAN_KIND_")); ok {
		return k
	}
	n, ok := enumNumber(text)
	if !ok {
		d.skip("unknown span kind " + clip(strconv.Quote(string(text))))
	}
	return traces.Kind(n)
}

// enumNumber reads the number of an enum that this program does not know; it is kept.
func enumNumber(text []byte) (int32, bool) {
	n, err := strconv.ParseInt(string(text), 10, 32)
	return int32(n), err == nil
}

func (d *decoder) events() (list []traces.Event) {
	if d.fields != nil {
		d.s.Skip()
		return nil
	}
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		if d.s.Null() {
			continue
		}
		list = append(list, traces.Event{})
		e := &list[len(list)-1]
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "timeUnixNano", "time_unix_nano":
				e.TimeUnixNano = d.s.Nanos()
			case "name":
				e.Name = d.names.string(d.s.Text())
			case "attributes":
				e.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				e.DroppedAttributes = d.s.Uint32()
			default:
				d.unknown("event", key)
			}
		}
	}
	return list
}

func (d *decoder) links() (list []traces.Link) {
	if d.fields != nil {
		d.s.Skip()
		return nil
	}
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		if d.s.Null() {
			continue
		}
		var l traces.Link
		good := true
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "traceId", "trace_id":
				good = d.traceID(&l.TraceID) && good
			case "spanId", "span_id":
				good = d.spanID(&l.SpanID) && good
			case "traceState", "trace_state":
				l.TraceState = d.names.string(d.s.Text())
			case "flags":
				l.Flags = d.s.Uint32()
			case "attributes":
				l.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				l.DroppedAttributes = d.s.Uint32()
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

func (d *decoder) traceID(id *traces.TraceID) bool {
	at := d.s.Offset()
	if hexInto(id[:], d.s.Quoted(2*len(id))) {
		return true
	}
	d.s.Seek(at)
	text := d.s.Text()
	if parseTraceID(id, text) {
		return true
	}
	d.skipSpan("bad trace id " + clip(strconv.Quote(string(text))))
	return false
}

func (d *decoder) spanID(id *traces.SpanID) bool {
	at := d.s.Offset()
	if hexInto(id[:], d.s.Quoted(2*len(id))) {
		return true
	}
	d.s.Seek(at)
	text := d.s.Text()
	if parseSpanID(id, text) {
		return true
	}
	d.skipSpan("bad span id " + clip(strconv.Quote(string(text))))
	return false
}
