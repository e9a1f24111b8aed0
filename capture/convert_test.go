package capture_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/jsonlexport"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// everyKind has one attribute of each kind, and the awkward values.
func everyKind() []attribute.KeyValue {
	deep := attribute.StringValue("bottom")
	for range 40 {
		deep = attribute.SliceValue(deep)
	}
	return []attribute.KeyValue{
		attribute.String("string", "日本 <b>&'\"\x00\n"),
		attribute.Bool("bool", true),
		attribute.Int64("int", math.MinInt64),
		attribute.Float64("float", 0.1),
		attribute.Float64("nan", math.NaN()),
		attribute.Float64("inf", math.Inf(-1)),
		attribute.StringSlice("strings", []string{"a", ""}),
		attribute.StringSlice("no strings", []string{}),
		attribute.BoolSlice("bools", []bool{true, false}),
		attribute.Int64Slice("ints", []int64{math.MaxInt64, 0}),
		attribute.Float64Slice("floats", []float64{1, math.Inf(1)}),
		{Key: "bytes", Value: attribute.ByteSliceValue([]byte{0, 255, 'A'})},
		{Key: "empty", Value: attribute.Value{}},
		{Key: "slice", Value: attribute.SliceValue(attribute.IntValue(1), attribute.StringValue("x"), attribute.Value{})},
		{Key: "map", Value: attribute.MapValue(attribute.Int("a", 1),
			attribute.KeyValue{Key: "b", Value: attribute.MapValue(attribute.Bool("c", true))})},
		{Key: "deep", Value: deep},
	}
}

// A span looks the same from a capture as from the span file.
func TestSameAsFile(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	jsonl := jsonlexport.NewWriter(&file)
	res := resource.NewWithAttributes("https://example.com/resource", attribute.String("service.name", "shop"), attribute.Int("n", 1))
	limits := sdktrace.NewSpanLimits()
	limits.EventCountLimit, limits.LinkCountLimit, limits.AttributeCountLimit = 3, 2, 20
	limits.AttributePerEventCountLimit, limits.AttributePerLinkCountLimit = 20, 1
	limits.AttributeValueDepthLimit = 100
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(jsonl), sdktrace.WithResource(res), sdktrace.WithRawSpanLimits(limits))
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	remote := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true,
	})
	captured, runErr := capture.Run(trace.ContextWithRemoteSpanContext(t.Context(), remote), "block", func(ctx context.Context) error {
		tracer := tp.Tracer("scope", trace.WithInstrumentationVersion("v1"), trace.WithSchemaURL("https://example.com/scope"),
			trace.WithInstrumentationAttributes(attribute.String("k", "v")))
		for kind := trace.SpanKindUnspecified; kind <= trace.SpanKindConsumer; kind++ {
			_, s := tracer.Start(ctx, "kind", trace.WithSpanKind(kind), trace.WithAttributes(everyKind()...))
			s.SetStatus(codes.Code(int(kind)%3), "message")
			s.AddEvent("event", trace.WithAttributes(everyKind()...))
			s.End()
		}
		_, s := tracer.Start(ctx, "limits")
		for i := range 30 {
			s.SetAttributes(attribute.Int(string(rune('a'+i)), i))
			s.AddEvent("event")
			s.AddLink(trace.Link{SpanContext: remote, Attributes: []attribute.KeyValue{attribute.Int("a", 1), attribute.Int("b", 2)}})
		}
		s.End()
		_, s = tracer.Start(ctx, "before 1970", trace.WithTimestamp(time.Unix(-1, 0)))
		s.End(trace.WithTimestamp(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)))
		remoteCtx := trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.SpanContextFromContext(ctx).TraceID(), SpanID: trace.SpanID{9}, TraceFlags: trace.FlagsSampled, TraceState: state,
		}))
		_, s = tracer.Start(remoteCtx, "remote parent")
		s.RecordError(errors.New("boom"), trace.WithStackTrace(true))
		s.End()
		return errors.New("failed")
	}, capture.WithTracerProvider(tp))
	if runErr == nil {
		t.Error("no error")
	}
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	read, err := tracefile.NewReader(&file).All()
	if err != nil {
		t.Fatal(err)
	}
	byID := func(spans []*traces.Span) map[traces.SpanID]*traces.Span {
		m := map[traces.SpanID]*traces.Span{}
		for _, s := range spans {
			m[s.SpanID] = s
		}
		return m
	}
	if len(read) != len(captured.Spans()) || len(read) < 9 {
		t.Errorf("%d spans from the file, %d captured", len(read), len(captured.Spans()))
	}
	if diff := cmp.Diff(byID(read), byID(captured.Spans())); diff != "" {
		t.Errorf("file (-) and capture (+):\n%s", diff)
	}
	if len(captured.Spans()[1].Attributes) != len(everyKind()) {
		t.Errorf("%d attributes", len(captured.Spans()[1].Attributes))
	}
}
