package tracefile_test

import (
	"bytes"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// everything is a document with every field, kind of value and character class.
func everything() ptrace.Traces {
	td := ptrace.NewTraces()
	for _, service := range []string{"shop", "böse \"\\\n\x01 \u2028 日本 😀"} {
		rs := td.ResourceSpans().AppendEmpty()
		rs.SetSchemaUrl("https://opentelemetry.io/schemas/1.30.0")
		rs.Resource().Attributes().PutStr("service.name", service)
		rs.Resource().Attributes().PutInt("process.pid", 7)
		rs.Resource().SetDroppedAttributesCount(3)
		for _, scope := range []string{"web", "db"} {
			ss := rs.ScopeSpans().AppendEmpty()
			ss.SetSchemaUrl("https://opentelemetry.io/schemas/1.29.0")
			ss.Scope().SetName(scope)
			ss.Scope().SetVersion("1.2.3")
			ss.Scope().Attributes().PutBool("beta", true)
			ss.Scope().SetDroppedAttributesCount(1)
			root := ss.Spans().AppendEmpty()
			root.SetTraceID([16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
			root.SetSpanID([8]byte{0xab, 1, 2, 3, 4, 5, 6, byte(len(service))})
			root.SetName("")
			fill(ss.Spans().AppendEmpty(), root)
		}
	}
	return td
}

func fill(sp, parent ptrace.Span) {
	sp.SetTraceID(parent.TraceID())
	sp.SetSpanID([8]byte{1, 2, 3, 4, 5, 6, 7, 8})
	sp.SetParentSpanID(parent.SpanID())
	sp.TraceState().FromRaw("a=1,b=2")
	sp.SetFlags(0x301)
	sp.SetName("GET /a?<b>&c \u2029 \t é")
	sp.SetKind(ptrace.SpanKindConsumer)
	sp.SetStartTimestamp(1_700_000_000_000_000_001)
	sp.SetEndTimestamp(1_700_000_000_123_456_789)
	values(sp.Attributes())
	sp.SetDroppedAttributesCount(4)
	e := sp.Events().AppendEmpty()
	e.SetName("exception")
	e.SetTimestamp(1_700_000_000_000_000_999)
	e.Attributes().PutStr("exception.message", "oh\nno")
	e.SetDroppedAttributesCount(5)
	sp.Events().AppendEmpty().SetName("bare")
	sp.SetDroppedEventsCount(6)
	l := sp.Links().AppendEmpty()
	l.SetTraceID([16]byte{9})
	l.SetSpanID([8]byte{8})
	l.TraceState().FromRaw("c=3")
	l.SetFlags(0x101)
	l.Attributes().PutStr("why", "batch")
	l.SetDroppedAttributesCount(7)
	sp.SetDroppedLinksCount(8)
	sp.Status().SetCode(ptrace.StatusCodeError)
	sp.Status().SetMessage("failed: \"x\"")
}

// values puts one attribute of every kind, with the extremes of each.
func values(m pcommon.Map) {
	m.PutStr("s", "plain")
	m.PutStr("empty", "")
	m.PutStr("uni", "日本µ \U0001F600")
	m.PutBool("t", true)
	m.PutBool("f", false)
	m.PutInt("i", -7)
	m.PutInt("max", math.MaxInt64)
	m.PutInt("min", math.MinInt64)
	m.PutDouble("d", 0.5)
	m.PutDouble("whole", 3)
	m.PutDouble("big", 1e300)
	m.PutDouble("nan", math.NaN())
	m.PutDouble("inf", math.Inf(1))
	m.PutDouble("-inf", math.Inf(-1))
	m.PutEmptyBytes("bytes").FromRaw([]byte{0, 0xff, 'A'})
	m.PutEmpty("none")
	list := m.PutEmptySlice("list")
	list.AppendEmpty().SetStr("x")
	list.AppendEmpty().SetInt(1)
	list.AppendEmpty()
	list.AppendEmpty().SetEmptySlice()
	kv := m.PutEmptyMap("map")
	kv.PutStr("a", "b")
	kv.PutEmptyMap("inner").PutInt("n", 1)
	m.PutEmptySlice("no members")
	m.PutEmptyMap("no keys")
}

// fromPdata converts with the Collector's model, as the oracle of all readers of OTLP.
func fromPdata(td ptrace.Traces) []*traces.Span {
	var out []*traces.Span
	for _, rs := range td.ResourceSpans().All() {
		r := &traces.Resource{
			Attributes: fromMap(rs.Resource().Attributes()), SchemaURL: rs.SchemaUrl(),
			DroppedAttributes: rs.Resource().DroppedAttributesCount(),
		}
		for _, ss := range rs.ScopeSpans().All() {
			s := &traces.Scope{
				Name: ss.Scope().Name(), Version: ss.Scope().Version(), SchemaURL: ss.SchemaUrl(),
				Attributes: fromMap(ss.Scope().Attributes()), DroppedAttributes: ss.Scope().DroppedAttributesCount(),
			}
			for _, sp := range ss.Spans().All() {
				out = append(out, fromSpan(sp, r, s))
			}
		}
	}
	return out
}

func fromSpan(sp ptrace.Span, r *traces.Resource, s *traces.Scope) *traces.Span {
	out := &traces.Span{
		TraceID: traces.TraceID(sp.TraceID()), SpanID: traces.SpanID(sp.SpanID()), ParentID: traces.SpanID(sp.ParentSpanID()),
		TraceState: sp.TraceState().AsRaw(), Flags: sp.Flags(), Name: sp.Name(), Kind: traces.Kind(sp.Kind()),
		StartUnixNano: uint64(sp.StartTimestamp()), EndUnixNano: uint64(sp.EndTimestamp()),
		Attributes: fromMap(sp.Attributes()), DroppedAttributes: sp.DroppedAttributesCount(),
		DroppedEvents: sp.DroppedEventsCount(), DroppedLinks: sp.DroppedLinksCount(),
		Status:   traces.Status{Code: traces.StatusCode(sp.Status().Code()), Message: sp.Status().Message()},
		Resource: r, Scope: s,
	}
	for _, e := range sp.Events().All() {
		out.Events = append(out.Events, traces.Event{
			Name: e.Name(), TimeUnixNano: uint64(e.Timestamp()),
			Attributes: fromMap(e.Attributes()), DroppedAttributes: e.DroppedAttributesCount(),
		})
	}
	for _, l := range sp.Links().All() {
		out.Links = append(out.Links, traces.Link{
			TraceID: traces.TraceID(l.TraceID()), SpanID: traces.SpanID(l.SpanID()), TraceState: l.TraceState().AsRaw(),
			Flags: l.Flags(), Attributes: fromMap(l.Attributes()), DroppedAttributes: l.DroppedAttributesCount(),
		})
	}
	return out
}

func fromMap(m pcommon.Map) (out []traces.Attribute) {
	for k, v := range m.All() {
		out = append(out, traces.Attribute{Key: k, Value: fromValue(v)})
	}
	return out
}

func fromValue(v pcommon.Value) traces.Value {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return traces.String(v.Str())
	case pcommon.ValueTypeBool:
		return traces.Bool(v.Bool())
	case pcommon.ValueTypeInt:
		return traces.Int(v.Int())
	case pcommon.ValueTypeDouble:
		return traces.Double(v.Double())
	case pcommon.ValueTypeBytes:
		return traces.Bytes(v.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		var list []traces.Value
		for _, m := range v.Slice().All() {
			list = append(list, fromValue(m))
		}
		return traces.Array(list...)
	case pcommon.ValueTypeMap:
		return traces.Map(fromMap(v.Map())...)
	default:
		return traces.Value{}
	}
}

// diff compares spans as what they mean: attributes as sets.
func diff(want, got []*traces.Span) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmp.Comparer(equalAttributes), cmp.Comparer(equalValues),
		cmpopts.SortSlices(func(a, b traces.Attribute) bool { return a.Key < b.Key }))
}

// diffInOrder is for formats that keep the order of attributes, and so also
// which of two with one key comes first.
func diffInOrder(want, got []*traces.Span) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(equalAttributes), cmp.Comparer(equalValues))
}

// equalAttributes is here because Attribute has an Equal of its own, to which a
// NaN of other bits is another value. No text keeps those bits.
func equalAttributes(a, b traces.Attribute) bool {
	return a.Key == b.Key && equalValues(a.Value, b.Value)
}

func equalValues(a, b traces.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case traces.ValueDouble:
		return math.Float64bits(a.AsDouble()) == math.Float64bits(b.AsDouble()) || math.IsNaN(a.AsDouble()) && math.IsNaN(b.AsDouble())
	case traces.ValueArray:
		return cmp.Equal(a.AsArray(), b.AsArray(), cmpopts.EquateEmpty(), cmp.Comparer(equalAttributes), cmp.Comparer(equalValues))
	case traces.ValueMap:
		x, y := append([]traces.Attribute(nil), a.AsMap()...), append([]traces.Attribute(nil), b.AsMap()...)
		for _, l := range [][]traces.Attribute{x, y} {
			sort.SliceStable(l, func(i, j int) bool { return l[i].Key < l[j].Key })
		}
		return cmp.Equal(x, y, cmpopts.EquateEmpty(), cmp.Comparer(equalAttributes), cmp.Comparer(equalValues))
	default:
		return a.AsString() == b.AsString() && a.AsBool() == b.AsBool() && a.AsInt() == b.AsInt() && a.AsBytes() == b.AsBytes()
	}
}

// read reads a file's content, which must be in order.
func read(tb testing.TB, data []byte, opts ...tracefile.Option) ([]*traces.Span, tracefile.Report) {
	tb.Helper()
	r := tracefile.NewReader(bytes.NewReader(data), opts...)
	spans, err := r.All()
	if err != nil {
		tb.Fatalf("read %.200q: %v", data, err)
	}
	return spans, r.Report()
}

// skipped is a report's list as text.
func skipped(r tracefile.Report) string {
	var b strings.Builder
	for _, s := range r.Skipped {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

func pcommonTime(i int) pcommon.Timestamp { return 1_700_000_000_000_000_000 + pcommon.Timestamp(i) }

func must[T any](tb testing.TB) func(v T, err error) T {
	tb.Helper()
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}
