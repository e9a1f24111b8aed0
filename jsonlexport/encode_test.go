package jsonlexport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// encoded is what an exporter writes for the spans.
func encoded(t *testing.T, stubs []tracetest.SpanStub, opts ...jsonlexport.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	e := jsonlexport.NewWriter(&out, opts...)
	if err := e.ExportSpans(soon(t), tracetest.SpanStubs(stubs).Snapshots()); err != nil {
		t.Fatal(err)
	}
	if err := e.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkMeaning compares the line of one span with its input, through two
// decoders that know nothing of ours, and the protobuf that exporters send of it.
func checkMeaning(t *testing.T, s *tracetest.SpanStub) {
	t.Helper()
	data := encoded(t, []tracetest.SpanStub{*s})
	if !utf8.Valid(data) || !json.Valid(data) || bytes.Count(data, []byte{'\n'}) != 1 {
		t.Fatalf("not one line of JSON in UTF-8: %q", data)
	}
	if bytes.Contains(data, []byte(`\u003c`)) || bytes.Contains(data, []byte(`\u0026`)) {
		t.Errorf("HTML-escaped: %s", data)
	}
	want := []model{wantModel(s)}
	opts := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, pdataModels(t, data), opts); diff != "" {
		t.Errorf("pdata reads (-input +read):\n%s\n%q", diff, data)
	}
	if diff := cmp.Diff(want, protoModels(t, data), opts); diff != "" {
		t.Errorf("protojson reads (-input +read):\n%s\n%q", diff, data)
	}
	if diff := cmp.Diff(want, protobufModels(t, s), opts); diff != "" {
		t.Errorf("pdata reads of protobuf (-input +read):\n%s", diff)
	}
}

func oneStub(name string) []tracetest.SpanStub { return []tracetest.SpanStub{stub(name)} }

func span(change func(*tracetest.SpanStub)) tracetest.SpanStub {
	s := tracetest.SpanStub{
		Name: "s", SpanContext: spanContext(0xab, 0xcd), StartTime: testStart, EndTime: testStart.Add(time.Second),
		Resource: resource.Empty(),
	}
	change(&s)
	return s
}

func attributes(kvs ...attribute.KeyValue) tracetest.SpanStub {
	return span(func(s *tracetest.SpanStub) { s.Attributes = kvs })
}

func mustTraceState(s string) trace.TraceState {
	ts, err := trace.ParseTraceState(s)
	if err != nil {
		panic(err)
	}
	return ts
}

func encodeCases() map[string]tracetest.SpanStub {
	remote := func(id byte) trace.SpanContext {
		return spanContext(id, id).WithRemote(true).WithTraceState(mustTraceState("vendor=1,other=two"))
	}
	return map[string]tracetest.SpanStub{
		"server": stub("GET /"),
		"bare":   span(func(s *tracetest.SpanStub) { s.Name = "" }),
		"scalars": attributes(
			attribute.Bool("t", true), attribute.Bool("f", false),
			attribute.Int64("min", math.MinInt64), attribute.Int64("max", math.MaxInt64), attribute.Int64("beyond_float", 1<<53+1),
			attribute.String("s", "text"), attribute.String("none", ""), attribute.String("", "no key"),
		),
		"doubles": attributes(
			attribute.Float64("nan", math.NaN()), attribute.Float64("inf", math.Inf(1)), attribute.Float64("-inf", math.Inf(-1)),
			attribute.Float64("zero", 0), attribute.Float64("-zero", math.Copysign(0, -1)), attribute.Float64("one", 1),
			attribute.Float64("max", math.MaxFloat64), attribute.Float64("min", math.SmallestNonzeroFloat64),
			attribute.Float64("tenth", 0.1), attribute.Float64("big", 1e21), attribute.Float64("small", 1e-7),
		),
		"strings": attributes(
			attribute.String("escapes", "\"\\/\b\f\n\r\t\x00\x1f\x7f"), attribute.String("html", "<a href='x'>&amp;</a>"),
			attribute.String("unicode", "grüße, 世界 🌍 \u2028\u2029"), attribute.String("invalid", "a\xff\xfeb\xed\xa0\x80c\xc3"),
			attribute.String("late", "0123456789abcdef\"0123456789abcdef\xff"), attribute.String("clé\n\"", "key"),
			attribute.String("replacement", "\ufffd"),
		),
		"slices": attributes(
			attribute.StringSlice("s", []string{"a", "\"b\"", "\xff"}), attribute.IntSlice("i", []int{1, -2}),
			attribute.Float64Slice("d", []float64{1.5, math.Inf(1)}), attribute.BoolSlice("b", []bool{true, false}),
			attribute.StringSlice("none", nil), attribute.Int64Slice("six", []int64{1, 2, 3, 4, 5, 6}),
		),
		"nested": attributes(
			attribute.KeyValue{Key: "empty"},
			attribute.KeyValue{Key: "bytes", Value: attribute.ByteSliceValue([]byte{0, 1, 254, 255})},
			attribute.KeyValue{Key: "no_bytes", Value: attribute.ByteSliceValue(nil)},
			attribute.KeyValue{Key: "list", Value: attribute.SliceValue(attribute.StringValue("x"), attribute.IntValue(1), attribute.Value{}, attribute.SliceValue())},
			attribute.KeyValue{Key: "map", Value: attribute.MapValue(
				attribute.String("k", "v"), attribute.KeyValue{Key: "deep", Value: attribute.MapValue(attribute.Bool("b", true))},
			)},
			attribute.KeyValue{Key: "no_map", Value: attribute.MapValue()},
		),
		"context": span(func(s *tracetest.SpanStub) {
			s.SpanContext = s.SpanContext.WithTraceState(mustTraceState("vendor=1")).WithTraceFlags(3)
			s.Parent = remote(9)
			s.SpanKind = trace.SpanKindConsumer
			s.Links = []sdktrace.Link{
				{SpanContext: remote(7), Attributes: []attribute.KeyValue{attribute.String("why", "batch")}, DroppedAttributeCount: 4},
				{SpanContext: spanContext(8, 8).WithTraceFlags(0)},
			}
		}),
		"links_without_ids": span(func(s *tracetest.SpanStub) {
			why := []attribute.KeyValue{attribute.String("why", "unknown")}
			s.Links = []sdktrace.Link{
				{Attributes: why},
				{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}}), Attributes: why},
				{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{SpanID: trace.SpanID{2}}), Attributes: why},
			}
		}),
		"events": span(func(s *tracetest.SpanStub) {
			s.Status = sdktrace.Status{Code: codes.Error, Description: "bröken \"pipe\""}
			s.Events = []sdktrace.Event{
				{Name: "exception", Time: testStart, Attributes: []attribute.KeyValue{attribute.String("exception.type", "*errors.errorString")}, DroppedAttributeCount: 1},
				{Time: time.Time{}},
			}
			s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks = 1, math.MaxInt32, 3
		}),
		"times": span(func(s *tracetest.SpanStub) {
			s.StartTime, s.EndTime = time.Time{}, time.Unix(-5, 0)
		}),
		"scope": span(func(s *tracetest.SpanStub) {
			s.InstrumentationScope = instrumentation.Scope{
				Name: "näme", Version: "v\"1\"", SchemaURL: "https://example.com/scope",
				Attributes: attribute.NewSet(attribute.String("a", "b"), attribute.Int("n", 1)),
			}
			s.Resource = resource.NewWithAttributes("https://example.com/resource", attribute.String("service.name", "<shop>"))
		}),
	}
}

func TestEncodeMeansTheInput(t *testing.T) {
	t.Parallel()
	for name, s := range encodeCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMeaning(t, &s)
		})
	}
}

// The golden files pin the bytes; UPDATE=1 rewrites them.
func TestEncodeGolden(t *testing.T) {
	t.Parallel()
	for name, s := range encodeCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "encode", name+".txtar")
			got := encoded(t, []tracetest.SpanStub{s})
			if os.Getenv("UPDATE") != "" {
				archive := txtar.Archive{
					Comment: []byte("The line of the case " + name + " in encodeCases.\n"),
					Files:   []txtar.File{{Name: "spans.jsonl", Data: got}},
				}
				if err := os.WriteFile(path, txtar.Format(&archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(archive.Files[0].Data), string(got)); diff != "" {
				t.Errorf("(-golden +got):\n%s", diff)
			}
		})
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("GET /", "http.route", "/a/{b}", int64(200), 0.5, []byte("x"), uint8(1), int64(1_700_000_000_000_000_000), 0)
	f.Add("\xff\x00\"", "", "\u2028\\<&>", int64(math.MinInt64), math.Inf(-1), []byte(nil), uint8(255), int64(-1), -1)
	f.Add("世界🌍", "k\n", "12345678\x1f", int64(0), math.NaN(), []byte{0xff, 0xfe}, uint8(2), int64(math.MaxInt64), 7)
	f.Fuzz(func(t *testing.T, name, key, text string, i int64, d float64, raw []byte, flags uint8, nanos int64, n int) {
		kvs := []attribute.KeyValue{
			attribute.String(key, text), attribute.Int64("i", i), attribute.Float64("d", d), attribute.Bool("b", i&1 == 0),
			{Key: "raw", Value: attribute.ByteSliceValue(raw)},
			attribute.StringSlice("ss", []string{name, text, key}),
			attribute.Float64Slice("ds", []float64{d, -d, d * 1e300}),
			{Key: "m", Value: attribute.MapValue(attribute.String(key, text), attribute.Int64(text, i))},
			{Key: "l", Value: attribute.SliceValue(attribute.StringValue(text), attribute.Float64Value(d), attribute.Value{})},
		}
		code := codes.Code(uint(n) % 3)
		s := tracetest.SpanStub{
			Name: name, SpanContext: spanContext(1, 2).WithTraceFlags(trace.TraceFlags(flags)),
			Parent:   spanContext(1, flags).WithRemote(flags&2 != 0),
			SpanKind: trace.SpanKind(flags % 6), StartTime: time.Unix(0, nanos), EndTime: time.Unix(0, nanos/2),
			Attributes: kvs, DroppedAttributes: int(flags),
			Events:   []sdktrace.Event{{Name: text, Time: time.Unix(0, i), Attributes: kvs[:1]}},
			Links:    []sdktrace.Link{{SpanContext: spanContext(flags, flags), Attributes: kvs[:2]}},
			Status:   sdktrace.Status{Code: code, Description: text},
			Resource: resource.NewWithAttributes(text, kvs[1]),
			InstrumentationScope: instrumentation.Scope{
				Name: name, Version: key, SchemaURL: text, Attributes: attribute.NewSet(kvs[0]),
			},
		}
		checkMeaning(t, &s)
	})
}

func TestTooDeepAndTooFarAreCut(t *testing.T) {
	t.Parallel()
	v := attribute.StringValue("bottom")
	for range 10_000 {
		v = attribute.SliceValue(v)
	}
	s := attributes(attribute.KeyValue{Key: "deep", Value: v})
	s.EndTime = time.Date(9999, 1, 1, 0, 0, 0, 999_999_999, time.UTC)
	s.SpanKind, s.DroppedLinks = 77, math.MinInt
	data := encoded(t, []tracetest.SpanStub{s})
	for _, models := range [][]model{pdataModels(t, data), protoModels(t, data)} {
		m := models[0]
		if m.End != math.MaxInt64 || m.Kind != 0 || m.DroppedLinks != 0 {
			t.Errorf("end %d, kind %d, dropped links %d, want the largest time and zeros", m.End, m.Kind, m.DroppedLinks)
		}
	}
	if !strings.Contains(string(data), "(nested too deep)") {
		t.Errorf("the value is not cut: %.200s", data)
	}
}

func TestTransform(t *testing.T) {
	t.Parallel()
	secret := attribute.String("password", "hunter2")
	boom := attribute.String("boom", "hunter2")
	s := stub("s")
	s.Attributes = []attribute.KeyValue{secret, boom, attribute.String("kept", "yes")}
	s.Events = []sdktrace.Event{{Name: "e", Attributes: []attribute.KeyValue{secret, attribute.Int("kept", 1)}}}
	s.Links = []sdktrace.Link{{SpanContext: spanContext(3, 3), Attributes: []attribute.KeyValue{boom}}}
	s.Resource = resource.NewSchemaless(secret, attribute.String("service.name", "shop"))
	s.InstrumentationScope.Attributes = attribute.NewSet(secret, boom)
	data := encoded(t, []tracetest.SpanStub{s}, jsonlexport.WithTransform(
		func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			switch kv.Key {
			case "password":
				return kv, false
			case "boom":
				panic("boom")
			case "service.name":
				return attribute.String("service.name", "masked"), true
			}
			return kv, true
		}))
	if bytes.Contains(data, []byte("hunter2")) {
		t.Errorf("a hidden value is in %s", data)
	}
	m := pdataModels(t, data)[0]
	if diff := cmp.Diff([]kv{{"kept", "yes"}}, m.Attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kv{{"kept", int64(1)}}, m.Events[0].Attributes); diff != "" {
		t.Errorf("event attributes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kv{{"service.name", "masked"}}, m.Resource); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if len(m.Scope) != 0 || len(m.Links[0].Attributes) != 0 {
		t.Errorf("scope %v, link %v, want nothing left", m.Scope, m.Links[0].Attributes)
	}
}

// A span that takes a panic to read is counted, and hurts nobody.
func TestSpanThatPanicsIsCounted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := jsonlexport.NewWriter(&out)
	bad := sampledOnly{ReadOnlySpan: stub("bad").Snapshot()}
	e.OnEnd(bad)
	if err := e.ExportSpans(context.Background(), []sdktrace.ReadOnlySpan{bad, nil, stub("good").Snapshot()}); err == nil {
		t.Error("ExportSpans: no error for a span that cannot be encoded")
	}
	e.OnEnd(nil)
	if err := e.Shutdown(soon(t)); err == nil {
		t.Error("Shutdown: no error though spans were lost")
	}
	want := jsonlexport.Stats{Ended: 3, Exported: 1, Failed: 2}
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	if got := len(pdataModels(t, out.Bytes())); got != 1 {
		t.Errorf("%d spans written, want 1", got)
	}
}

type sampledOnly struct{ sdktrace.ReadOnlySpan }

func (sampledOnly) Attributes() []attribute.KeyValue { panic("out of order") }
