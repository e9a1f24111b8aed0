package boundjson

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxInside is how deep the writer goes.
	maxInside = 10_000
	// maxSorted is how many entries of a map are looked at, also when there is room for
	// fewer.
	maxSorted = 4096
)

// writer writes the JSON of a value until it is full, or to the end.
type writer struct {
	types *types
	room  int // bytes; what is written last may be longer
	cut   bool
	out   bytes.Buffer
	json  *json.Encoder  // into out
	path  map[place]bool // the pointers, maps and slices that the writer is inside of
}

func newWriter(ts *types, room int) *writer {
	w := &writer{types: ts, room: room, path: map[place]bool{}}
	w.json = json.NewEncoder(&w.out)
	w.json.SetEscapeHTML(false)
	return w
}

func (w *writer) left() int  { return w.room - w.out.Len() }
func (w *writer) full() bool { return w.cut || w.left() <= 0 }

func (w *writer) value(v reflect.Value) error {
	if !v.IsValid() || isNil(v) {
		w.out.WriteString("null")
		return nil
	}
	i := w.types.of(v.Type())
	switch {
	case i.form == asObject:
		o, _ := reflect.TypeAssert[Object](v)
		return w.object(o)
	case i.form == asRaw:
		return w.raw(v)
	case i.form == asNumber && v.Len() > w.left():
		w.cut = true
		w.out.WriteString(v.String()[:w.left()])
		return nil
	case i.form != byKind || i.callsMethods(v):
		return w.whole(v)
	}
	switch v.Kind() { //nolint:exhaustive // the others are scalars
	case reflect.Interface:
		return w.value(v.Elem())
	case reflect.Pointer:
		return w.inside(v, func() error { return w.value(v.Elem()) })
	case reflect.Map:
		return w.inside(v, func() error { return w.table(v) })
	case reflect.Slice:
		if i.bytes {
			w.bytes(v.Bytes())
			return nil
		}
		return w.inside(v, func() error { return w.list(v) })
	case reflect.Array:
		return w.list(v)
	case reflect.Struct:
		return w.members(i, v)
	case reflect.String:
		w.text(v.String())
		return nil
	}
	return w.scalar(v)
}

func (w *writer) scalar(v reflect.Value) error {
	to := w.out.AvailableBuffer()
	switch {
	case v.Kind() == reflect.Bool:
		to = strconv.AppendBool(to, v.Bool())
	case v.CanInt():
		to = strconv.AppendInt(to, v.Int(), 10)
	case v.CanUint():
		to = strconv.AppendUint(to, v.Uint(), 10)
	case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		to = appendFloat(to, v.Float(), v.Type().Bits())
	default:
		return errType
	}
	w.out.Write(to)
	return nil
}

// appendFloat writes a number as ECMAScript does, which encoding/json follows.
func appendFloat(to []byte, f float64, bits int) []byte {
	least, most := 1e-6, 1e21 // without an exponent
	if bits == 32 {
		least = float64(float32(1e-6))
	}
	if abs := math.Abs(f); abs == 0 || least <= abs && abs < most {
		return strconv.AppendFloat(to, f, 'f', -1, bits)
	}
	to = strconv.AppendFloat(to, f, 'e', -1, bits)
	if n := len(to); bytes.HasSuffix(to[:n-1], []byte("e-0")) { // one digit of the exponent is enough
		to[n-2] = to[n-1]
		to = to[:n-1]
	}
	return to
}

// whole gives v to encoding/json, by its address where it has one: a method may want
// it.
func (w *writer) whole(v reflect.Value) error {
	if v.CanAddr() {
		v = v.Addr()
	}
	if err := w.json.Encode(v.Interface()); err != nil {
		return err
	}
	w.out.Truncate(w.out.Len() - len("\n"))
	return nil
}

// inside goes into what can hold itself.
func (w *writer) inside(v reflect.Value, f func() error) error {
	here := placeOf(v)
	if w.path[here] || len(w.path) >= maxInside {
		return errDeep
	}
	w.path[here] = true
	defer delete(w.path, here)
	return f()
}

// raw begins a text that is JSON already.
func (w *writer) raw(v reflect.Value) error {
	if m := (meter{left: w.left()}); m.raw(v.Bytes()) {
		return w.whole(v)
	}
	w.cut = true
	w.out.Write(v.Bytes()[:w.left()])
	return nil
}

// text writes a string; of one that does not fit, the beginning without the quote at
// the end.
func (w *writer) text(s string) {
	n := w.left()
	if n >= len(s) {
		w.out.Write(quote(s))
		return
	}
	for back := 1; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	w.cut = true
	w.out.Write(bytes.TrimSuffix(quote(s[:n]), []byte(`"`)))
}

func (w *writer) bytes(b []byte) {
	const three, four = 3, 4 // bytes are so many digits
	w.out.WriteByte('"')
	if n := (w.left()/four + 1) * three; n < len(b) {
		w.cut = true
		w.out.WriteString(base64.StdEncoding.EncodeToString(b[:n]))
		return
	}
	w.out.WriteString(base64.StdEncoding.EncodeToString(b))
	w.out.WriteByte('"')
}

func (w *writer) list(v reflect.Value) error {
	w.out.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if w.full() {
			return nil
		}
		if err := w.value(v.Index(i)); err != nil || w.full() {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

// table writes the entries in the order of their keys; of a map that has more than
// maxSorted, and more than there is room for, any of them.
func (w *writer) table(v reflect.Value) error {
	const least = len(`"":0,`)
	most := max(maxSorted, w.left()/least+1)
	var entries []entry
	for it := v.MapRange(); it.Next() && len(entries) < most; {
		name, err := keyText(it.Key())
		if err != nil {
			return err
		}
		entries = append(entries, entry{name, it.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	w.out.WriteByte('{')
	for i, e := range entries {
		if !w.name(i, e.name) {
			return nil
		}
		if err := w.value(e.value); err != nil || w.full() {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// name writes what stands before the value of a member, and reports whether there is
// room for more.
func (w *writer) name(i int, name string) bool {
	if i > 0 {
		w.out.WriteByte(',')
	}
	w.text(name)
	if w.full() {
		return false
	}
	w.out.WriteByte(':')
	return !w.full()
}

type entry struct {
	name  string
	value reflect.Value
}

// keyText is the name that a map's key gives.
func keyText(k reflect.Value) (string, error) {
	switch {
	case k.Kind() == reflect.String:
		return k.String(), nil
	case k.CanInterface() && k.Type().Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		if isNil(k) {
			return "", nil
		}
		m, _ := reflect.TypeAssert[encoding.TextMarshaler](k)
		text, err := m.MarshalText()
		return string(text), err
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10), nil
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", errType
}

func (w *writer) members(i *info, v reflect.Value) error {
	w.out.WriteByte('{')
	n := 0
	for _, f := range i.fields {
		value, ok := f.of(v)
		if !ok || f.omitEmpty && isEmpty(value) || f.omitZero && isZero(value) {
			continue
		}
		if !w.name(n, f.name) {
			return nil
		}
		n++
		if err := w.member(&f, value); err != nil || w.full() {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// member writes a member's value, which the option string puts in quotes.
func (w *writer) member(f *field, v reflect.Value) error {
	from := w.out.Len()
	if err := w.value(v); err != nil || !f.quoted || isNil(v) {
		return err
	}
	text := quote(string(w.out.Bytes()[from:]))
	if w.cut {
		text = bytes.TrimSuffix(text, []byte(`"`))
	}
	w.out.Truncate(from)
	w.out.Write(text)
	return nil
}

// isZero is what the tag's option omitzero leaves out.
func isZero(v reflect.Value) bool {
	if isNil(v) || !v.CanInterface() || !asksZero(v) {
		return v.IsZero()
	}
	if z, ok := reflect.TypeAssert[zeroer](v); ok {
		return z.IsZero()
	}
	boxed := reflect.New(v.Type())
	boxed.Elem().Set(v)
	z, ok := reflect.TypeAssert[zeroer](boxed)
	return ok && z.IsZero()
}

func (w *writer) object(o Object) error {
	w.out.WriteByte('{')
	for i, m := range o {
		if !w.name(i, m.Name) {
			return nil
		}
		from := w.out.Len()
		if err := w.value(reflect.ValueOf(m.Value)); err != nil {
			w.out.Truncate(from)
			w.out.Write(quote(Unencodable(m.Value)))
		}
		if w.full() {
			return nil
		}
	}
	w.out.WriteByte('}')
	return nil
}
