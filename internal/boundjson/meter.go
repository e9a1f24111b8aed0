package boundjson

import (
	"encoding/base64"
	"reflect"
)

const (
	// maxDepth is how deep values are followed: a stack that overflows ends the program.
	maxDepth = 100_000
	// trusted is a depth up to which nothing is taken for a value that holds itself.
	trusted = 1000
	// maxIndirect is how many pointers stand in a row at most.
	maxIndirect = 1000
	// unknown is what a value counts whose methods write it.
	unknown = 64
)

// meter finds out whether the JSON of a value can have as few bytes as are left. It
// counts no more than there are: a number is one digit and an escape one byte, so that
// what fits may have thirteen times the length. It calls no method of the value: one
// that methods write it can count too high.
type meter struct {
	types   *types
	left    int
	depth   int
	path    map[place]bool // as that of a writer, below trusted
	foreign bool           // there are methods of the program that encoding/json would call
	deep    bool           // maxDepth is reached
}

// measure reports whether v fits.
func (m *meter) measure(v any) bool { return m.value(reflect.ValueOf(v)) }

func (m *meter) take(n int) bool {
	m.left -= n
	return m.left >= 0
}

func (m *meter) value(v reflect.Value) bool {
	if m.depth++; m.depth > maxDepth {
		m.deep = true
		return false
	}
	defer func() { m.depth-- }()
	for range maxIndirect {
		if !v.IsValid() || isNil(v) {
			return m.take(len("null"))
		}
		i := m.types.of(v.Type())
		if i.form != byKind || i.callsMethods(v) {
			return m.special(i, v)
		}
		if m.depth > trusted && canHoldItself(v) {
			here := placeOf(v)
			if m.deep = m.path[here]; m.deep {
				return false
			}
			if m.path == nil {
				m.path = map[place]bool{}
			}
			m.path[here] = true
			defer delete(m.path, here)
		}
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			return m.kind(i, v)
		}
		v = v.Elem()
	}
	m.deep = true
	return false
}

func isNil(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others are never nil
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// special measures what is not written by its kind.
func (m *meter) special(i *info, v reflect.Value) bool {
	switch i.form {
	case asObject:
		o, _ := reflect.TypeAssert[Object](v)
		return m.object(o)
	case asRaw:
		return m.raw(v.Bytes())
	case asTime:
		return m.take(len(`"2006-01-02T15:04:05Z"`))
	case asNumber:
		return m.take(max(v.Len(), 1))
	case byKind:
	}
	m.foreign = true
	return m.take(unknown)
}

func (m *meter) kind(i *info, v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others have at least one byte, or no JSON
	case reflect.String:
		return m.take(len(`""`) + v.Len())
	case reflect.Slice:
		if i.bytes {
			return m.take(base64.StdEncoding.EncodedLen(v.Len()))
		}
		return m.list(v)
	case reflect.Array:
		return m.list(v)
	case reflect.Map:
		return m.table(v)
	case reflect.Struct:
		return m.members(i, v)
	}
	return m.take(1)
}

func (m *meter) list(v reflect.Value) bool {
	if !m.take(len("[]")) {
		return false
	}
	for i := range v.Len() {
		if !m.comma(i) || !m.value(v.Index(i)) {
			return false
		}
	}
	return true
}

func (m *meter) comma(i int) bool { return i == 0 || m.take(1) }

func (m *meter) table(v reflect.Value) bool {
	if !m.take(len("{}")) {
		return false
	}
	first := 0
	for it := v.MapRange(); it.Next(); first++ {
		if !m.comma(first) || !m.key(it.Key()) || !m.value(it.Value()) {
			return false
		}
	}
	return true
}

func (m *meter) key(k reflect.Value) bool {
	n := len(`"":`)
	switch {
	case k.Kind() == reflect.String:
		n += k.Len()
	case m.types.of(k.Type()).methods:
		m.foreign = true
	}
	return m.take(n)
}

func (m *meter) members(i *info, v reflect.Value) bool {
	if !m.take(len("{}")) {
		return false
	}
	first := 0
	for _, f := range i.fields {
		value, ok := f.of(v)
		if !ok || f.omitEmpty && isEmpty(value) {
			continue
		}
		if f.omitZero {
			m.foreign = m.foreign || asksZero(value)
			if value.IsZero() { // a method may say something else
				continue
			}
		}
		if !m.comma(first) || !m.take(len(`"":`)+len(f.name)) || !m.value(value) {
			return false
		}
		first++
	}
	return true
}

// isEmpty is what the tag's option omitempty leaves out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others have no length
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return false
	}
	return v.IsZero()
}

// asksZero reports whether encoding/json asks a method IsZero of v.
func asksZero(v reflect.Value) bool {
	t := v.Type()
	return t.Implements(reflect.TypeFor[zeroer]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[zeroer]())
}

type zeroer interface{ IsZero() bool }

// raw counts what compaction is sure to leave.
func (m *meter) raw(text []byte) bool {
	n := 0
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			if n++; n > m.left {
				break
			}
		}
	}
	return m.take(n)
}

func (m *meter) object(o Object) bool {
	if !m.take(len("{}")) {
		return false
	}
	for i, member := range o {
		if !m.comma(i) || !m.take(len(`"":`)+len(member.Name)) || !m.measure(member.Value) {
			return false
		}
	}
	return true
}
