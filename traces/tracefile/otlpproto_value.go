package tracefile

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/otlpproto"
	"github.com/waymark-trace/waymark/traces"
)

// protoSpanAttribute adds an attribute to a span when it is wanted.
func (d *decoder) protoSpanAttribute(sp *traces.Span, b []byte) error {
	if d.fields == nil {
		return d.protoAttribute(&sp.Attributes, b, 0)
	}
	m := otlpproto.NewMessage(b)
	for m.Next() {
		if m.Field == 1 && d.fields.keys[string(m.Bytes())] {
			return d.protoAttribute(&sp.Attributes, b, 0)
		}
	}
	return m.Err()
}

func (d *decoder) protoAttribute(list *[]traces.Attribute, b []byte, depth int) error {
	var a traces.Attribute
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			a.Key = d.protoName(m)
		case 2:
			a.Value, err = d.protoValue(m.Bytes(), depth)
		default:
			d.protoUnknown("attribute")
		}
	}
	if err = errors.Join(err, m.Err()); err == nil {
		*list = append(*list, a)
	}
	return err
}

// protoSharedAttribute adds an attribute to a resource or scope. One that cannot
// be read costs no span.
func (d *decoder) protoSharedAttribute(of string, list *[]traces.Attribute, b []byte) {
	if err := d.protoAttribute(list, b, 0); err != nil {
		d.skip(of + ".attributes: " + firstLineOf(err))
	}
}

// protoValue reads an AnyValue. One without a field is the empty value.
func (d *decoder) protoValue(b []byte, depth int) (v traces.Value, err error) {
	if depth > maxValueDepth {
		d.skip("attribute value nested too deep")
		return v, nil
	}
	m := otlpproto.NewMessage(b)
	for m.Next() && err == nil {
		switch m.Field {
		case 1:
			v = traces.String(protoText(m))
		case 2:
			v = traces.Bool(m.Uint64() != 0)
		case 3:
			v = traces.Int(m.Int64())
		case 4:
			v = traces.Double(m.Float64())
		case 5:
			v, err = d.protoArray(m.Bytes(), depth)
		case 6:
			v, err = d.protoMap(m.Bytes(), depth)
		case 7:
			v = traces.Bytes(m.Bytes())
		default:
			d.protoUnknown("attribute value")
		}
	}
	return v, errors.Join(err, m.Err())
}

func (d *decoder) protoArray(b []byte, depth int) (traces.Value, error) {
	list := []traces.Value{}
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		if m.Field != 1 {
			d.protoUnknown("array")
			continue
		}
		var v traces.Value
		v, err = d.protoValue(m.Bytes(), depth+1)
		list = append(list, v)
	}
	return traces.Array(list...), errors.Join(err, m.Err())
}

func (d *decoder) protoMap(b []byte, depth int) (traces.Value, error) {
	list := []traces.Attribute{}
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		if m.Field != 1 {
			d.protoUnknown("map")
			continue
		}
		err = d.protoAttribute(&list, m.Bytes(), depth+1)
	}
	return traces.Map(list...), errors.Join(err, m.Err())
}
