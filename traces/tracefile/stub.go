package tracefile

import (
	"encoding/binary"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// stub reads a span as OpenTelemetry Go's stdouttrace writes it, and BuildKit
// stores it.
func (d *decoder) stub() {
	sp := d.beginSpan()
	var library *traces.Scope
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "Name":
			sp.Name = d.names.string(d.s.Text())
		case "SpanContext":
			var c stubContext
			d.need(d.stubContext(&c))
			sp.TraceID, sp.SpanID, sp.TraceState = c.trace, c.span, c.state
			sp.Flags |= c.flags & 0xff
		case "Parent":
			var c stubContext
			d.need(d.stubContext(&c))
			sp.ParentID = c.span
			sp.Flags |= parentFlags(c)
		case "SpanKind":
			sp.Kind = d.kind() // Go's numbers are OTLP's
		case "StartTime":
			sp.StartUnixNano = d.timestamp()
		case "EndTime":
			sp.EndUnixNano = d.timestamp()
		case "Attributes":
			sp.Attributes = d.stubAttributes()
		case "Events":
			sp.Events = d.stubEvents()
		case "Links":
			sp.Links = d.stubLinks()
		case "Status":
			d.stubStatus(&sp.Status)
		case "DroppedAttributes", "DroppedAttributeCount":
			sp.DroppedAttributes = d.s.Uint32()
		case "DroppedEvents", "DroppedMessageEventCount":
			sp.DroppedEvents = d.s.Uint32()
		case "DroppedLinks", "DroppedLinkCount":
			sp.DroppedLinks = d.s.Uint32()
		case "Resource":
			sp.Resource = d.stubResource()
		case "InstrumentationScope":
			sp.Scope = d.stubScope()
		case "InstrumentationLibrary": // the same again; in old files only this
			library = d.stubScope()
		case "ChildSpanCount":
			d.s.Skip() // the children are in the file
		default:
			d.unknown("span", key)
		}
	}
	if sp.Scope == nil {
		sp.Scope = library
	}
	d.emit(sp)
}

// The flags of OTLP that say whether a parent is remote.
const (
	flagHasRemote = 0x100
	flagRemote    = 0x200
)

type stubContext struct {
	trace  traces.TraceID
	span   traces.SpanID
	flags  uint32
	state  string
	remote bool
}

// parentFlags are the bits of a span's flags that tell of its parent, as the
// OTLP exporters set them: also for a root, which has no remote parent.
func parentFlags(c stubContext) uint32 {
	if c.remote {
		return flagHasRemote | flagRemote
	}
	return flagHasRemote
}

func (d *decoder) stubContext(c *stubContext) bool {
	good := true
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "TraceID":
			good = d.traceID(&c.trace) && good
		case "SpanID":
			good = d.spanID(&c.span) && good
		case "TraceFlags":
			c.flags = d.stubFlags()
		case "TraceState":
			c.state = d.names.string(d.s.Text())
		case "Remote":
			c.remote = d.s.Bool()
		default:
			d.unknown("span context", key)
		}
	}
	return good
}

// stubFlags reads the hexadecimal string of trace flags; BuildKit's old files
// have a number.
func (d *decoder) stubFlags() uint32 {
	if d.s.Peek() != '"' {
		return d.s.Uint32()
	}
	var b [4]byte
	if text := d.s.Text(); !paddedHex(b[:], text) {
		d.skip("bad trace flags " + clip(string(text)))
	}
	return binary.BigEndian.Uint32(b[:])
}

// stubStatus reads a status. Its code is a name, or in older files and
// BuildKit's a number, and then Go's: 1 is Error and 2 is Ok, the opposite of
// OTLP's.
func (d *decoder) stubStatus(st *traces.Status) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "Code":
			switch text := string(d.s.Number()); text {
			case "1":
				st.Code = traces.StatusError
			case "2":
				st.Code = traces.StatusOK
			case "0":
				st.Code = traces.StatusUnset
			default:
				var known bool
				if st.Code, known = statusOf(text); !known {
					d.skip("unknown status code " + clip(text))
				}
			}
		case "Description", "Message":
			st.Message = d.copy(d.s.Text())
		default:
			d.unknown("status", key)
		}
	}
}

func (d *decoder) stubEvents() (list []traces.Event) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var e traces.Event
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "Name":
				e.Name = d.names.string(d.s.Text())
			case "Attributes":
				e.Attributes = d.stubAttributes()
			case "DroppedAttributeCount":
				e.DroppedAttributes = d.s.Uint32()
			case "Time":
				e.TimeUnixNano = d.timestamp()
			default:
				d.unknown("event", key)
			}
		}
		list = append(list, e)
	}
	return list
}

func (d *decoder) stubLinks() (list []traces.Link) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var l traces.Link
		good := true
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "SpanContext":
				var c stubContext
				good = d.stubContext(&c)
				l.TraceID, l.SpanID, l.TraceState = c.trace, c.span, c.state
				l.Flags = c.flags&0xff | parentFlags(c)
			case "Attributes":
				l.Attributes = d.stubAttributes()
			case "DroppedAttributeCount":
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

func (d *decoder) stubResource() *traces.Resource {
	raw := d.s.Raw()
	key := append([]byte("stub\x00"), raw...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{}
		// an array is not an object: it is read as the only member of one
		wrapped := append(append([]byte(`{"":`), raw...), '}')
		d.object("resource", wrapped, func([]byte) { r.Attributes = d.stubAttributes() })
		return r
	})
}

func (d *decoder) stubScope() *traces.Scope {
	raw := d.s.Raw()
	key := append([]byte("stub\x00"), raw...)
	return lookup(&d.shared.mu, d.shared.scopes, key, func() *traces.Scope {
		sc := &traces.Scope{}
		d.object("scope", raw, func(key []byte) {
			switch string(key) {
			case "Name":
				sc.Name = string(d.s.Text())
			case "Version":
				sc.Version = string(d.s.Text())
			case "SchemaURL":
				sc.SchemaURL = string(d.s.Text())
			case "Attributes":
				sc.Attributes = d.stubAttributes()
			default:
				d.unknown("scope", key)
			}
		})
		return sc
	})
}

func (d *decoder) stubAttributes() (list []traces.Attribute) {
	if d.s.Peek() == '{' { // attribute.Set, which has no content in JSON
		d.s.Skip()
		return nil
	}
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		faults := d.faults.count
		if a := d.stubAttribute(); faults == d.faults.count {
			list = append(list, a)
		}
	}
	return list
}

func (d *decoder) stubAttribute() (a traces.Attribute) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "Key":
			a.Key = d.names.string(d.s.Text())
		case "Value":
			a.Value = d.stubValue(0)
		default:
			d.unknown("attribute", key)
		}
	}
	return a
}

// stubValue reads {"Type":"INT64","Value":1}. The type may come second.
func (d *decoder) stubValue(depth int) (v traces.Value) {
	if depth > maxValueDepth {
		d.skip("attribute value nested too deep")
		d.s.Skip()
		return v
	}
	kind, at := "", -1
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "Type":
			kind = string(d.s.Number()) // a string, or nothing we know
		case "Value":
			d.s.Peek()
			at = d.s.Offset()
			d.s.Skip()
		default:
			d.unknown("attribute value", key)
		}
	}
	if at < 0 || d.s.Err() != nil {
		return v
	}
	end := d.s.Offset()
	d.s.Seek(at)
	v = d.typedValue(strings.ToUpper(kind), depth)
	d.s.Seek(end)
	return v
}

func (d *decoder) typedValue(kind string, depth int) traces.Value {
	switch kind {
	case "FLOAT64":
		return traces.Double(d.s.Float64())
	case "FLOAT64SLICE":
		list := []traces.Value{}
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			list = append(list, traces.Double(d.s.Float64()))
		}
		return traces.Array(list...)
	case "BYTESLICE", "BYTES":
		return d.bytesValue()
	case "SLICE":
		list := []traces.Value{}
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			list = append(list, d.stubValue(depth+1))
		}
		return traces.Array(list...)
	case "MAP":
		return traces.Map(d.stubAttributes()...)
	default:
		return d.plainValue(depth)
	}
}
