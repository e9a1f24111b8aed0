package otlpjson_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// checkString reads what AppendString wrote with encoding/json.
func checkString(t *testing.T, s string) {
	t.Helper()
	b := otlpjson.AppendString([]byte("before"), s)
	if !strings.HasPrefix(string(b), "before") || !utf8.Valid(b) {
		t.Fatalf("AppendString(%q) = %q", s, b)
	}
	var got string
	if err := json.Unmarshal(b[len("before"):], &got); err != nil {
		t.Fatalf("AppendString(%q) = %q: %v", s, b, err)
	}
	if want := string([]rune(s)); got != want {
		t.Errorf("AppendString(%q) reads as %q, want %q", s, got, want)
	}
}

// Every byte at every place of a word, with what comes before and after it.
func TestAppendStringEveryByteAtEveryOffset(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for offset := range 18 {
			for after := range 10 {
				checkString(t, strings.Repeat("a", offset)+string([]byte{byte(c)})+strings.Repeat(" ", after))
			}
		}
	}
}

func TestAppendStringEscapesNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	const s = "</script>&'\u2028\u2029\x7f世界"
	if got, want := string(otlpjson.AppendString(nil, s)), `"`+s+`"`; got != want {
		t.Errorf("AppendString = %q, want %q", got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\x7f", "é世🌍", "\xff\xed\xa0\x80", "0123456789abcdef\n0123456789\xc3"} {
		f.Add(s)
	}
	f.Fuzz(checkString)
}

func FuzzAppendDouble(f *testing.F) {
	for _, d := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e21, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, d float64) {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			t.Skip("a string, see TestAppendDoubleWithoutNumber")
		}
		var got float64
		b := otlpjson.AppendDouble(nil, d)
		if err := json.Unmarshal(b, &got); err != nil || math.Float64bits(got) != math.Float64bits(d) {
			t.Errorf("AppendDouble(%v) = %s reads as %v, %v", d, b, got, err)
		}
	})
}

func TestAppendDoubleWithoutNumber(t *testing.T) {
	t.Parallel()
	for d, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if got := string(otlpjson.AppendDouble(nil, d)); got != want {
			t.Errorf("AppendDouble(%v) = %s, want %s", d, got, want)
		}
	}
	if got := string(otlpjson.AppendDouble(nil, math.NaN())); got != `"NaN"` {
		t.Errorf("AppendDouble(NaN) = %s", got)
	}
}

// The whole of a line, and that nothing is written for what is not there.
func TestLine(t *testing.T) {
	t.Parallel()
	b := []byte(otlpjson.LineStart)
	bare := otlpjson.SpanFields{TraceID: [16]byte{0xab}, SpanID: [8]byte{0xcd}, Name: "n"}
	b = otlpjson.CloseObject(otlpjson.AppendStatus(otlpjson.OpenSpan(b, &bare), otlpjson.StatusUnset, ""))
	b = otlpjson.OpenSpan(b, &otlpjson.SpanFields{ParentSpanID: [8]byte{7: 1}, Kind: 2, Flags: 1, EndTimeUnixNano: math.MaxUint64})
	b = otlpjson.CloseList(otlpjson.OpenEvents(b))
	b = otlpjson.CloseObject(otlpjson.OpenLink(otlpjson.OpenLinks(b), [16]byte{15: 1}, [8]byte{7: 2}, "a=1", 3))
	b = otlpjson.CloseList(otlpjson.CloseObject(otlpjson.OpenLink(b, [16]byte{}, [8]byte{}, "", 0)))
	b = otlpjson.CloseObject(otlpjson.AppendStatus(b, otlpjson.StatusError, ""))
	b = otlpjson.ScopeOfLine(otlpjson.CloseList(b), "scope", "")
	b = otlpjson.ResourceOfLine(b, "")
	b = otlpjson.CloseLine(b, 2, "")
	const want = `{"resourceSpans":[{"scopeSpans":[{"spans":[` +
		`{"traceId":"ab000000000000000000000000000000","spanId":"cd00000000000000","name":"n","startTimeUnixNano":"0","endTimeUnixNano":"0"},` +
		`{"traceId":"00000000000000000000000000000000","spanId":"0000000000000000","parentSpanId":"0000000000000001","flags":1,"name":"","kind":2,` +
		`"startTimeUnixNano":"0","endTimeUnixNano":"18446744073709551615","events":[],` +
		`"links":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000002","traceState":"a=1","flags":3},` +
		`{"traceId":"","spanId":""}],"status":{"code":2}}],` +
		`"scope":{"name":"scope"}}],"resource":{"attributes":[],"droppedAttributesCount":2}}]}` + "\n"
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The quick ways begin and end at these values.
func TestSpanFieldsAtTheirBounds(t *testing.T) {
	t.Parallel()
	const ids = `{"traceId":"ab000000000000000000000000000000","spanId":"cd00000000000000"`
	for _, c := range []struct {
		name   string
		fields otlpjson.SpanFields
		want   string
	}{
		{"eighteen digits", otlpjson.SpanFields{StartTimeUnixNano: 1e18 - 1, EndTimeUnixNano: 1e18}, `,"name":"","startTimeUnixNano":"999999999999999999","endTimeUnixNano":"1000000000000000000"`},
		{"nineteen digits", otlpjson.SpanFields{StartTimeUnixNano: 1e18, EndTimeUnixNano: 1e19 - 1}, `,"name":"","startTimeUnixNano":"1000000000000000000","endTimeUnixNano":"9999999999999999999"`},
		{"twenty digits", otlpjson.SpanFields{StartTimeUnixNano: 1e18, EndTimeUnixNano: 1e19}, `,"name":"","startTimeUnixNano":"1000000000000000000","endTimeUnixNano":"10000000000000000000"`},
		{"kind 9", otlpjson.SpanFields{Kind: 9}, `,"name":"","kind":9,"startTimeUnixNano":"0","endTimeUnixNano":"0"`},
		{"kind 10", otlpjson.SpanFields{Kind: 10}, `,"name":"","kind":10,"startTimeUnixNano":"0","endTimeUnixNano":"0"`},
		{"kind -1", otlpjson.SpanFields{Kind: -1}, `,"name":"","kind":-1,"startTimeUnixNano":"0","endTimeUnixNano":"0"`},
		{"parent", otlpjson.SpanFields{ParentSpanID: [8]byte{7: 1}}, `,"parentSpanId":"0000000000000001","name":"","startTimeUnixNano":"0","endTimeUnixNano":"0"`},
		{"state", otlpjson.SpanFields{TraceState: "a=1"}, `,"traceState":"a=1","name":"","startTimeUnixNano":"0","endTimeUnixNano":"0"`},
		{"state and parent", otlpjson.SpanFields{TraceState: "a=1", ParentSpanID: [8]byte{7: 1}}, `,"traceState":"a=1","parentSpanId":"0000000000000001","name":"","startTimeUnixNano":"0","endTimeUnixNano":"0"`},
	} {
		c.fields.TraceID, c.fields.SpanID = [16]byte{0xab}, [8]byte{0xcd}
		if diff := cmp.Diff(ids+c.want, string(otlpjson.OpenSpan(nil, &c.fields))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestAppendStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code    int32
		message string
		want    string
	}{
		{otlpjson.StatusUnset, "", ``},
		{otlpjson.StatusUnset, "m", `,"status":{"message":"m","code":0}`},
		{otlpjson.StatusOK, "", `,"status":{"code":1}`},
		{otlpjson.StatusError, "m", `,"status":{"message":"m","code":2}`},
	} {
		if got := string(otlpjson.AppendStatus(nil, c.code, c.message)); got != c.want {
			t.Errorf("AppendStatus(%d, %q) = %s, want %s", c.code, c.message, got, c.want)
		}
	}
}

func FuzzAppendHex(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x00, 0x0f, 0xf0, 0xff, 0x9a, 0xa9, 0x12})
	f.Fuzz(func(t *testing.T, id []byte) {
		if got, want := string(otlpjson.AppendHex(nil, id)), hex.EncodeToString(id); got != want {
			t.Errorf("AppendHex(%v) = %s, want %s", id, got, want)
		}
	})
}
