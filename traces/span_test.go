package traces_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
)

func TestParseIDs(t *testing.T) {
	t.Parallel()
	const hex = "0123456789abcdef0123456789abcdef"
	id, err := traces.ParseTraceID(strings.ToUpper(hex))
	if err != nil || id.String() != hex || id.IsZero() {
		t.Errorf("ParseTraceID = %v, %v", id, err)
	}
	span, err := traces.ParseSpanID(hex[:16])
	if err != nil || span.String() != hex[:16] || span.IsZero() {
		t.Errorf("ParseSpanID = %v, %v", span, err)
	}
	if id, err := traces.ParseTraceID(strings.Repeat("0", 32)); err != nil || !id.IsZero() {
		t.Errorf("zeros: %v, %v", id, err)
	}
	for _, bad := range []string{"", hex[:31], hex + "0", hex[:31] + "g", strings.Repeat("é", 16), strings.Repeat("a", 1<<20)} {
		_, err := traces.ParseTraceID(bad)
		if err == nil || len(err.Error()) > 150 || !strings.HasPrefix(err.Error(), "traces: trace ID ") {
			t.Errorf("ParseTraceID(%.40q): %v", bad, err)
		}
		if _, err := traces.ParseSpanID(bad); err == nil {
			t.Errorf("ParseSpanID(%.40q): no error", bad)
		}
	}
}

func TestIDsInJSON(t *testing.T) {
	t.Parallel()
	type ids struct {
		T traces.TraceID
		S traces.SpanID
	}
	in := ids{traces.TraceID{1, 15: 0xff}, traces.SpanID{2, 7: 0xfe}}
	b, err := json.Marshal(in)
	if err != nil || string(b) != `{"T":"010000000000000000000000000000ff","S":"02000000000000fe"}` {
		t.Fatalf("%s, %v", b, err)
	}
	var out ids
	if err := json.Unmarshal(b, &out); err != nil || out != in {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"T":"xyz"}`), &out); err == nil || out != in {
		t.Errorf("a bad id: %v, %v", out, err)
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		traces.KindServer.String(): "server", traces.Kind(0).String(): "unspecified", traces.Kind(-3).String(): "kind(-3)",
		traces.KindConsumer.String(): "consumer", traces.Kind(6).String(): "kind(6)",
		traces.StatusOK.String(): "Ok", traces.StatusError.String(): "Error", traces.StatusCode(7).String(): "status(7)",
		traces.ValueMap.String(): "map", traces.ValueEmpty.String(): "empty", traces.ValueKind(99).String(): "value(99)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, end uint64
		want       time.Duration
	}{
		{1, 62_000_000_001, 62 * time.Second},
		{5, 3, -2},
		{0, 9, 0},
		{9, 0, 0},
		{1, math.MaxUint64, math.MaxInt64},
		{math.MaxUint64, 1, -math.MaxInt64},
	} {
		s := traces.Span{StartUnixNano: c.start, EndUnixNano: c.end}
		if got := s.Duration(); got != c.want {
			t.Errorf("Duration of %d..%d = %d, want %d", c.start, c.end, got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	s := traces.Span{StartUnixNano: 1_700_000_000_000_000_001, EndUnixNano: math.MaxUint64}
	if got := s.Start().Format(time.RFC3339Nano); got != "2023-11-14T22:13:20.000000001Z" {
		t.Error(got)
	}
	if got := s.End().Format(time.RFC3339Nano); got != "2554-07-21T23:34:33.709551615Z" {
		t.Error(got)
	}
	if !(&traces.Span{}).Start().IsZero() || !(&traces.Event{}).Time().IsZero() || !(&traces.Span{}).Open() {
		t.Error("an unknown time is not the zero time")
	}
}

func TestSpanFields(t *testing.T) {
	t.Parallel()
	attrs := []traces.Attribute{{"k", traces.Int(1)}, {"service.name", traces.String("shop")}, {"k", traces.Int(2)}}
	s := traces.Span{
		Attributes: attrs, Resource: &traces.Resource{Attributes: attrs}, Scope: &traces.Scope{Name: "lib"},
		Status: traces.Status{Code: traces.StatusError}, Flags: 0x301,
	}
	if v, ok := s.Attr("k"); !ok || v.AsInt() != 2 {
		t.Errorf("Attr(k) = %v, %v: want the last", v, ok)
	}
	if _, ok := s.Attr("missing"); ok {
		t.Error("Attr(missing)")
	}
	if s.Service() != "shop" || s.ScopeName() != "lib" || !s.Failed() {
		t.Error(s.Service(), s.ScopeName(), s.Failed())
	}
	if remote, known := s.RemoteParent(); !remote || !known {
		t.Error("RemoteParent of 0x301")
	}
	var empty traces.Span
	if remote, known := empty.RemoteParent(); remote || known || empty.Service() != "" || empty.ScopeName() != "" || empty.Failed() {
		t.Error("an empty span knows something")
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	text := func(k, v string) traces.Attribute { return traces.Attribute{Key: k, Value: traces.String(v)} }
	s := traces.Span{Events: []traces.Event{
		{Name: "log", Attributes: []traces.Attribute{text("exception.type", "no")}},
		{Name: "exception", TimeUnixNano: 1e9, Attributes: []traces.Attribute{
			text("exception.type", "*fs.PathError"), text("exception.message", "gone"), text("exception.stacktrace", "main.go:1"),
		}},
		{Name: "exception", Attributes: []traces.Attribute{{"exception.message", traces.Int(3)}}},
	}}
	var got []traces.Exception
	for x := range s.Exceptions() {
		got = append(got, x)
	}
	want := []traces.Exception{{"*fs.PathError", "gone", "main.go:1", time.Unix(1, 0).UTC()}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for range s.Exceptions() { // may be left early
		break
	}
}

func TestValueEqual(t *testing.T) {
	t.Parallel()
	values := []traces.Value{
		{},
		traces.String(""), traces.String("a"), traces.Bytes(nil), traces.Bytes([]byte("a")), traces.Bool(false), traces.Bool(true),
		traces.Int(0), traces.Int(1), traces.Int(math.MinInt64), traces.Double(0), traces.Double(math.Copysign(0, -1)),
		traces.Double(math.NaN()), traces.Array(), traces.Array(traces.Value{}), traces.Array(traces.Int(1)),
		traces.Map(), traces.Map(traces.Attribute{Key: "a"}), traces.Map(traces.Attribute{Key: "b"}),
	}
	for i, a := range values {
		for j, b := range values {
			if got := a.Equal(b); got != (i == j) {
				t.Errorf("values %d and %d: Equal = %v", i, j, got)
			}
		}
	}
}

func TestValueAccessorsOfOtherKinds(t *testing.T) {
	t.Parallel()
	i, s := traces.Int(-1), traces.String("x")
	if s.AsInt() != 0 || s.AsDouble() != 0 || s.AsBool() || s.AsBytes() != "" || s.AsArray() != nil || s.AsMap() != nil {
		t.Error("a string is something else too")
	}
	if i.AsString() != "" || i.AsBool() || i.AsDouble() != 0 || i.AsInt() != -1 {
		t.Error("an int is something else too")
	}
	b := []byte("abc")
	v := traces.Bytes(b)
	b[0] = 'x'
	if v.AsBytes() != "abc" || v.AsString() != "" {
		t.Error("Bytes did not copy")
	}
	if d := traces.Double(0.5); d.AsDouble() != 0.5 || d.AsInt() != 0 {
		t.Error("double")
	}
}
