package hiding

import (
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// editor hides parts of values.
type editor struct {
	hidden parts
	depth  int // of JSON inside of strings of JSON
}

// maxNested is how deep JSON inside of strings is looked into.
const maxNested = 8

// value hides parts of an attribute's value of any type.
func (e editor) value(v attribute.Value) attribute.Value {
	switch v.Type() {
	case attribute.STRING:
		return attribute.StringValue(e.text(v.AsString()))
	case attribute.STRINGSLICE:
		list := v.AsStringSlice()
		for i, s := range list {
			list[i] = e.text(s)
		}
		return attribute.StringSliceValue(list)
	case attribute.BYTESLICE:
		if e.hidden.texts || e.isHiddenImage(string(v.AsByteSlice())) {
			return attribute.StringValue(Placeholder)
		}
	case attribute.INT64SLICE, attribute.FLOAT64SLICE:
		if e.hidden.vectors && isLongVector(v) {
			return attribute.StringValue(Placeholder)
		}
	case attribute.SLICE:
		list := v.AsSlice()
		for i := range list {
			list[i] = e.value(list[i])
		}
		return attribute.SliceValue(list...)
	case attribute.MAP:
		return e.table(v.AsMap())
	case attribute.EMPTY, attribute.BOOL, attribute.INT64, attribute.FLOAT64, attribute.BOOLSLICE:
	}
	return v
}

// isLongVector reports whether a list of numbers is long enough to be an embedding's.
func isLongVector(v attribute.Value) bool {
	if v.Type() == attribute.INT64SLICE {
		return len(v.AsInt64Slice()) >= leastVector
	}
	return len(v.AsFloat64Slice()) >= leastVector
}

// table hides parts of a map, whose keys are names as those of a JSON object.
func (e editor) table(kvs []attribute.KeyValue) attribute.Value {
	names := make([]string, len(kvs))
	for i, kv := range kvs {
		names[i] = keyOf(string(kv.Key))
	}
	image := slices.ContainsFunc(kvs, func(kv attribute.KeyValue) bool {
		return kv.Value.Type() == attribute.STRING && saysImage(keyOf(string(kv.Key)), kv.Value.AsString())
	})
	of := e.callOf(names)
	for i := range kvs {
		content := (image || isImageName(names[i])) && !isLabel(names[i]) && kvs[i].Value.Type() == attribute.STRING
		switch {
		case e.hidesMember(names[i], of), content && e.hidesContent(kvs[i].Value.AsString()):
			kvs[i].Value = attribute.StringValue(Placeholder)
		default:
			kvs[i].Value = e.value(kvs[i].Value)
		}
	}
	return attribute.MapValue(kvs...)
}

// text hides parts of a text, which may be JSON.
func (e editor) text(s string) string {
	trimmed := strings.TrimLeft(s, " \t\r\n")
	if trimmed == "" {
		return s
	}
	if strings.IndexByte(`{["&`, trimmed[0]) < 0 { // fmt's text of a pointer begins with &
		return e.plain(s)
	}
	root, what := parse(trimmed)
	switch {
	case what == tooMuch, what == noJSON && (e.hidden.tools || e.hidden.parameters || e.hidden.vectors):
		return Placeholder // it cannot be told where they are
	case what == noJSON:
		return e.plain(s)
	}
	d := document{editor: e, s: trimmed}
	d.node(root, "", false)
	if d.out.Len() == 0 {
		return s
	}
	return d.out.String() + d.s[d.done:]
}

// plain hides parts of a text that is no JSON.
func (e editor) plain(s string) string {
	if e.hidden.texts {
		return Placeholder
	}
	return e.withoutImages(s)
}

// document writes a JSON text without what is hidden. What stays is written as it is.
type document struct {
	editor
	s    string
	done int // bytes of s that are written or left out
	out  strings.Builder
}

// replace writes something in place of a node.
func (d *document) replace(n node, with string) {
	d.out.WriteString(d.s[d.done:n.start])
	d.out.WriteString(with)
	d.done = n.end
}

// hide leaves the mark of a text that was cut inside of the node.
func (d *document) hide(n node) {
	d.replace(n, `"`+Placeholder+`"`)
	if mark := strings.LastIndex(d.s[n.start:n.end], cutMark); mark >= 0 && n.end == len(d.s) {
		d.done = n.start + mark
	}
}

// node hides parts of a value. name is that of the member that it is or is in, and
// image says that it is the content of an image.
func (d *document) node(n node, name string, image bool) {
	switch n.kind {
	case scalar:
	case text:
		d.text(n, name, image)
	case array:
		if d.hidden.vectors && d.isVector(n, name) || d.isHiddenBytes(n) {
			d.hide(n)
			return
		}
		for _, element := range n.nodes {
			d.node(element, name, image)
		}
	case object:
		d.object(n, image)
	}
}

func (d *document) object(n node, image bool) {
	anyImage := d.hidden.images || d.hidden.longImages
	image = image || anyImage && d.isImage(n)
	of := d.callOf(n.names)
	for i, value := range n.nodes {
		name := n.names[i]
		switch {
		case d.hidesMember(name, of):
			d.hide(value)
		case image && isLabel(name):
			d.node(value, name, false)
		default:
			d.node(value, name, image || anyImage && isImageName(name))
		}
	}
}

func (d *document) text(n node, name string, image bool) {
	switch said := unquoted(d.s[n.start:n.end]); {
	case said == "":
	case d.hidden.texts, image && d.hidesContent(said), d.hidden.vectors && isVectorName(name):
		d.hide(n)
	default:
		inner := d.editor
		if inner.depth++; inner.depth > maxNested {
			d.hide(n)
			return
		}
		if kept := inner.text(said); kept == Placeholder {
			d.hide(n)
		} else if kept != said {
			d.replace(n, quoted(kept))
		}
	}
}

// isImage reports whether an object says that it is an image.
func (d *document) isImage(n node) bool {
	for i, value := range n.nodes {
		if value.kind == text && saysImage(n.names[i], unquoted(d.s[value.start:value.end])) {
			return true
		}
	}
	return false
}
