package tracefile

import (
	"strconv"

	"github.com/waymark-trace/waymark/traces"
)

// jaegerData reads the form of Jaeger's API and of its download: traces in
// "data", a list or a single one. Phoenix has a list of spans there.
func (d *decoder) jaegerData() {
	total, problem, known := false, "", d.known
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "data":
			switch d.s.Peek() {
			case '{':
				d.jaegerTrace()
			case '[':
				for ok := d.s.Begin('['); ok && d.s.More(']'); {
					d.jaegerMember()
				}
			default:
				d.s.Skip()
			}
		case "total":
			total = true
			d.s.Skip()
		case "errors":
			problem = d.message()
		case "limit", "offset":
			d.s.Skip()
		default:
			d.unknown("the document", key)
		}
	}
	switch {
	case problem == "" && total:
		d.found(Jaeger) // also when there is no trace
	case problem != "" && d.known > known:
		d.skip("the answer tells of an error: " + strconv.Quote(clip(problem)))
	}
}

// jaegerMember reads a member of "data".
func (d *decoder) jaegerMember() {
	start := d.s.Offset()
	if d.s.Peek() == '{' && !d.s.Lit(`{"traceID"`) {
		if d.keys().isPhoenix() {
			d.s.Seek(start)
			d.found(Phoenix)
			d.python()
			return
		}
	}
	d.s.Seek(start)
	d.jaegerTrace()
}

// jaegerTrace reads a trace. Its processes come after the spans that name
// them, so that the spans are passed over first.
func (d *decoder) jaegerTrace() {
	if d.s.Peek() != '{' {
		d.s.Skip()
		return
	}
	spans := -1
	processes := map[string]*traces.Resource{}
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "traceID":
			d.s.Skip()
		case "warnings": // of the whole trace: no span has a place for them
			for _, w := range d.jaegerWarnings() {
				d.skip("Jaeger warns of the trace: " + strconv.Quote(clip(w.AsString())))
			}
		case "spans":
			d.found(Jaeger)
			d.s.Peek()
			spans = d.s.Offset()
			d.s.Skip()
		case "processes":
			for ok := d.s.Begin('{'); ok && d.s.More('}'); {
				id := string(d.s.Key())
				processes[id] = d.jaegerProcess()
			}
		default:
			d.unknown("the trace", key)
		}
	}
	if spans < 0 || d.s.Err() != nil {
		return
	}
	end := d.s.Offset()
	d.s.Seek(spans)
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		d.jaegerSpan(processes)
	}
	d.s.Seek(end)
}

func (d *decoder) jaegerProcess() *traces.Resource {
	raw := d.s.Raw()
	key := append([]byte("jaeger\x00"), raw...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{}
		name := ""
		d.object("process", raw, func(key []byte) {
			switch string(key) {
			case "serviceName":
				name = string(d.s.Text())
			case "tags":
				r.Attributes = append(r.Attributes, d.jaegerTags()...)
			default:
				d.unknown("process", key)
			}
		})
		if name != "" && name != noServiceName {
			service := traces.Attribute{Key: keyServiceName, Value: traces.String(name)}
			r.Attributes = append([]traces.Attribute{service}, r.Attributes...)
		}
		return r
	})
}

func (d *decoder) jaegerSpan(processes map[string]*traces.Resource) {
	if d.s.Null() {
		return
	}
	sp := d.beginSpan()
	var duration uint64
	var refs []jaegerRef
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "traceID":
			d.need(d.paddedID(sp.TraceID[:], "trace id"))
		case "spanID":
			d.need(d.paddedID(sp.SpanID[:], "span id"))
		case "parentSpanID":
			d.need(d.paddedID(sp.ParentID[:], "span id"))
		case "flags":
			sp.Flags = d.s.Uint32()
		case "operationName":
			sp.Name = d.names.string(d.s.Text())
		case "references":
			refs = d.jaegerRefs()
		case "startTime":
			sp.StartUnixNano = micros(d.s.Uint64())
		case "duration":
			duration = micros(d.s.Uint64())
		case "tags":
			sp.Attributes = append(sp.Attributes, d.jaegerTags()...)
		case "logs":
			sp.Events = d.jaegerLogs()
		case "processID":
			sp.Resource = processes[string(d.s.Text())]
		case "process":
			sp.Resource = d.jaegerProcess()
		case "warnings":
			if list := d.jaegerWarnings(); len(list) > 0 {
				sp.Attributes = append(sp.Attributes, traces.Attribute{Key: keyJaegerWarnings, Value: traces.Array(list...)})
			}
		case "startTimeMillis":
			d.s.Skip() // startTime again
		default:
			d.unknown("span", key)
		}
	}
	sp.EndUnixNano = after(sp.StartUnixNano, duration)
	d.jaegerParent(sp, refs)
	d.untag(sp)
	d.emit(sp)
}

// keyJaegerWarnings is the attribute in which Jaeger itself keeps what it has to
// say of a span.
// Spec: https://github.com/jaegertracing/jaeger/blob/v2.0.0/internal/jptrace/attributes.go
const keyJaegerWarnings = "@jaeger@warnings"

func (d *decoder) jaegerWarnings() (list []traces.Value) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		list = append(list, traces.String(d.copy(d.s.Text())))
	}
	return list
}

type jaegerRef struct {
	child bool
	link  traces.Link
}

// jaegerParent makes the first CHILD_OF of the same trace the parent, and the
// other references links.
func (d *decoder) jaegerParent(sp *traces.Span, refs []jaegerRef) {
	for _, r := range refs {
		if r.child && sp.ParentID == (traces.SpanID{}) && r.link.TraceID == sp.TraceID {
			sp.ParentID = r.link.SpanID
			continue
		}
		sp.Links = append(sp.Links, r.link)
	}
}

func (d *decoder) jaegerRefs() (refs []jaegerRef) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var r jaegerRef
		good := true
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "refType":
				r.child = string(d.s.Text()) == "CHILD_OF"
			case "traceID":
				good = d.paddedID(r.link.TraceID[:], "trace id") && good
			case "spanID":
				good = d.paddedID(r.link.SpanID[:], "span id") && good
			case "span":
				d.s.Skip() // the UI's own model puts the span itself here
			default:
				d.unknown("reference", key)
			}
		}
		if good {
			refs = append(refs, r)
		}
	}
	return refs
}

// paddedID reads an id in hex whose leading zeros may be missing.
func (d *decoder) paddedID(id []byte, what string) bool {
	text := d.s.Text()
	if paddedHex(id, text) {
		return true
	}
	d.skipSpan("bad " + what + " " + clip(string(text)))
	return false
}

func (d *decoder) jaegerTags() (list []traces.Attribute) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		faults := d.faults.count
		if a := d.jaegerTag(); faults == d.faults.count {
			list = append(list, a)
		}
	}
	return list
}

func (d *decoder) jaegerTag() (a traces.Attribute) {
	kind, at := "", -1
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "key":
			a.Key = d.names.string(d.s.Text())
		case "type":
			kind = string(d.s.Text())
		case "value":
			d.s.Peek()
			at = d.s.Offset()
			d.s.Skip()
		default:
			d.unknown("tag", key)
		}
	}
	if at < 0 || d.s.Err() != nil {
		return a
	}
	end := d.s.Offset()
	d.s.Seek(at)
	a.Value = d.jaegerValue(kind)
	d.s.Seek(end)
	return a
}

func (d *decoder) jaegerValue(kind string) traces.Value {
	switch kind {
	case "bool":
		return traces.Bool(d.s.Bool())
	case "int64":
		return traces.Int(d.s.Int64())
	case "float64":
		return traces.Double(d.s.Float64())
	case "binary":
		return d.bytesValue()
	default:
		return d.plainValue(0)
	}
}

// jaegerLogs reads events, whose name is the field "event".
func (d *decoder) jaegerLogs() (list []traces.Event) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var e traces.Event
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "timestamp":
				e.TimeUnixNano = micros(d.s.Uint64())
			case "fields":
				e.Attributes = d.jaegerTags()
			default:
				d.unknown("log", key)
			}
		}
		for i, a := range e.Attributes {
			if a.Key == "event" && a.Value.Kind() == traces.ValueString {
				e.Name = a.Value.AsString()
				e.Attributes = append(e.Attributes[:i:i], e.Attributes[i+1:]...)
				break
			}
		}
		if len(e.Attributes) == 0 {
			e.Attributes = nil
		}
		list = append(list, e)
	}
	return list
}
