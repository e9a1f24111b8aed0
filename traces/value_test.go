package traces_test

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/traces"
)

// Each value is of its kind and of no other, whatever number or text it holds:
// -0 and the least integer have the bit that marks an array, the empty string
// has no first byte to point to.
func TestValueIsOfOneKind(t *testing.T) {
	t.Parallel()
	values := []struct {
		v    traces.Value
		kind traces.ValueKind
	}{
		{traces.Value{}, traces.ValueEmpty},
		{traces.String(""), traces.ValueString},
		{traces.String("x"), traces.ValueString},
		{traces.Bool(false), traces.ValueBool},
		{traces.Bool(true), traces.ValueBool},
		{traces.Int(0), traces.ValueInt},
		{traces.Int(math.MinInt64), traces.ValueInt},
		{traces.Int(-1), traces.ValueInt},
		{traces.Double(0), traces.ValueDouble},
		{traces.Double(math.Copysign(0, -1)), traces.ValueDouble},
		{traces.Double(math.NaN()), traces.ValueDouble},
		{traces.Bytes(nil), traces.ValueBytes},
		{traces.Bytes([]byte("x")), traces.ValueBytes},
		{traces.Array(), traces.ValueArray},
		{traces.Array(traces.Int(1), traces.String("")), traces.ValueArray},
		{traces.Map(), traces.ValueMap},
		{traces.Map(traces.Attribute{Key: "k", Value: traces.Bool(true)}), traces.ValueMap},
	}
	for i, a := range values {
		if a.v.Kind() != a.kind {
			t.Errorf("%d: kind %v, want %v", i, a.v.Kind(), a.kind)
		}
		for j, b := range values {
			if a.v.Equal(b.v) != (i == j) {
				t.Errorf("values %d and %d: equal = %v", i, j, i != j)
			}
		}
		v := a.v
		if (v.AsString() != "" && a.kind != traces.ValueString) || (v.AsInt() != 0 && a.kind != traces.ValueInt) ||
			(v.AsDouble() != 0 && a.kind != traces.ValueDouble) || (v.AsBool() && a.kind != traces.ValueBool) ||
			(v.AsBytes() != "" && a.kind != traces.ValueBytes) || (v.AsArray() != nil && a.kind != traces.ValueArray) ||
			(v.AsMap() != nil && a.kind != traces.ValueMap) {
			t.Errorf("%d: a value of %v gives something as another kind", i, a.kind)
		}
	}
	if v := values[4].v; !v.AsBool() {
		t.Error("true is false")
	}
	if v := values[6].v; v.AsInt() != math.MinInt64 {
		t.Errorf("AsInt = %d", v.AsInt())
	}
	if v := values[9].v; !math.Signbit(v.AsDouble()) {
		t.Error("-0 is 0")
	}
}

// A value is two words, a pointer and 64 bits, and == on one, which would compare addresses, does not
// compile.
func TestValueIsTwoWords(t *testing.T) {
	t.Parallel()
	v := reflect.TypeFor[traces.Value]()
	type words struct {
		_ *byte
		_ uint64
	}
	if w := reflect.TypeFor[words](); v.Size() != w.Size() {
		t.Errorf("a value has %d bytes, a pointer and 64 bits have %d", v.Size(), w.Size())
	}
	if v.Comparable() {
		t.Error("values can be compared with ==")
	}
}

// What a value holds lives as long as the value, although no field of it has the
// type of a text or a list.
func TestValueKeepsWhatItHolds(t *testing.T) {
	t.Parallel()
	const n = 1000
	text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 8+i%32) }
	texts, lists := make([]traces.Value, n), make([]traces.Value, n)
	for i := range n {
		texts[i] = traces.String(text(i)[1:]) // not where its memory begins
		lists[i] = traces.Array(traces.Map(traces.Attribute{Key: "k", Value: traces.Bytes([]byte(text(i)))}))
	}
	for range 3 {
		runtime.GC()
		garbage := make([][]byte, n) // takes the place of what was freed
		for i := range garbage {
			garbage[i] = []byte(strings.Repeat("#", 8+i%32))
		}
		runtime.KeepAlive(garbage)
	}
	for i := range n {
		if got := texts[i].AsString(); got != text(i)[1:] {
			t.Fatalf("text %d is %q", i, got)
		}
		if got := lists[i].AsArray()[0].AsMap()[0].Value.AsBytes(); got != text(i) {
			t.Fatalf("bytes %d are %q", i, got)
		}
	}
}
