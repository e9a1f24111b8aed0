package boundjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"
)

// types is what is known of the types that were seen: as many as the program has.
type types struct{ known sync.Map }

// info is what is known of a type.
type info struct {
	form      form
	methods   bool    // encoding/json calls a method of its values
	byAddress bool    // or of those that have an address
	bytes     bool    // a slice that is written in base64
	fields    []field // of a struct
}

// form is how values of a type are written.
type form int8

const (
	byKind form = iota
	asObject
	asRaw
	asTime
	asNumber
)

func (ts *types) of(t reflect.Type) *info {
	if known, ok := ts.known.Load(t); ok {
		i, _ := known.(*info)
		return i
	}
	i := newInfo(t)
	ts.known.Store(t, i)
	return i
}

func newInfo(t reflect.Type) *info {
	i := &info{form: formOf(t)}
	switch {
	case i.form != byKind:
		return i
	case t.Kind() == reflect.Pointer:
		i.methods = formOf(t.Elem()) == byKind && implements(t)
	default:
		i.methods = implements(t)
		i.byAddress = implements(reflect.PointerTo(t))
	}
	switch t.Kind() { //nolint:exhaustive // of the others there is no more to know
	case reflect.Slice:
		i.bytes = t.Elem().Kind() == reflect.Uint8 && !implements(reflect.PointerTo(t.Elem()))
	case reflect.Struct:
		i.fields = dominant(candidates(t))
	}
	return i
}

// formOf tells the types whose methods need not be called to know what they write.
func formOf(t reflect.Type) form {
	switch t {
	case reflect.TypeFor[Object]():
		return asObject
	case reflect.TypeFor[json.RawMessage]():
		return asRaw
	case reflect.TypeFor[time.Time]():
		return asTime
	case reflect.TypeFor[json.Number]():
		return asNumber
	}
	return byKind
}

func implements(t reflect.Type) bool {
	return t.Kind() != reflect.Interface &&
		(t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()))
}

// callsMethods reports whether encoding/json calls a method of v.
func (i *info) callsMethods(v reflect.Value) bool { return i.methods || i.byAddress && v.CanAddr() }
