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
	str string // string, bytes
	num uint64 // bool, int, double bits
	ref *ref   // nil for the empty value
}

// ref says of what kind a value is, and holds an array or a map. It stands apart
// because nearly every value is a scalar, and reading a file is mostly filling
// memory: scalars of a kind share one, and a Value is 32 bytes instead of 80.
type ref struct {
	kind ValueKind
	list []Value
	kvs  []Attribute
}

//nolint:gochecknoglobals // constants, but for their addresses
var (
	stringRef = ref{kind: ValueString}
	boolRef   = ref{kind: ValueBool}
	intRef    = ref{kind: ValueInt}
	doubleRef = ref{kind: ValueDouble}
	bytesRef  = ref{kind: ValueBytes}
)

// String makes a string value.
func String(s string) Value { return Value{ref: &stringRef, str: s} }

// Bool makes a boolean value.
func Bool(b bool) Value {
	v := Value{ref: &boolRef}
	if b {
		v.num = 1
	}
	return v
}

// Int makes an integer value.
func Int(i int64) Value { return Value{ref: &intRef, num: uint64(i)} } //nolint:gosec // two's complement round trip

// Double makes a floating-point value. NaN and the infinities are kept.
func Double(f float64) Value { return Value{ref: &doubleRef, num: math.Float64bits(f)} }

// Bytes makes a bytes value; b is copied.
func Bytes(b []byte) Value { return Value{ref: &bytesRef, str: string(b)} }

// Array makes an array value, which owns vs.
func Array(vs ...Value) Value { return Value{ref: &ref{kind: ValueArray, list: vs}} }

// Map makes a key-value list, which owns kvs. The order is kept.
func Map(kvs ...Attribute) Value { return Value{ref: &ref{kind: ValueMap, kvs: kvs}} }

// Kind returns the value's kind.
func (v Value) Kind() ValueKind {
	if v.ref == nil {
		return ValueEmpty
	}
	return v.ref.kind
}

// AsString returns the text of a string value, else "".
func (v Value) AsString() string {
	if v.ref != &stringRef {
		return ""
	}
	return v.str
}

// AsBool returns a boolean value, else false.
func (v Value) AsBool() bool { return v.ref == &boolRef && v.num != 0 }

// AsInt returns an integer value, else 0.
func (v Value) AsInt() int64 {
	if v.ref != &intRef {
		return 0
	}
	return int64(v.num) //nolint:gosec // two's complement round trip
}

// AsDouble returns a floating-point value, else 0.
func (v Value) AsDouble() float64 {
	if v.ref != &doubleRef {
		return 0
	}
	return math.Float64frombits(v.num)
}

// AsBytes returns the bytes of a bytes value as a string of bytes, else "".
func (v Value) AsBytes() string {
	if v.ref != &bytesRef {
		return ""
	}
	return v.str
}

// AsArray returns the members of an array, which the value keeps owning: they
// must not be changed. It returns nil for any other kind.
func (v Value) AsArray() []Value {
	if v.ref == nil {
		return nil
	}
	return v.ref.list
}

// AsMap returns the members of a key-value list, which the value keeps owning:
// they must not be changed. It returns nil for any other kind.
func (v Value) AsMap() []Attribute {
	if v.ref == nil {
		return nil
	}
	return v.ref.kvs
}

// Equal reports whether v and o are of one kind and hold the same. Doubles are
// compared by their bits, so that NaN equals itself and 0 is not -0; maps are
// lists, whose order counts.
func (v Value) Equal(o Value) bool {
	return v.Kind() == o.Kind() && v.num == o.num && v.str == o.str &&
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
