package boundjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/guard"
)

type (
	base  struct{ ID, Name string }
	other struct{ Name, Extra string }
	inner struct {
		Deep int `json:"deep"`
		Name string
	}
	embeds struct {
		base
		*inner
		Own string `json:"own,omitempty"`
	}
	conflicting struct {
		base
		other // Name of both is hidden
		Extra string
	}
	tagWins struct {
		A string `json:"x"`
		X string `json:"-"`
		B string
		base2
	}
	base2 struct {
		X string `json:"B"`
	}
	twice struct {
		Left
		Right
	}
	Left    struct{ base }
	Right   struct{ base }
	options struct {
		Empty    string            `json:"empty,omitempty"`
		Zero     time.Time         `json:"zero,omitzero"`
		Asked    asked             `json:"asked,omitzero"`
		AskedPtr *askedPtr         `json:"asked_ptr,omitzero"`
		AskedVal askedPtr          `json:"asked_val,omitzero"`
		Quoted   int               `json:"quoted,string"`
		QuotedS  string            `json:"quoted_s,string"`
		QuotedP  *float64          `json:"quoted_p,string"`
		Bad      int               `json:"bad\"name"` //nolint:staticcheck // what a bad tag does
		Dash     int               `json:"-,"`        //nolint:staticcheck // as above
		Map      map[string]string `json:",omitempty"`
		Arr      [0]int            `json:",omitempty"`
		hidden   int
		Any      any
	}
	asked     int
	askedPtr  struct{ N int }
	valueText struct{ s string }
	ptrJSON   struct{ n int }
	textKey   int
	list      struct {
		Next *list `json:"n"`
	}
	recursiveMap map[string]recursiveMap
	bytesOf      uint8
	textByte     uint8
)

func (a asked) IsZero() bool                     { return a == 7 }
func (a *askedPtr) IsZero() bool                 { return a.N == 7 }
func (v valueText) MarshalText() ([]byte, error) { return []byte("<" + v.s + ">"), nil }
func (p *ptrJSON) MarshalJSON() ([]byte, error)  { return fmt.Appendf(nil, `{ "n" : %d }`, p.n), nil }

func (k textKey) MarshalText() ([]byte, error)  { return fmt.Appendf(nil, "k%02d", 99-int(k)), nil }
func (b textByte) MarshalText() ([]byte, error) { return []byte{'b', '0' + byte(b)}, nil }

func longList(n int) *list {
	var l *list
	for range n {
		l = &list{l}
	}
	return l
}

// values are of every shape that encoding/json treats in its own way.
func values() map[string]any {
	f := 2.5
	n := ptrJSON{3}
	pp := &f
	return map[string]any{
		"nil":          nil,
		"string":       "<wärum>\u2028 \xff \x00 \"\\",
		"number":       json.Number("1e400"),
		"empty number": json.Number(""),
		"float": []any{
			1e21, 1e-7, float32(0.1), 100, math.MaxFloat64, 1e-6, 9.99e-7, math.Copysign(0, -1), 1.5e-10, -1e22, 1e20,
			float32(1e-6), float32(9.99e-7), float32(1e21), float32(3e-10), math.Nextafter32(1e-6, 0), math.Nextafter(1e21, 0),
		},
		"ints":            []int8{-128, 0, 127},
		"uints":           []uint64{0, math.MaxUint64},
		"bools":           [2]bool{true, false},
		"bytes":           []byte("some bytes of any length"),
		"named bytes":     []bytesOf{1, 2, 3},
		"bytes with text": []textByte{1, 2, 3},
		"byte array":      [3]byte{1, 2, 3},
		"nil slice":       []string(nil),
		"nil map":         map[string]int(nil),
		"nil pointer":     (*base)(nil),
		"map":             map[string]any{"b": 1, "a": []int{1, 2}, "<": "x", "": nil},
		"int keys":        map[int]string{10: "ten", 9: "nine", -1: "x"},
		"uint keys":       map[uint8]bool{1: true},
		"text keys":       map[textKey]int{1: 1, 2: 2, 3: 3},
		"addr keys":       map[netip.Addr]int{netip.MustParseAddr("::1"): 1},
		"embedded":        embeds{base{"1", "n"}, &inner{5, "hidden"}, "o"},
		"embedded nil":    &embeds{base: base{"1", "n"}},
		"conflicts":       conflicting{base{"1", "a"}, other{"b", "c"}, "d"},
		"tag wins":        tagWins{A: "a", X: "x", B: "b", base2: base2{"c"}},
		"twice":           twice{Left{base{"1", "a"}}, Right{base{"2", "b"}}},
		"options":         options{Quoted: 5, QuotedS: "a\"b", QuotedP: &f, Asked: 7, AskedPtr: &askedPtr{1}, AskedVal: askedPtr{7}},
		"options, other":  &options{Empty: "x", Zero: time.Unix(0, 0).UTC(), Asked: 0, AskedVal: askedPtr{}, Map: map[string]string{"a": "b"}, Any: base{"1", "2"}, hidden: 1},
		"value text":      []valueText{{"a"}, {"b"}},
		"pointer json":    []ptrJSON{{1}, {2}},
		"not addressable": map[string]ptrJSON{"a": {1}},
		"pointers":        []any{&n, &pp, &[]*float64{&f, nil}},
		"time":            []time.Time{time.Unix(1, 5).UTC(), {}},
		"time pointer":    &time.Time{},
		"raw":             map[string]any{"r": json.RawMessage(` { "a" : [ 1 , 2 ] } `), "n": json.RawMessage(nil)},
		"big":             big.NewInt(1 << 60),
		"object":          Object{{"b", 1}, {"a", "<x>"}, {"bad", func() {}}, {"in", Object{{"c", nil}}}},
		"linked":          longList(50),
		"recursive":       recursiveMap{"a": {"b": nil}},
		"same address":    sameAddress(),
	}
}

// sameAddress holds a pointer to its own first field, which is no circle.
func sameAddress() any {
	type first struct{ N int }
	type outer struct {
		F first
		P *first
	}
	o := &outer{F: first{1}}
	o.P = &o.F
	return o
}

// What fits is encoding/json's, to the byte, for each limit that it fits; of what does
// not, the text begins as encoding/json's.
func TestEncodeIsEncodingJSONs(t *testing.T) {
	t.Parallel()
	for name, v := range values() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e Encoder
			want, err := encode(v)
			if err != nil {
				t.Fatal(err)
			}
			if got, whole, err := e.Encode(v, 0); err != nil || !whole || !bytes.Equal(got, want) {
				t.Errorf("%s, %v, %v, want %s", got, whole, err, want)
			}
			for limit := range len(want) + 3 {
				got, fits, err := e.begin(v, limit)
				switch {
				case err != nil:
					t.Errorf("limit %d: %v", limit, err)
				case fits != (len(want) <= limit):
					t.Errorf("limit %d: fits: %v, want %d bytes", limit, fits, len(want))
				case fits || bytes.HasPrefix(want, got) && len(got) > limit-utf8.UTFMax:
				case name == "raw" && bytes.HasPrefix(want, bytes.ReplaceAll(got, []byte(" "), nil)):
					// the white space of a cut text stays
				default:
					t.Errorf("limit %d: %s, want the beginning of %s", limit, got, want)
				}
				m := meter{types: &e.types, left: limit}
				if fits := m.measure(v); !fits && !m.foreign && len(want) <= limit {
					t.Errorf("limit %d: measured as too long, want %d bytes", limit, len(want))
				}
			}
		})
	}
}

// A value without JSON is an error, whole or not.
func TestNoJSON(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["again"] = loop
	type ring struct{ Next *ring }
	circle := &ring{}
	circle.Next = circle
	self := []any{nil}
	self[0] = self
	var pointer any
	pointer = &pointer
	long := strings.Repeat("x", 2*always)
	for name, v := range map[string]any{
		"func":             func() {},
		"chan":             []any{make(chan int)},
		"complex":          1i,
		"NaN":              math.NaN(),
		"key":              map[float64]int{1: 1},
		"long, then func":  []any{"a", func() {}, long},
		"a map in itself":  loop,
		"a circle":         circle,
		"a list in itself": self,
		"a pointer":        pointer,
		"method":           failing{},
		"after much":       []any{failing{}, long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e Encoder
			for _, limit := range []int{always, 1 << 20} {
				if got, _, err := e.Encode(v, limit); err == nil {
					t.Errorf("limit %d: %.100s", limit, got)
				}
			}
		})
	}
}

// A value that is nested beyond measure is cut, or has no JSON.
func TestDeep(t *testing.T) {
	t.Parallel()
	var e Encoder
	deep := longList(maxDepth + 1)
	if _, _, err := e.Encode(deep, 1<<20); !errors.Is(err, errDeep) {
		t.Errorf("%v", err)
	}
	if _, _, err := e.Encode(deep, 100_000); !errors.Is(err, errDeep) {
		t.Errorf("cut: %v", err)
	}
	got, whole, err := e.Encode(deep, always)
	if err != nil || whole || !strings.HasPrefix(string(got), `{"n":{"n":{`) {
		t.Errorf("%.100s, %v, %v", got, whole, err)
	}
	shared := &list{}
	wide := any([]*list{shared, shared})
	for range 2 * trusted {
		wide = []any{wide}
	}
	want, err := encode(wide)
	if err != nil {
		t.Fatal(err)
	}
	if got, whole, err := e.Encode(wide, 1<<20); err != nil || !whole || !bytes.Equal(got, want) {
		t.Errorf("what is shared is taken for a circle: %.100s, %v, %v", got, whole, err)
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

// The cost of a value is that of what is kept of it.
func TestCostIsBounded(t *testing.T) {
	const limit = 64 << 10
	text := strings.Repeat("x", 58<<20)
	numbers := make([]int, 1<<20)
	table := map[int]string{}
	for i := range 1 << 18 {
		table[i] = "some text"
	}
	for name, v := range map[string]any{
		"text":      map[string]string{"text": text},
		"number":    map[string]any{"n": json.Number(text)},
		"bytes":     struct{ Data []byte }{[]byte(text)},
		"raw":       map[string]any{"raw": json.RawMessage(`"` + text + `"`)},
		"numbers":   numbers,
		"table":     table,
		"long keys": map[string]int{text: 1},
		"methods":   make([]textByte, 1<<20),
		"member":    Object{{"text", text}, {text, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var e Encoder
			before := allocated()
			got, whole, err := e.Encode(v, limit)
			cost := allocated() - before
			if err != nil || whole || len(got) <= limit {
				t.Errorf("%d bytes, %v, %v", len(got), whole, err)
			}
			if most := uint64(128 * limit); cost > most {
				t.Errorf("%d bytes were allocated, want at most %d", cost, most)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// method does what it is told when it is encoded.
type method struct{ do func() }

func (m method) MarshalJSON() ([]byte, error) { m.do(); return []byte(`"done"`), nil }

type zeroMethod struct{ N int }

func (zeroMethod) IsZero() bool { runtime.Goexit(); return false }

// Methods that panic, end their goroutine or hang are errors; the caller goes on.
func TestMethodsThatMisbehave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var e Encoder
		release := make(chan struct{})
		long := strings.Repeat("x", 2*always)
		for _, tt := range []struct {
			name string
			do   func()
			want error
		}{
			{"goexit", runtime.Goexit, guard.ErrGoexit},
			{"hang", func() { <-release }, guard.ErrLate},
			{"again", func() { <-release }, guard.ErrBusy},
		} {
			for where, v := range map[string]any{"small": method{tt.do}, "large": []any{method{tt.do}, long}} {
				begin := time.Now()
				if _, _, err := e.Encode(v, 100); !errors.Is(err, tt.want) {
					t.Errorf("%s, %s: %v, want %v", tt.name, where, err, tt.want)
				}
				if took := time.Since(begin); took > guard.Limit {
					t.Errorf("%s, %s took %v", tt.name, where, took)
				}
			}
		}
		if _, _, err := e.Encode(struct {
			Z zeroMethod `json:",omitzero"`
		}{}, 100); !errors.Is(err, guard.ErrGoexit) {
			t.Errorf("IsZero: %v", err)
		}
		if got, whole, err := e.Encode(method{func() {}}, 100); !errors.Is(err, guard.ErrBusy) {
			t.Errorf("while a method of the type hangs: %s, %v, %v", got, whole, err)
		}
		close(release)
		synctest.Wait()
		if got, whole, err := e.Encode(method{func() {}}, 100); string(got) != `"done"` || !whole || err != nil {
			t.Errorf("afterwards: %s, %v, %v", got, whole, err)
		}
		var p *guard.PanicError
		if _, _, err := e.Encode(method{func() { panic(1) }}, 100); !errors.As(err, &p) {
			t.Errorf("panic: %v", err)
		}
	})
}

// FuzzEncode compares with encoding/json for values of any shape.
func FuzzEncode(f *testing.F) {
	for _, v := range values() {
		if text, err := json.Marshal(v); err == nil {
			f.Add(text, 10, 3)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, limit, shape int) {
		var plain any
		if json.Unmarshal(text, &plain) != nil || limit < 0 {
			return
		}
		v := shaped(plain, shape)
		want, err := encode(v)
		if err != nil {
			t.Fatal(err)
		}
		var e Encoder
		m := meter{types: &e.types, left: limit}
		if fits := m.measure(v); len(want) <= limit && !fits && !m.foreign {
			t.Errorf("measured as too long for %d: %s", limit, want)
		}
		if got, whole, err := e.Encode(v, len(want)); err != nil || !whole || !bytes.Equal(got, want) {
			t.Errorf("%s, %v, %v, want %s", got, whole, err, want)
		}
		got, fits, err := e.begin(v, limit)
		if err != nil || fits != (len(want) <= limit) || !bytes.HasPrefix(want, got) {
			t.Errorf("limit %d: %s, %v, %v, want %s", limit, got, fits, err, want)
		}
	})
}

// shaped puts a plain value into Go values that have the same JSON, or nearly.
func shaped(v any, shape int) any {
	next := shape/7 + 1
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = shaped(value, next)
		}
		switch shape % 3 {
		case 1:
			return &v
		case 2:
			return struct {
				Table any `json:"t,omitempty"`
				base
			}{v, base{"id", "name"}}
		}
	case []any:
		for i := range v {
			v[i] = shaped(v[i], next)
		}
		if shape%2 == 1 {
			return struct{ List *[]any }{&v}
		}
	case string:
		switch shape % 4 {
		case 1:
			return []byte(v)
		case 2:
			return valueText{v}
		case 3:
			return &v
		}
	case float64:
		if shape%2 == 1 && v == float64(int32(v)) {
			return int32(v)
		}
	}
	return v
}

// BenchmarkEncode is what a value costs, beside encoding/json alone.
func BenchmarkEncode(b *testing.B) {
	small := map[string]any{"messages": []map[string]string{{"role": "user", "content": "why?"}}, "n": 3}
	for name, v := range map[string]any{
		"small": small, "time": struct{ At time.Time }{}, "method": []valueText{{"a"}},
		"large": map[string]string{"text": strings.Repeat("x", 58<<20)}, "numbers": make([]float64, 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			var e Encoder
			b.ReportAllocs()
			for b.Loop() {
				_, _, _ = e.Encode(v, 64<<10)
			}
		})
		b.Run(name+"/encoding_json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = encode(v)
			}
		})
	}
}
