package annotate

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/boundjson"
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

// redaction replaces a value. The zero one leaves it.
type redaction struct {
	by any // the program's function
	do func(any) any
}

// redacted returns what r says of v, and the marker when it does not say anything.
func (c *Client) redacted(v any, r redaction) any {
	if r.do == nil {
		return v
	}
	var out any
	if c.guarded("redaction", r.by, func() error { out = r.do(v); return nil }) != nil {
		return RedactionFailed
	}
	return out
}

// inputOf is the input as the span may have it.
func (c *Client) inputOf(v any, cfg *config) any {
	v = c.redacted(v, cfg.redactInput)
	if cfg.fields == nil {
		return v
	}
	return c.redactFields(v, cfg.fields)
}

func (c *Client) outputOf(v any, cfg *config) any { return c.redacted(v, cfg.redactOutput) }

// redactFields calls f for each top-level field of v. It is the marker when v cannot be looked into.
func (c *Client) redactFields(v any, f func(string, any) any) (out any) {
	defer func() {
		if recover() != nil { // of reflection
			out = RedactionFailed
		}
	}()
	one := func(name string, v any) any {
		return c.redacted(v, redaction{f, func(v any) any { return f(name, v) }})
	}
	fields, ok := fieldsOf(reflect.ValueOf(v), 0)
	if !ok {
		return one("input", v)
	}
	for i, have := range fields {
		fields[i].Value = one(have.Name, have.Value)
	}
	return fields
}

// maxNested is how many pointers and embedded structs stand between a value and its fields at most.
const maxNested = 100

// fieldsOf returns the fields of a struct or of a map with string keys. A type that encodes itself has none.
// It panics for a value that holds itself, which is then not shown: a stack that overflows ends the program.
func fieldsOf(v reflect.Value, depth int) (boundjson.Object, bool) {
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
		var o boundjson.Object
		for it := v.MapRange(); it.Next(); {
			o = append(o, boundjson.Member{Name: it.Key().String(), Value: it.Value().Interface()})
		}
		slices.SortFunc(o, func(a, b boundjson.Member) int { return strings.Compare(a.Name, b.Name) })
		return o, true
	case reflect.Struct:
		return structFields(v, depth), true
	}
	return nil, false
}

func structFields(v reflect.Value, depth int) boundjson.Object {
	var o boundjson.Object
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
		o = append(o, boundjson.Member{Name: name, Value: v.Field(i).Interface()})
	}
	return o
}
