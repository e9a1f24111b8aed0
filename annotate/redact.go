package annotate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// RedactionFailed stands in place of a value whose redaction failed.
const RedactionFailed = "<redact error>"

// untyped makes f take any value. A value of another type is not let through.
func untyped[T any](f func(T) any) func(any) any {
	if f == nil {
		return nil
	}
	return func(v any) any {
		t, ok := v.(T)
		if !ok && (v != nil || reflect.TypeFor[T]().Kind() != reflect.Interface) {
			return RedactionFailed
		}
		return f(t)
	}
}

// redacted returns f(v), and the marker when f panics.
func redacted(v any, f func(any) any) (out any) {
	if f == nil {
		return v
	}
	defer func() {
		if recover() != nil {
			out = RedactionFailed
		}
	}()
	return f(v)
}

// inputOf is the input as the span may have it.
func (c *config) inputOf(v any) any {
	v = redacted(v, c.redactInput)
	if c.fields == nil {
		return v
	}
	return redacted(v, func(v any) any { return redactFields(v, c.fields) })
}

func (c *config) outputOf(v any) any { return redacted(v, c.redactOutput) }

// object is a JSON object whose keys keep their order.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON encodes the fields in their order. A value that cannot be encoded is named by its type.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonText(f.name))
		b.WriteByte(':')
		b.Write(jsonOf(f.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// redactFields calls f for each top-level field of v.
func redactFields(v any, f func(string, any) any) any {
	fields, ok := fieldsOf(reflect.ValueOf(v), 0)
	if !ok {
		return redacted(v, func(v any) any { return f("input", v) })
	}
	for i, have := range fields {
		fields[i].value = redacted(have.value, func(v any) any { return f(have.name, v) })
	}
	return fields
}

// maxNested is how many pointers and embedded structs stand between a value and its fields at most.
const maxNested = 100

// fieldsOf returns the fields of a struct or of a map with string keys. A type that encodes itself has none.
// It panics for a value that holds itself, which is then not shown: a stack that overflows ends the program.
func fieldsOf(v reflect.Value, depth int) (object, bool) {
	if depth > maxNested {
		panic("a value that holds itself")
	}
	if v.IsValid() && v.CanInterface() {
		if _, ok := reflect.TypeAssert[json.Marshaler](v); ok {
			return nil, false
		}
	}
	switch v.Kind() { //nolint:exhaustive // the others have no fields
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		return fieldsOf(v.Elem(), depth+1)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return nil, false
		}
		var o object
		for it := v.MapRange(); it.Next(); {
			o = append(o, field{it.Key().String(), it.Value().Interface()})
		}
		slices.SortFunc(o, func(a, b field) int { return strings.Compare(a.name, b.name) })
		return o, true
	case reflect.Struct:
		return structFields(v, depth), true
	}
	return nil, false
}

func structFields(v reflect.Value, depth int) object {
	var o object
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if sf.Anonymous && name == "" {
			if inner, ok := fieldsOf(v.Field(i), depth+1); ok {
				o = append(o, inner...)
				continue
			}
		}
		if !sf.IsExported() || name == "-" && options == "" {
			continue
		}
		if name == "" {
			name = sf.Name
		}
		o = append(o, field{name, v.Field(i).Interface()})
	}
	return o
}
