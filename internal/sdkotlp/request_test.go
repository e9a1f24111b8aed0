package sdkotlp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

func stub(name string, id byte, r *resource.Resource, scope instrumentation.Scope) tracetest.SpanStub {
	return tracetest.SpanStub{
		Name: name, Resource: r, InstrumentationScope: scope,
		SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}, TraceFlags: 1}),
		StartTime:   time.Unix(1, 0), EndTime: time.Unix(2, 0),
	}
}

// requestSpans are spans of two resources and three scopes, in no order.
func requestSpans() []sdktrace.ReadOnlySpan {
	shop := resource.NewWithAttributes("https://example.com/r", attribute.String("service.name", "shop"))
	pay := resource.NewSchemaless(attribute.String("service.name", "pay"))
	web := instrumentation.Scope{Name: "web", Version: "1", SchemaURL: "https://example.com/s", Attributes: attribute.NewSet(attribute.Int("n", 1))}
	db := instrumentation.Scope{Name: "db"}
	rich := stub("rich", 5, shop, db)
	rich.Status = sdktrace.Status{Code: codes.Error, Description: "no \xff"}
	rich.Attributes = []attribute.KeyValue{
		attribute.String("a\xff", "b\xfe"), attribute.Int("i", -1), attribute.Float64("f", 0.5), attribute.Bool("t", true),
		attribute.StringSlice("ss", []string{"x", "\xff"}),
		{Key: "bytes", Value: attribute.ByteSliceValue(nil)},
		{Key: "empty"},
		{Key: "m", Value: attribute.MapValue(attribute.String("k", "v"), attribute.KeyValue{Key: "l", Value: attribute.SliceValue(attribute.IntValue(1))})},
	}
	return tracetest.SpanStubs{
		stub("1", 1, shop, web), stub("2", 2, pay, web), stub("3", 3, shop, db), stub("4", 4, shop, web), rich,
	}.Snapshots()
}

// flat is each span with its resource and scope, in the order of the request.
func flat(td ptrace.Traces) (out []string) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				service, _ := rs.Resource().Attributes().Get("service.name")
				out = append(out, strings.Join([]string{
					service.Str(), rs.SchemaUrl(), ss.Scope().Name(), ss.Scope().Version(), ss.SchemaUrl(), s.Name(),
				}, "|"))
			}
		}
	}
	return out
}

// Both encodings hold the same: each span under its resource and scope.
func TestRequests(t *testing.T) {
	t.Parallel()
	fromProto, fromJSON := ptraceotlp.NewExportRequest(), ptraceotlp.NewExportRequest()
	if err := fromProto.UnmarshalProto(sdkotlp.AppendProtoRequest(nil, requestSpans())); err != nil {
		t.Fatalf("protobuf: %v", err)
	}
	text := sdkotlp.AppendJSONRequest(nil, requestSpans())
	if err := fromJSON.UnmarshalJSON(text); err != nil {
		t.Fatalf("JSON: %v\n%s", err, text)
	}
	want := []string{
		"shop|https://example.com/r|web|1|https://example.com/s|1",
		"shop|https://example.com/r|web|1|https://example.com/s|4",
		"pay||web|1|https://example.com/s|2",
		"shop|https://example.com/r|db|||3",
		"shop|https://example.com/r|db|||rich",
	}
	if diff := cmp.Diff(want, flat(fromProto.Traces())); diff != "" {
		t.Errorf("protobuf (-want +got):\n%s", diff)
	}
	marshaler := ptrace.JSONMarshaler{}
	a, errA := marshaler.MarshalTraces(fromProto.Traces())
	b, errB := marshaler.MarshalTraces(fromJSON.Traces())
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Errorf("the encodings differ (-protobuf +JSON):\n%s", diff)
	}
}

func TestRequestOfNothing(t *testing.T) {
	t.Parallel()
	if b := sdkotlp.AppendProtoRequest(nil, nil); len(b) != 0 {
		t.Errorf("protobuf: %x", b)
	}
	if b := sdkotlp.AppendJSONRequest(nil, nil); string(b) != `{"resourceSpans":[]}` {
		t.Errorf("JSON: %s", b)
	}
}

// The estimate is near the length in protobuf, and counts all that is large.
func TestSizeOf(t *testing.T) {
	t.Parallel()
	const kB = 10_000
	big := strings.Repeat("x", kB)
	kv := attribute.String("k", big)
	for name, change := range map[string]func(*tracetest.SpanStub){
		"name":   func(s *tracetest.SpanStub) { s.Name = big },
		"status": func(s *tracetest.SpanStub) { s.Status.Description = big },
		"key":    func(s *tracetest.SpanStub) { s.Attributes = []attribute.KeyValue{attribute.Int(big, 1)} },
		"string": func(s *tracetest.SpanStub) { s.Attributes = []attribute.KeyValue{kv} },
		"bytes": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{{Key: "k", Value: attribute.ByteSliceValue([]byte(big))}}
		},
		"strings": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{attribute.StringSlice("k", []string{big})}
		},
		"list": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{{Key: "k", Value: attribute.SliceValue(attribute.StringValue(big))}}
		},
		"map": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{{Key: "k", Value: attribute.MapValue(kv)}}
		},
		"event": func(s *tracetest.SpanStub) {
			s.Events = []sdktrace.Event{{Name: "e", Attributes: []attribute.KeyValue{kv}}}
		},
		"events": func(s *tracetest.SpanStub) { s.Events = []sdktrace.Event{{Name: big}} },
		"link":   func(s *tracetest.SpanStub) { s.Links = []sdktrace.Link{{Attributes: []attribute.KeyValue{kv}}} },
		"numbers": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{attribute.Float64Slice("k", make([]float64, kB/12))}
		},
		"integers": func(s *tracetest.SpanStub) {
			s.Attributes = []attribute.KeyValue{attribute.Int64Slice("k", make([]int64, kB/12)), attribute.BoolSlice("b", make([]bool, 9))}
		},
		"many": func(s *tracetest.SpanStub) {
			for range 500 {
				s.Attributes = append(s.Attributes, attribute.String("a.key.of.some.length", "value"))
			}
		},
	} {
		s := stub("s", 1, resource.Empty(), instrumentation.Scope{})
		change(&s)
		span := s.Snapshot()
		size := sdkotlp.SizeOf(span)
		length := len(sdkotlp.AppendProtoRequest(nil, []sdktrace.ReadOnlySpan{span}))
		if e := size.Encoded(); e < length*2/3 || e > length*3+500 {
			t.Errorf("%s: estimated %d bytes, encoded %d", name, e, length)
		}
		if h := size.Held(); h < kB || h < size.Encoded() {
			t.Errorf("%s: holds %d bytes, want at least %d and %d", name, h, kB, size.Encoded())
		}
	}
}

func TestSizeOfAllocatesNothing(t *testing.T) {
	s := stub("s", 1, resource.Empty(), instrumentation.Scope{})
	s.Attributes = []attribute.KeyValue{attribute.String("a", "b"), attribute.Int("i", 1), attribute.Bool("t", true)}
	span := s.Snapshot()
	if got := testing.AllocsPerRun(100, func() { _ = sdkotlp.SizeOf(span) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkSizeOf(b *testing.B) {
	s := stub("s", 1, resource.Empty(), instrumentation.Scope{})
	for range 12 {
		s.Attributes = append(s.Attributes, attribute.String("a.key.of.some.length", "value"))
	}
	span := s.Snapshot()
	for b.Loop() {
		_ = sdkotlp.SizeOf(span)
	}
}
