package tracefile

import (
	"cmp"
	"errors"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpproto"
	"github.com/waymark-trace/waymark/traces"
)

// The numbers of the fields are those of
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/opentelemetry/proto/trace/v1/trace.proto

// errNotSpans is the fault of a message whose fields do not fit a span's.
var errNotSpans = errors.New("protobuf that does not fit OTLP spans (metrics or logs?)")

// protoLost are the spans of a ResourceSpans that cannot be read. When none of the
// others can, the message is not of spans.
type protoLost struct {
	skips skips
	err   error // of the first
}

// protoResourceSpans reads the encoding of a ResourceSpans.
func (d *decoder) protoResourceSpans(b []byte) error {
	first := len(d.out)
	var lost protoLost
	var resource, schema []byte
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			resource = m.Bytes()
		case 2, 1000: // 1000 is instrumentation_library_spans
			err = d.protoScopeSpans(m.Bytes(), &lost)
		case 3:
			schema = m.Bytes()
		default:
			d.protoUnknown("resourceSpans")
		}
	}
	if err = errors.Join(err, m.Err()); err == nil && len(d.out) == first {
		err = lost.err
	}
	if err != nil {
		d.out = d.out[:first]
		return err
	}
	d.skips.merge(&lost.skips, 0, 0)
	r := d.protoResource(resource, schema)
	for _, sp := range d.out[first:] {
		sp.Resource = r
	}
	return nil
}

func (d *decoder) protoResource(b, schema []byte) *traces.Resource {
	key := append(append(append([]byte("proto"), schema...), 0), b...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{SchemaURL: utf8Text(string(schema))}
		m := otlpproto.NewMessage(b)
		for m.Next() {
			switch m.Field {
			case 1:
				d.protoSharedAttribute("resource", &r.Attributes, m.Bytes())
			case 2:
				r.DroppedAttributes = m.Uint32()
			default:
				d.protoUnknown("resource")
			}
		}
		d.restOf("resource", m)
		return r
	})
}

// restOf notes what could not be read of an object that many spans share.
func (d *decoder) restOf(what string, m *otlpproto.Message) {
	if err := m.Err(); err != nil {
		d.skip("rest of a " + what + ": " + err.Error())
	}
}

func (d *decoder) protoScopeSpans(b []byte, lost *protoLost) error {
	first := len(d.out)
	var scope, schema []byte
	m := otlpproto.NewMessage(b)
	for m.Next() {
		switch m.Field {
		case 1:
			scope = m.Bytes()
		case 2:
			d.faults.number++
			if err := d.protoSpan(m.Bytes()); err != nil {
				lost.err = cmp.Or(lost.err, err)
				lost.skips.add(place{offset: d.at, span: d.faults.number}, "passed over: "+firstLineOf(err), 1)
			}
		case 3:
			schema = m.Bytes()
		default:
			d.protoUnknown("scopeSpans")
		}
	}
	sc := d.protoScope(scope, schema)
	for _, sp := range d.out[first:] {
		sp.Scope = sc
	}
	return m.Err()
}

func (d *decoder) protoScope(b, schema []byte) *traces.Scope {
	key := append(append(append([]byte("proto"), schema...), 0), b...)
	return lookup(&d.shared.mu, d.shared.scopes, key, func() *traces.Scope {
		sc := &traces.Scope{SchemaURL: utf8Text(string(schema))}
		m := otlpproto.NewMessage(b)
		for m.Next() {
			switch m.Field {
			case 1:
				sc.Name = protoText(m)
			case 2:
				sc.Version = protoText(m)
			case 3:
				d.protoSharedAttribute("scope", &sc.Attributes, m.Bytes())
			case 4:
				sc.DroppedAttributes = m.Uint32()
			default:
				d.protoUnknown("scope")
			}
		}
		d.restOf("scope", m)
		return sc
	})
}

func protoText(m *otlpproto.Message) string { return utf8Text(string(m.Bytes())) }

func (d *decoder) protoUnknown(where string) { d.skip("unknown field in " + where) }

func (d *decoder) protoSpan(b []byte) error {
	sp := d.arena.span()
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			err = protoID(sp.TraceID[:], m)
		case 2:
			err = protoID(sp.SpanID[:], m)
		case 3:
			sp.TraceState = protoText(m)
		case 4:
			err = protoID(sp.ParentID[:], m)
		case 5:
			sp.Name = d.protoName(m)
		case 6:
			sp.Kind = traces.Kind(m.Int32())
		case 7:
			sp.StartUnixNano = m.Uint64()
		case 8:
			sp.EndUnixNano = m.Uint64()
		case 9:
			err = d.protoSpanAttribute(sp, m.Bytes())
		case 10:
			sp.DroppedAttributes = m.Uint32()
		case 11:
			err = d.protoEvent(sp, m.Bytes())
		case 12:
			sp.DroppedEvents = m.Uint32()
		case 13:
			err = d.protoLink(sp, m.Bytes())
		case 14:
			sp.DroppedLinks = m.Uint32()
		case 15:
			err = d.protoStatus(&sp.Status, m.Bytes())
		case 16:
			sp.Flags = m.Uint32()
		default:
			d.protoUnknown("span")
		}
	}
	if err = errors.Join(err, m.Err()); err != nil {
		return err
	}
	d.out = append(d.out, sp)
	return nil
}

func (d *decoder) protoName(m *otlpproto.Message) string {
	return utf8Text(d.names.string(m.Bytes()))
}

func protoID(id []byte, m *otlpproto.Message) error {
	b := m.Bytes()
	if len(b) != len(id) && len(b) != 0 {
		return errNotSpans
	}
	copy(id, b)
	return nil
}

func (d *decoder) protoStatus(st *traces.Status, b []byte) error {
	m := otlpproto.NewMessage(b)
	for m.Next() {
		switch m.Field {
		case 2:
			st.Message = protoText(m)
		case 3:
			st.Code = traces.StatusCode(m.Int32())
		case 1: // deprecated_code, with the same meaning
		default:
			d.protoUnknown("status")
		}
	}
	return m.Err()
}

func (d *decoder) protoEvent(sp *traces.Span, b []byte) error {
	if d.fields != nil {
		return nil
	}
	var e traces.Event
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			e.TimeUnixNano = m.Uint64()
		case 2:
			e.Name = d.protoName(m)
		case 3:
			err = d.protoAttribute(&e.Attributes, m.Bytes(), 0)
		case 4:
			e.DroppedAttributes = m.Uint32()
		default:
			d.protoUnknown("event")
		}
	}
	sp.Events = append(sp.Events, e)
	return errors.Join(err, m.Err())
}

func (d *decoder) protoLink(sp *traces.Span, b []byte) error {
	if d.fields != nil {
		return nil
	}
	var l traces.Link
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			err = protoID(l.TraceID[:], m)
		case 2:
			err = protoID(l.SpanID[:], m)
		case 3:
			l.TraceState = protoText(m)
		case 4:
			err = d.protoAttribute(&l.Attributes, m.Bytes(), 0)
		case 5:
			l.DroppedAttributes = m.Uint32()
		case 6:
			l.Flags = m.Uint32()
		default:
			d.protoUnknown("link")
		}
	}
	sp.Links = append(sp.Links, l)
	return errors.Join(err, m.Err())
}

// firstLineOf is the first of the errors that were joined.
func firstLineOf(err error) string {
	what, _, _ := strings.Cut(err.Error(), "\n")
	return what
}
