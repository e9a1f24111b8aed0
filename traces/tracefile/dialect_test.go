package tracefile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

func file(t *testing.T, name string) []byte {
	t.Helper()
	return must[[]byte](t)(os.ReadFile("testdata/" + name))
}

func kv(key string, v traces.Value) traces.Attribute { return traces.Attribute{Key: key, Value: v} }

func str(key, v string) traces.Attribute { return kv(key, traces.String(v)) }

// jaeger-1.60.jaeger.json is sample.otlp.jsonl through the Collector's
// translator and Jaeger 1.60's own model/converter/json.
func TestJaeger(t *testing.T) {
	t.Parallel()
	want, _ := read(t, file(t, "sample.otlp.jsonl"))
	data := file(t, "jaeger-1.60.jaeger.json")
	var doc struct{ Data []json.RawMessage }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	forms := map[string][]byte{
		"download":    data,
		"one trace":   doc.Data[0],
		"data object": []byte(`{"data":` + string(doc.Data[0]) + `}`),
		"array":       []byte(`[` + string(doc.Data[0]) + `]`),
		"short ids":   bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(`"0000000000000001`), []byte(`"1`)), []byte(`"000000000000ab01"`), []byte(`"ab01"`)),
	}
	for name, data := range forms {
		got, report := read(t, data)
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if report.Total != 0 || report.Files[0].Format != tracefile.Jaeger {
			t.Errorf("%s: report = %+v", name, report)
		}
	}
}

// collector.zipkin.json is sample.otlp.jsonl through the Collector's Zipkin
// translator and openzipkin's model, which loses types, resource and case.
func TestZipkin(t *testing.T) {
	t.Parallel()
	want, _ := read(t, file(t, "sample.otlp.jsonl"))
	shop := &traces.Resource{Attributes: []traces.Attribute{str("service.name", "shop")}}
	for _, sp := range want {
		sp.Resource = shop
		sp.Name = strings.ToLower(sp.Name)
		for i, a := range sp.Attributes {
			switch a.Key {
			case "http.response.status_code":
				sp.Attributes[i] = str(a.Key, "500")
				sp.Attributes = append(sp.Attributes, str("http.status_code", "500")) // openzipkin adds it
			case "cached":
				sp.Attributes[i] = str(a.Key, "false")
			case "ratio":
				sp.Attributes[i] = str(a.Key, "0.25")
			case "raw":
				sp.Attributes[i] = str(a.Key, "AP8=")
			}
		}
		sp.Attributes = append(sp.Attributes, str("host.name", "web-7"))
	}
	got, report := read(t, file(t, "collector.zipkin.json"))
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if report.Total != 0 || report.Files[0].Format != tracefile.Zipkin {
		t.Errorf("report = %+v", report)
	}
}

func TestZipkinShared(t *testing.T) {
	t.Parallel()
	got, report := read(t, file(t, "zipkin-shared-handtyped.json"))
	tid := traces.TraceID{8: 0x5a, 0xf7, 0x18, 0x3f, 0xb1, 0xd4, 0xcf, 0x5f}
	long := tid
	long[7] = 10
	id := traces.SpanID{0x35, 0x2b, 0xff, 0x9a, 0x74, 0xca, 0x9a, 0xd2}
	service := func(name string) *traces.Resource {
		return &traces.Resource{Attributes: []traces.Attribute{str("service.name", name)}}
	}
	const start = 1_700_000_000_000_000_000
	want := []*traces.Span{
		{
			TraceID: tid, SpanID: id, Name: "get", Kind: traces.KindClient, StartUnixNano: start, EndUnixNano: start + 20_000,
			Attributes: []traces.Attribute{
				str("peer.service", "api"), str("network.peer.address", "::1"), kv("network.peer.port", traces.Int(9000)),
				kv("zipkin.debug", traces.Bool(true)), str("network.local.address", "10.0.0.1"), kv("network.local.port", traces.Int(8080)),
			},
			Resource: service("web"), Scope: &traces.Scope{},
		},
		{
			TraceID: tid, SpanID: id, Name: "get", Kind: traces.KindServer, StartUnixNano: start + 5000, EndUnixNano: start + 15_000,
			Attributes: []traces.Attribute{kv("zipkin.shared", traces.Bool(true)), str("error", "boom")},
			Events:     []traces.Event{{Name: "ws", TimeUnixNano: start + 6000}},
			Status:     traces.Status{Code: traces.StatusError},
			Resource:   service("api"), Scope: &traces.Scope{},
		},
		{
			TraceID: long, SpanID: traces.SpanID{7: 1}, ParentID: id, Kind: traces.KindInternal,
			Resource: &traces.Resource{}, Scope: &traces.Scope{},
		},
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if report.Total != 0 {
		t.Errorf("skipped:\n%s", skipped(report))
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	data := file(t, "python-handtyped.jsonl")
	start := uint64(time.Date(2026, 11, 30, 8, 50, 55, 726_236_000, time.UTC).UnixNano())
	tid := traces.TraceID{0x92, 0x57, 0x1a, 0x7a, 0xa6, 0x4e, 0x3c, 0x41, 0x8d, 0xca, 0x90, 0xf1, 0x3e, 0x46, 0x1d, 0x6f}
	parent := traces.SpanID{0xb3, 0x39, 0xed, 0x01, 0xe9, 0x9c, 0x00, 0xb6}
	want := []*traces.Span{
		{
			TraceID: tid, SpanID: parent, TraceState: "a=1,b=2", Name: "GET /", Kind: traces.KindServer,
			StartUnixNano: start, EndUnixNano: start + 58_000, Status: traces.Status{Code: traces.StatusOK},
			Attributes: []traces.Attribute{
				str("http.method", "GET"), str("http.target", "/"), kv("http.status_code", traces.Int(200)),
				kv("ratio", traces.Double(1)), kv("on", traces.Bool(true)), kv("list", traces.Array(traces.String("a"), traces.String("b"))),
			},
			Events:   []traces.Event{{Name: "e", TimeUnixNano: start + 28_000, Attributes: []traces.Attribute{kv("k", traces.Int(1))}}},
			Links:    []traces.Link{{TraceID: traces.TraceID{15: 1}, SpanID: traces.SpanID{7: 2}}},
			Resource: &traces.Resource{Attributes: []traces.Attribute{str("service.name", "marimo")}}, Scope: &traces.Scope{},
		},
		{
			TraceID: tid, SpanID: traces.SpanID{7: 0xb7}, ParentID: parent, Name: "old release", Kind: traces.KindInternal,
			Resource: &traces.Resource{}, Scope: &traces.Scope{},
		},
	}
	var indented bytes.Buffer // as to_json() writes it by default
	for line := range bytes.Lines(data) {
		if err := json.Indent(&indented, bytes.TrimSpace(line), "", "    "); err != nil {
			t.Fatal(err)
		}
		indented.WriteByte('\n')
	}
	for name, data := range map[string][]byte{"lines": data, "indent=4": indented.Bytes()} {
		got, report := read(t, data)
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if report.Total != 0 || report.Files[0].Format != tracefile.Python {
			t.Errorf("%s: report = %+v", name, report)
		}
	}
}

// TestTimesOutOfRange are not known, instead of wrong.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		"0001-01-01T00:00:00Z": 0, "1969-12-31T23:59:59Z": 0, "1970-01-01T00:00:01.5Z": 1_500_000_000,
		"2262-01-01T00:00:00Z": 9_214_646_400_000_000_000, "2263-01-01T00:00:00Z": 0, "9999-12-31T23:59:59Z": 0,
	} {
		got, _ := read(t, []byte(`{"name":"a","context":{"trace_id":"0x1","span_id":"0x2"},"kind":"SpanKind.SERVER","start_time":"`+text+`"}`))
		if got[0].StartUnixNano != want {
			t.Errorf("%s is %d, want %d", text, got[0].StartUnixNano, want)
		}
	}
}

// Trap: the numbers of BuildKit's status are Go's, 1 for Error and 2 for Ok.
func TestBuildKit(t *testing.T) {
	t.Parallel()
	got, report := read(t, file(t, "buildkit-handtyped.json"))
	if len(got) != 2 || report.Total != 0 {
		t.Fatalf("read %d spans, skipped:\n%s", len(got), skipped(report))
	}
	if want := (traces.Status{Code: traces.StatusError, Message: "exit code 1"}); got[0].Status != want {
		t.Errorf("status 1 = %+v, want %+v", got[0].Status, want)
	}
	if got[1].Status.Code != traces.StatusOK {
		t.Errorf("status 2 = %+v, want OK", got[1].Status)
	}
	if n := got[0].Attributes[1].Value.AsInt(); n != 9007199254740993 {
		t.Errorf("int64 above 2^53 = %d", n)
	}
	if got[1].StartUnixNano != 0 || got[0].EndUnixNano-got[0].StartUnixNano != 999_999_999 {
		t.Errorf("times = %d, %d", got[1].StartUnixNano, got[0].EndUnixNano-got[0].StartUnixNano)
	}
	if got[0].Flags != 0x301 || got[1].Flags != 0x101 || got[0].Scope.Name != "buildkit" || got[0].Scope != got[1].Scope {
		t.Errorf("flags %#x, %#x, scopes %+v, %+v", got[0].Flags, got[1].Flags, got[0].Scope, got[1].Scope)
	}
}

func TestStdouttrace(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]stdouttrace.Option{
		"lines": nil, "pretty": {stdouttrace.WithPrettyPrint()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var buf bytes.Buffer
			exp := must[*stdouttrace.Exporter](t)(stdouttrace.New(append(opts, stdouttrace.WithWriter(&buf))...))
			start := time.Unix(1_700_000_000, 123_456_789)
			want := makeSpans(t, exp, start)
			got, report := read(t, buf.Bytes())
			if d := diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if report.Total != 0 || report.Files[0].Format != tracefile.GoStdout {
				t.Errorf("report = %+v, skipped:\n%s", report, skipped(report))
			}
		})
	}
}

// makeSpans exports two spans with the SDK and returns what they are.
func makeSpans(t *testing.T, exp sdktrace.SpanExporter, start time.Time) []*traces.Span {
	t.Helper()
	res := resource.NewSchemaless(attribute.String("service.name", "shop"))
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exp), sdktrace.WithResource(res))
	tr := tp.Tracer("web", trace.WithInstrumentationVersion("1.2"), trace.WithSchemaURL("https://example.com/s"),
		trace.WithInstrumentationAttributes(attribute.Bool("beta", true)))
	remote := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true,
	})
	attrs := []attribute.KeyValue{
		attribute.String("s", "a\"b"), attribute.Bool("b", true), attribute.Int64("i", 1<<53+1), attribute.Float64("f", 3),
		attribute.StringSlice("ss", []string{"x", "y"}), attribute.Int64Slice("is", []int64{1, -2}),
		attribute.BoolSlice("bs", []bool{true}), attribute.Float64Slice("fs", []float64{1, 0.5}),
		{Key: "bytes", Value: attribute.ByteSliceValue([]byte{0, 255})},
		{Key: "map", Value: attribute.MapValue(attribute.Int("n", 1))},
		{Key: "slice", Value: attribute.SliceValue(attribute.IntValue(1), attribute.StringValue("x"))},
		{Key: "none"},
	}
	ctx, root := tr.Start(trace.ContextWithRemoteSpanContext(context.Background(), remote), "root",
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start), trace.WithAttributes(attrs...))
	_, child := tr.Start(ctx, "child", trace.WithTimestamp(start.Add(1)), trace.WithLinks(trace.Link{
		SpanContext: remote, Attributes: []attribute.KeyValue{attribute.String("why", "x")},
	}))
	child.AddEvent("e", trace.WithTimestamp(start.Add(2)), trace.WithAttributes(attribute.Int("k", 1)))
	child.SetStatus(codes.Error, "no")
	child.End(trace.WithTimestamp(start.Add(3)))
	root.SetStatus(codes.Ok, "")
	root.End(trace.WithTimestamp(start.Add(4)))
	if err := tp.Shutdown(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	ns := uint64(start.UnixNano())
	shop := &traces.Resource{Attributes: []traces.Attribute{str("service.name", "shop")}}
	web := &traces.Scope{
		Name: "web", Version: "1.2", SchemaURL: "https://example.com/s",
		Attributes: []traces.Attribute{kv("beta", traces.Bool(true))},
	}
	return []*traces.Span{
		{
			TraceID: traces.TraceID{1}, SpanID: traces.SpanID(child.SpanContext().SpanID()), ParentID: traces.SpanID(root.SpanContext().SpanID()),
			Flags: 0x101, Name: "child", Kind: traces.KindInternal, StartUnixNano: ns + 1, EndUnixNano: ns + 3,
			Events: []traces.Event{{Name: "e", TimeUnixNano: ns + 2, Attributes: []traces.Attribute{kv("k", traces.Int(1))}}},
			Links: []traces.Link{{
				TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Flags: 0x301,
				Attributes: []traces.Attribute{str("why", "x")},
			}},
			Status: traces.Status{Code: traces.StatusError, Message: "no"}, Resource: shop, Scope: web,
		},
		{
			TraceID: traces.TraceID{1}, SpanID: traces.SpanID(root.SpanContext().SpanID()), ParentID: traces.SpanID{2},
			Flags: 0x301, Name: "root", Kind: traces.KindServer, StartUnixNano: ns, EndUnixNano: ns + 4,
			Attributes: []traces.Attribute{
				str("s", "a\"b"), kv("b", traces.Bool(true)), kv("i", traces.Int(1<<53+1)), kv("f", traces.Double(3)),
				kv("ss", traces.Array(traces.String("x"), traces.String("y"))), kv("is", traces.Array(traces.Int(1), traces.Int(-2))),
				kv("bs", traces.Array(traces.Bool(true))), kv("fs", traces.Array(traces.Double(1), traces.Double(0.5))),
				kv("bytes", traces.Bytes([]byte{0, 255})), kv("map", traces.Map(kv("n", traces.Int(1)))),
				kv("slice", traces.Array(traces.Int(1), traces.String("x"))), kv("none", traces.Value{}),
			},
			Status: traces.Status{Code: traces.StatusOK}, Resource: shop, Scope: web,
		},
	}
}
