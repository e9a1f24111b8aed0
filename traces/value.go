package traces

import (
	"math"
	"slices"
	"unsafe"
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
// [Value.Equal]: == does not compile, and reflect.DeepEqual compares addresses.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/common/v1/common.proto
type Value struct {
	_ [0]func() // no ==, which would compare where texts are
	// What p is says of what kind the value is:
	//
	//	nil            the empty value
	//	&tags[kind]    a bool, int or double in n, or the empty string
	//	a *many        bytes, an array or a map; n is heldByMany
	//	anything else  the first byte of a string of n bytes
	//
	// So a Value is 16 bytes, as small as a string. Reading a file is mostly
	// filling memory, and nearly every value is a scalar (ADR 0060).
	p unsafe.Pointer
	n uint64
}

// tags are addresses, one for each kind; what is there does not matter.
var tags [ValueMap + 1]byte //nolint:gochecknoglobals // never written

const heldByMany = 1 << 63 // no string is that long

// many is what a value holds that is none of the scalars.
type many struct {
	kind  ValueKind
	bytes string
	list  []Value
	kvs   []Attribute
}

func scalar(kind ValueKind, n uint64) Value { return Value{p: unsafe.Pointer(&tags[kind]), n: n} } //nolint:gosec // see Value.p

func holding(m *many) Value { return Value{p: unsafe.Pointer(m), n: heldByMany} } //nolint:gosec // see Value.p

// many returns what the value holds; nil for a scalar.
func (v Value) many() *many {
	if v.n != heldByMany || v.tagged() < uintptr(len(tags)) {
		return nil
	}
	return (*many)(v.p)
}

// tagged is the kind that p is the tag of; any larger number when it is none.
func (v Value) tagged() uintptr { return uintptr(v.p) - uintptr(unsafe.Pointer(&tags)) } //nolint:gosec // see Value.p

// String makes a string value.
func String(s string) Value {
	if s == "" {
		return scalar(ValueString, 0)
	}
	return Value{p: unsafe.Pointer(unsafe.StringData(s)), n: uint64(len(s))} //nolint:gosec // see Value.p
}

// Bool makes a boolean value.
func Bool(b bool) Value {
	if b {
		return scalar(ValueBool, 1)
	}
	return scalar(ValueBool, 0)
}

// Int makes an integer value.
func Int(i int64) Value { return scalar(ValueInt, uint64(i)) } //nolint:gosec // two's complement round trip

// Double makes a floating-point value. NaN and the infinities are kept.
func Double(f float64) Value { return scalar(ValueDouble, math.Float64bits(f)) }

// Bytes makes a bytes value; b is copied.
func Bytes(b []byte) Value { return holding(&many{kind: ValueBytes, bytes: string(b)}) }

// Array makes an array value, which owns vs.
func Array(vs ...Value) Value { return holding(&many{kind: ValueArray, list: vs}) }

// Map makes a key-value list, which owns kvs. The order is kept.
func Map(kvs ...Attribute) Value { return holding(&many{kind: ValueMap, kvs: kvs}) }

// Kind returns the value's kind.
func (v Value) Kind() ValueKind {
	if v.p == nil {
		return ValueEmpty
	}
	if kind := v.tagged(); kind < uintptr(len(tags)) {
		return ValueKind(kind)
	}
	if v.n != heldByMany {
		return ValueString
	}
	return (*many)(v.p).kind
}

// AsString returns the text of a string value, else "".
func (v Value) AsString() string {
	if v.Kind() != ValueString {
		return ""
	}
	return unsafe.String((*byte)(v.p), v.n) //nolint:gosec // see Value.p; of the empty string, no byte of a tag
}

// AsBool returns a boolean value, else false.
func (v Value) AsBool() bool { return v.Kind() == ValueBool && v.n != 0 }

// AsInt returns an integer value, else 0.
func (v Value) AsInt() int64 {
	if v.Kind() != ValueInt {
		return 0
	}
	return int64(v.n) //nolint:gosec // two's complement round trip
}

// AsDouble returns a floating-point value, else 0.
func (v Value) AsDouble() float64 {
	if v.Kind() != ValueDouble {
		return 0
	}
	return math.Float64frombits(v.n)
}

// AsBytes returns the bytes of a bytes value as a string of bytes, else "".
func (v Value) AsBytes() string {
	if m := v.many(); m != nil {
		return m.bytes
	}
	return ""
}

// AsArray returns the members of an array, which the value keeps owning: they
// must not be changed. It returns nil for any other kind.
func (v Value) AsArray() []Value {
	if m := v.many(); m != nil {
		return m.list
	}
	return nil
}

// AsMap returns the members of a key-value list, which the value keeps owning:
// they must not be changed. It returns nil for any other kind.
func (v Value) AsMap() []Attribute {
	if m := v.many(); m != nil {
		return m.kvs
	}
	return nil
}

// Equal reports whether v and o are of one kind and hold the same. Doubles are
// compared by their bits, so that NaN equals itself and 0 is not -0; maps are
// lists, whose order counts.
func (v Value) Equal(o Value) bool {
	kind := v.Kind()
	if kind != o.Kind() {
		return false
	}
	switch kind {
	case ValueEmpty:
		return true
	case ValueString:
		return v.AsString() == o.AsString()
	case ValueBytes:
		return v.AsBytes() == o.AsBytes()
	case ValueArray:
		return slices.EqualFunc(v.AsArray(), o.AsArray(), Value.Equal)
	case ValueMap:
		return slices.EqualFunc(v.AsMap(), o.AsMap(), Attribute.Equal)
	default:
		return v.n == o.n
	}
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
