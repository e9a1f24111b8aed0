package tracefile

import "github.com/waymark-trace/waymark/traces"

// maxValueDepth is how deep arrays and maps in attribute values may nest, in
// every format.
const maxValueDepth = 64

// attributes reads a list of attributes, all of them or the wanted ones.
func (d *decoder) attributes(only *fields) []traces.Attribute {
	if only != nil && len(only.keys) == 0 {
		d.skipAttributes()
		return nil
	}
	start, place := len(d.attrs), -1
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		place++
		start = d.room(start)
		at := len(d.attrs)
		d.attrs = d.attrs[:at+1]
		a := &d.attrs[at]
		if g := d.guessed(a, place, only); g != nil {
			if only != nil && !g.wanted {
				*a = traces.Attribute{}
				d.attrs = d.attrs[:at]
			}
			continue
		}
		if d.s.Null() {
			d.attrs = d.attrs[:at]
			continue
		}
		faults := d.faults.count
		if !d.quickAttribute(a, place) {
			*a = traces.Attribute{}
			d.keyValue(a, 0)
		}
		if faults != d.faults.count || only != nil && !only.keys[a.Key] {
			*a = traces.Attribute{}
			d.attrs = d.attrs[:at]
		}
	}
	if len(d.attrs) == start {
		return nil
	}
	return d.attrs[start:len(d.attrs):len(d.attrs)]
}

// skipAttributes passes over a list, quicker than Skip where it looks as
// encoders write it.
func (d *decoder) skipAttributes() {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		at := d.s.Offset()
		if d.s.Lit(`{"key":"`) {
			d.s.Rest()
			switch {
			case d.s.Lit(`,"value":{"stringValue":"`), d.s.Lit(`,"value":{"intValue":"`):
				d.s.Rest()
				if d.s.Lit(`}}`) {
					continue
				}
			}
			d.s.Seek(at)
		}
		d.s.Skip()
	}
}

// quickAttribute reads an attribute in the form in which encoders write nearly
// all of them. When it is another, the scanner is back where it was.
func (d *decoder) quickAttribute(a *traces.Attribute, place int) bool {
	at := d.s.Offset()
	if !d.s.Lit(`{"key":"`) {
		return false
	}
	a.Key = d.names.string(d.s.Rest())
	switch {
	case d.s.Lit(`,"value":{"stringValue":"`):
		d.learn(place, d.s.Since(at), a.Key, traces.ValueString)
		a.Value = traces.String(d.copy(d.s.Rest()))
	case d.s.Lit(`,"value":{"intValue":`):
		if d.s.Peek() == '"' {
			value := d.s.Offset()
			d.s.Lit(`"`)
			d.learn(place, d.s.Since(at), a.Key, traces.ValueInt)
			d.s.Seek(value)
		}
		a.Value = traces.Int(d.s.Int64())
	case d.s.Lit(`,"value":{"boolValue":`) && !d.s.Null():
		d.learn(place, d.s.Since(at), a.Key, traces.ValueBool)
		a.Value = traces.Bool(d.s.Bool())
	default:
		d.s.Seek(at)
		return false
	}
	if d.s.Lit(`}}`) {
		return true
	}
	d.s.Seek(at)
	return false
}

// keyValue reads one attribute in any form.
func (d *decoder) keyValue(a *traces.Attribute, depth int) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "key":
			a.Key = d.names.string(d.s.Text())
		case "value":
			a.Value = d.value(depth)
		default:
			d.unknown("attribute", key)
		}
	}
}

// value reads an AnyValue. A null, or one without a field, is the empty value.
func (d *decoder) value(depth int) (v traces.Value) {
	if depth > maxValueDepth {
		d.skip("attribute value nested too deep")
		d.s.Skip()
		return v
	}
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		switch string(key) {
		case "stringValue", "string_value":
			v = traces.String(d.copy(d.s.Text()))
		case "boolValue", "bool_value":
			v = traces.Bool(d.s.Bool())
		case "intValue", "int_value":
			v = traces.Int(d.s.Int64())
		case "doubleValue", "double_value":
			v = traces.Double(d.s.Float64())
		case "bytesValue", "bytes_value":
			v = d.bytesValue()
		case "arrayValue", "array_value":
			v = d.arrayValue(depth)
		case "kvlistValue", "kvlist_value":
			v = d.mapValue(depth)
		default:
			d.unknown("attribute value", key)
		}
	}
	return v
}

func (d *decoder) bytesValue() traces.Value {
	at := d.s.Offset()
	b, ok := decodeBase64(d.s.Text())
	if !ok {
		d.mismatch(at, "want base64")
	}
	return traces.Bytes(b)
}

func (d *decoder) arrayValue(depth int) traces.Value {
	list := []traces.Value{}
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		if key := d.s.Key(); string(key) != "values" {
			d.unknown("array", key)
			continue
		}
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			list = append(list, d.value(depth+1))
		}
	}
	return traces.Array(list...)
}

func (d *decoder) mapValue(depth int) traces.Value {
	list := []traces.Attribute{}
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		if key := d.s.Key(); string(key) != "values" {
			d.unknown("map", key)
			continue
		}
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			if d.s.Null() {
				continue
			}
			var a traces.Attribute
			d.keyValue(&a, depth+1)
			list = append(list, a)
		}
	}
	return traces.Map(list...)
}
