package jsonlexport_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// The oracle's model of one span with its resource and scope. A value is nil,
// bool, int64, float64, string, []byte, []any or []kv.
type (
	kv struct {
		Key   string
		Value any
	}
	point struct { // an event or a link
		TraceID, SpanID, TraceState, Name string
		Flags                             uint32
		Time                              uint64
		Attributes                        []kv
		Dropped                           uint32
	}
	model struct {
		Resource, Scope                             []kv
		ResourceURL, ScopeName, ScopeVersion, URL   string
		TraceID, SpanID, ParentID, TraceState, Name string
		Flags                                       uint32
		Kind, Code                                  int
		Start, End                                  uint64
		Attributes                                  []kv
		Events, Links                               []point
		DroppedAttributes, DroppedEvents            uint32
		DroppedLinks                                uint32
		Message                                     string
	}
)

// wantModel is what the input means, by the OTLP specification.
func wantModel(s *tracetest.SpanStub) model {
	m := model{
		ScopeName: utf8Of(s.InstrumentationScope.Name), ScopeVersion: utf8Of(s.InstrumentationScope.Version),
		URL: utf8Of(s.InstrumentationScope.SchemaURL), Scope: wantKVs(s.InstrumentationScope.Attributes.ToSlice()),
		Resource: wantKVs(s.Resource.Attributes()), ResourceURL: utf8Of(s.Resource.SchemaURL()),
		TraceID: s.SpanContext.TraceID().String(), SpanID: s.SpanContext.SpanID().String(),
		TraceState: s.SpanContext.TraceState().String(), Name: utf8Of(s.Name),
		ParentID: wantID(s.Parent.SpanID()),
		Flags:    wantFlags(s.SpanContext, s.Parent), Kind: int(s.SpanKind),
		Start: wantTime(s.StartTime), End: wantTime(s.EndTime),
		Attributes:        wantKVs(s.Attributes),
		DroppedAttributes: uint32(max(s.DroppedAttributes, 0)),
		DroppedEvents:     uint32(max(s.DroppedEvents, 0)), DroppedLinks: uint32(max(s.DroppedLinks, 0)),
		Message: utf8Of(s.Status.Description),
	}
	m.Code = map[codes.Code]int{codes.Unset: 0, codes.Ok: 1, codes.Error: 2}[s.Status.Code]
	for _, e := range s.Events {
		m.Events = append(m.Events, point{Name: utf8Of(e.Name), Time: wantTime(e.Time), Attributes: wantKVs(e.Attributes), Dropped: uint32(e.DroppedAttributeCount)})
	}
	for _, l := range s.Links {
		m.Links = append(m.Links, point{
			TraceID: wantID(l.SpanContext.TraceID()), SpanID: wantID(l.SpanContext.SpanID()), TraceState: l.SpanContext.TraceState().String(),
			Flags: wantFlags(l.SpanContext, l.SpanContext), Attributes: wantKVs(l.Attributes), Dropped: uint32(l.DroppedAttributeCount),
		})
	}
	return m
}

// wantID is an ID in hex; one of zeros is none.
func wantID(id interface {
	IsValid() bool
	String() string
},
) string {
	if !id.IsValid() {
		return ""
	}
	return id.String()
}

// utf8Of replaces each byte that is not UTF-8, as a conversion to runes does.
func utf8Of(s string) string { return string([]rune(s)) }

func wantFlags(sc, remote trace.SpanContext) uint32 {
	if remote.IsRemote() {
		return uint32(sc.TraceFlags()) | 0x300
	}
	return uint32(sc.TraceFlags()) | 0x100
}

func wantTime(t time.Time) uint64 {
	if t.Before(time.Unix(0, 0)) {
		return 0
	}
	return uint64(t.UnixNano())
}

func wantKVs(kvs []attribute.KeyValue) (out []kv) {
	for _, a := range kvs {
		out = append(out, kv{utf8Of(string(a.Key)), wantValue(a.Value)})
	}
	return out
}

func wantValue(v attribute.Value) any {
	switch v.Type() {
	case attribute.STRING:
		return utf8Of(v.AsString())
	case attribute.STRINGSLICE:
		return anys(v.AsStringSlice(), func(s string) any { return utf8Of(s) })
	case attribute.BOOLSLICE:
		return anys(v.AsBoolSlice(), func(x bool) any { return x })
	case attribute.INT64SLICE:
		return anys(v.AsInt64Slice(), func(x int64) any { return x })
	case attribute.FLOAT64SLICE:
		return anys(v.AsFloat64Slice(), func(x float64) any { return x })
	case attribute.SLICE:
		return anys(v.AsSlice(), wantValue)
	case attribute.MAP:
		return wantKVs(v.AsMap())
	case attribute.BOOL, attribute.INT64, attribute.FLOAT64, attribute.BYTESLICE, attribute.EMPTY:
		return v.AsInterface()
	}
	panic(v.Type())
}

func anys[T any](vs []T, f func(T) any) []any {
	out := []any{}
	for _, v := range vs {
		out = append(out, f(v))
	}
	return out
}

// pdataModels reads lines with the Collector's decoder.
func pdataModels(t *testing.T, data []byte) (models []model) {
	t.Helper()
	for _, traces := range decodeLines(t, data) {
		models = append(models, modelsOf(traces)...)
	}
	return models
}

func modelsOf(traces ptrace.Traces) (models []model) {
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				m := pdataSpan(s)
				m.Resource, m.ResourceURL = pdataKVs(rs.Resource().Attributes()), rs.SchemaUrl()
				m.Scope, m.URL = pdataKVs(ss.Scope().Attributes()), ss.SchemaUrl()
				m.ScopeName, m.ScopeVersion = ss.Scope().Name(), ss.Scope().Version()
				models = append(models, m)
			}
		}
	}
	return models
}

// protobufModels reads the spans as the OTLP exporters send them, with the Collector's
// decoder.
func protobufModels(t *testing.T, s *tracetest.SpanStub) (models []model) {
	t.Helper()
	request := sdkotlp.AppendProtoRequest(nil, []sdktrace.ReadOnlySpan{s.Snapshot()})
	if err := proto.Unmarshal(request, &tracepb.TracesData{}); err != nil {
		t.Fatalf("protobuf: %v", err) // of what is not UTF-8, which pdata takes
	}
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(request)
	if err != nil {
		t.Fatalf("protobuf: %v", err)
	}
	return modelsOf(traces)
}

func pdataSpan(s ptrace.Span) model {
	m := model{
		TraceID: s.TraceID().String(), SpanID: s.SpanID().String(), ParentID: s.ParentSpanID().String(),
		TraceState: s.TraceState().AsRaw(), Name: s.Name(), Flags: s.Flags(), Kind: int(s.Kind()),
		Code: int(s.Status().Code()), Message: s.Status().Message(),
		Start: uint64(s.StartTimestamp()), End: uint64(s.EndTimestamp()), Attributes: pdataKVs(s.Attributes()),
		DroppedAttributes: s.DroppedAttributesCount(), DroppedEvents: s.DroppedEventsCount(), DroppedLinks: s.DroppedLinksCount(),
	}
	for _, e := range s.Events().All() {
		m.Events = append(m.Events, point{Name: e.Name(), Time: uint64(e.Timestamp()), Attributes: pdataKVs(e.Attributes()), Dropped: e.DroppedAttributesCount()})
	}
	for _, l := range s.Links().All() {
		m.Links = append(m.Links, point{
			TraceID: l.TraceID().String(), SpanID: l.SpanID().String(), TraceState: l.TraceState().AsRaw(),
			Flags: l.Flags(), Attributes: pdataKVs(l.Attributes()), Dropped: l.DroppedAttributesCount(),
		})
	}
	return m
}

func pdataKVs(m pcommon.Map) (out []kv) {
	for k, v := range m.All() {
		out = append(out, kv{k, pdataValue(v)})
	}
	return out
}

func pdataValue(v pcommon.Value) any {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return nil
	case pcommon.ValueTypeStr:
		return v.Str()
	case pcommon.ValueTypeBool:
		return v.Bool()
	case pcommon.ValueTypeInt:
		return v.Int()
	case pcommon.ValueTypeDouble:
		return v.Double()
	case pcommon.ValueTypeBytes:
		return v.Bytes().AsRaw()
	case pcommon.ValueTypeMap:
		return pdataKVs(v.Map())
	case pcommon.ValueTypeSlice:
		out := []any{}
		for _, member := range v.Slice().All() {
			out = append(out, pdataValue(member))
		}
		return out
	}
	panic(v.Type())
}

// protoModels reads lines with protojson. OTLP/JSON differs from it in that ids
// are hex, so they are rewritten first; enums as integers it takes as they are.
func protoModels(t *testing.T, data []byte) (models []model) {
	t.Helper()
	for line := range bytes.Lines(data) {
		var doc any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatalf("encoding/json: %v\n%q", err, line)
		}
		rewriteIDs(t, doc)
		fixed, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var traces tracepb.TracesData
		if err := protojson.Unmarshal(fixed, &traces); err != nil {
			t.Fatalf("protojson: %v\n%q", err, line)
		}
		for _, rs := range traces.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					m := protoSpan(s)
					m.Resource, m.ResourceURL = protoKVs(rs.GetResource().GetAttributes()), rs.GetSchemaUrl()
					m.Scope, m.URL = protoKVs(ss.GetScope().GetAttributes()), ss.GetSchemaUrl()
					m.ScopeName, m.ScopeVersion = ss.GetScope().GetName(), ss.GetScope().GetVersion()
					models = append(models, m)
				}
			}
		}
	}
	return models
}

func rewriteIDs(t *testing.T, node any) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for _, member := range node {
			rewriteIDs(t, member)
		}
	case map[string]any:
		for key, member := range node {
			id, ok := member.(string)
			if !ok || (key != "traceId" && key != "spanId" && key != "parentSpanId") {
				rewriteIDs(t, member)
				continue
			}
			raw, err := hex.DecodeString(id)
			if err != nil || id != hex.EncodeToString(raw) {
				t.Errorf("%s %q is not lower-case hex", key, id)
			}
			node[key] = base64.StdEncoding.EncodeToString(raw)
		}
	}
}

func protoSpan(s *tracepb.Span) model {
	m := model{
		TraceID: hex.EncodeToString(s.GetTraceId()), SpanID: hex.EncodeToString(s.GetSpanId()), ParentID: hex.EncodeToString(s.GetParentSpanId()),
		TraceState: s.GetTraceState(), Name: s.GetName(), Flags: s.GetFlags(), Kind: int(s.GetKind()),
		Code: int(s.GetStatus().GetCode()), Message: s.GetStatus().GetMessage(),
		Start: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(), Attributes: protoKVs(s.GetAttributes()),
		DroppedAttributes: s.GetDroppedAttributesCount(), DroppedEvents: s.GetDroppedEventsCount(), DroppedLinks: s.GetDroppedLinksCount(),
	}
	for _, e := range s.GetEvents() {
		m.Events = append(m.Events, point{Name: e.GetName(), Time: e.GetTimeUnixNano(), Attributes: protoKVs(e.GetAttributes()), Dropped: e.GetDroppedAttributesCount()})
	}
	for _, l := range s.GetLinks() {
		m.Links = append(m.Links, point{
			TraceID: hex.EncodeToString(l.GetTraceId()), SpanID: hex.EncodeToString(l.GetSpanId()), TraceState: l.GetTraceState(),
			Flags: l.GetFlags(), Attributes: protoKVs(l.GetAttributes()), Dropped: l.GetDroppedAttributesCount(),
		})
	}
	return m
}

func protoKVs(kvs []*commonpb.KeyValue) (out []kv) {
	for _, a := range kvs {
		out = append(out, kv{a.GetKey(), protoValue(a.GetValue())})
	}
	return out
}

func protoValue(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case nil:
		return nil
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BytesValue:
		return v.BytesValue
	case *commonpb.AnyValue_ArrayValue:
		return anys(v.ArrayValue.GetValues(), protoValue)
	case *commonpb.AnyValue_KvlistValue:
		return protoKVs(v.KvlistValue.GetValues())
	default:
		panic(fmt.Sprintf("%T", v))
	}
}
