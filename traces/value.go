package traces

import (
	"math"
	"slices"
)

// ValueKind tells the kinds of values apart.
type ValueKind uint8

// The kinds of OTLP's AnyValue.
const (
	ValueEmpty ValueKind = iota // an AnyValue without a value
	ValueString
	ValueBool
	ValueInt
	ValueDouble
	ValueBytes
	ValueArray
	ValueMap
)

// Value is OTLP's AnyValue: one of the kinds. The zero Value is the empty one.
// A Value does not change; copies share what they hold. Compare values with
// [Value.Equal]: they are not comparable with ==.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/common/v1/common.proto
type Value struct {
	kind ValueKind
	num  uint64 // bool, int, double bits
	str  string // string, bytes
	many *many  // array, map
}

// many is what an array or a map holds. It stands apart because nearly every
// value is a scalar: with both slices in it, a Value would be twice as large, and
// reading a file, which is mostly filling memory, a fifth slower.
type many struct {
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

// Double makes a floating-point value. NaN and the infinities are kept.
func Double(f float64) Value { return Value{kind: ValueDouble, num: math.Float64bits(f)} }

// Bytes makes a bytes value; b is copied.
func Bytes(b []byte) Value { return Value{kind: ValueBytes, str: string(b)} }

// Array makes an array value, which owns vs.
func Array(vs ...Value) Value { return Value{kind: ValueArray, many: &many{list: vs}} }

// Map makes a key-value list, which owns kvs. The order is kept.
func Map(kvs ...Attribute) Value { return Value{kind: ValueMap, many: &many{kvs: kvs}} }

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

// AsArray returns the members of an array, which the value keeps owning: they
// must not be changed. It returns nil for any other kind.
func (v Value) AsArray() []Value {
	if v.many == nil {
		return nil
	}
	return v.many.list
}

// AsMap returns the members of a key-value list, which the value keeps owning:
// they must not be changed. It returns nil for any other kind.
func (v Value) AsMap() []Attribute {
	if v.many == nil {
		return nil
	}
	return v.many.kvs
}

// Equal reports whether v and o are of one kind and hold the same. Doubles are
// compared by their bits, so that NaN equals itself and 0 is not -0; maps are
// lists, whose order counts.
func (v Value) Equal(o Value) bool {
	return v.kind == o.kind && v.num == o.num && v.str == o.str &&
		slices.EqualFunc(v.AsArray(), o.AsArray(), Value.Equal) &&
		slices.EqualFunc(v.AsMap(), o.AsMap(), Attribute.Equal)
}

// Equal reports whether a and o have the same key and value.
func (a Attribute) Equal(o Attribute) bool { return a.Key == o.Key && a.Value.Equal(o.Value) }

// Lookup returns the value of a key, and whether there is one. Where a key
// stands twice, which OTLP forbids, the last one counts, as in OpenTelemetry's
// SDKs.
func Lookup(attrs []Attribute, key string) (Value, bool) {
	for _, a := range slices.Backward(attrs) {
		if a.Key == key {
			return a.Value, true
		}
	}
	return Value{}, false
}
