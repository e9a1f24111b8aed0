package traces

import "math"

// Value is OTLP's AnyValue: one of the kinds. The zero Value is the empty one.
type Value struct {
	kind ValueKind
	num  uint64 // bool, int, double bits
	str  string // string, bytes
	list []Value
	kvs  []Attribute
}

// String makes a string value.
func String(s string) Value { return Value{kind: ValueString, str: s} }

// Bool makes a boolean value.
func Bool(b bool) Value {
	v := Value{kind: ValueBool}
	if b {
		v.num = 1
	}
	return v
}

// Int makes an integer value.
func Int(i int64) Value { return Value{kind: ValueInt, num: uint64(i)} } //nolint:gosec // two's complement round trip

// Double makes a floating-point value.
func Double(f float64) Value { return Value{kind: ValueDouble, num: math.Float64bits(f)} }

// Bytes makes a bytes value; b is copied.
func Bytes(b []byte) Value { return Value{kind: ValueBytes, str: string(b)} }

// Array makes an array value, which owns vs.
func Array(vs ...Value) Value { return Value{kind: ValueArray, list: vs} }

// Map makes a key-value list, which owns kvs.
func Map(kvs ...Attribute) Value { return Value{kind: ValueMap, kvs: kvs} }

// Kind returns the value's kind.
func (v Value) Kind() ValueKind { return v.kind }

// AsString returns the text of a string value, else "".
func (v Value) AsString() string {
	if v.kind != ValueString {
		return ""
	}
	return v.str
}

// AsBool returns a boolean value, else false.
func (v Value) AsBool() bool { return v.kind == ValueBool && v.num != 0 }

// AsInt returns an integer value, else 0.
func (v Value) AsInt() int64 {
	if v.kind != ValueInt {
		return 0
	}
	return int64(v.num) //nolint:gosec // two's complement round trip
}

// AsDouble returns a floating-point value, else 0.
func (v Value) AsDouble() float64 {
	if v.kind != ValueDouble {
		return 0
	}
	return math.Float64frombits(v.num)
}

// AsBytes returns the bytes of a bytes value as a string of bytes, else "".
func (v Value) AsBytes() string {
	if v.kind != ValueBytes {
		return ""
	}
	return v.str
}

// AsArray returns the members of an array, which the value keeps owning.
func (v Value) AsArray() []Value { return v.list }

// AsMap returns the members of a key-value list, which the value keeps owning.
func (v Value) AsMap() []Attribute { return v.kvs }
