package jsonlexport_test

import (
	"context"
	"io"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// batchOf is n spans of ten attributes, an event in every tenth.
func batchOf(n int) []sdktrace.ReadOnlySpan {
	stubs := make(tracetest.SpanStubs, n)
	for i := range stubs {
		stubs[i] = stub("GET /api/v1/orders/{id}")
		stubs[i].SpanContext = spanContext(byte(i/3), byte(i))
		if i%10 == 0 {
			stubs[i].Events = []sdktrace.Event{{Name: "cache miss", Time: testStart.Add(time.Millisecond), Attributes: []attribute.KeyValue{attribute.Int("tries", 1)}}}
		}
	}
	return stubs.Snapshots()
}

func BenchmarkExport(b *testing.B) {
	spans := batchOf(512)
	export := func(b *testing.B, e sdktrace.SpanExporter) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if err := e.ExportSpans(context.Background(), spans); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(spans)), "ns/span")
	}
	b.Run("waymark", func(b *testing.B) {
		e := jsonlexport.NewWriter(io.Discard)
		defer func() { _ = e.Shutdown(context.Background()) }()
		export(b, e)
	})
	b.Run("stdouttrace", func(b *testing.B) {
		e, err := stdouttrace.New(stdouttrace.WithWriter(io.Discard))
		if err != nil {
			b.Fatal(err)
		}
		export(b, e)
	})
	b.Run("pdata", func(b *testing.B) { export(b, pdataExporter{}) })
}

// pdataExporter builds the Collector's data and marshals it.
type pdataExporter struct{}

func (pdataExporter) Shutdown(context.Context) error { return nil }

func (pdataExporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(spans[0].InstrumentationScope().Name)
	put(rs.Resource().Attributes(), spans[0].Resource().Attributes())
	ss.Spans().EnsureCapacity(len(spans))
	for _, s := range spans {
		p := ss.Spans().AppendEmpty()
		p.SetTraceID(pcommon.TraceID(s.SpanContext().TraceID()))
		p.SetSpanID(pcommon.SpanID(s.SpanContext().SpanID()))
		p.SetParentSpanID(pcommon.SpanID(s.Parent().SpanID()))
		p.SetName(s.Name())
		p.SetKind(ptrace.SpanKind(s.SpanKind()))
		p.SetStartTimestamp(pcommon.NewTimestampFromTime(s.StartTime()))
		p.SetEndTimestamp(pcommon.NewTimestampFromTime(s.EndTime()))
		put(p.Attributes(), s.Attributes())
		for _, ev := range s.Events() {
			pe := p.Events().AppendEmpty()
			pe.SetName(ev.Name)
			pe.SetTimestamp(pcommon.NewTimestampFromTime(ev.Time))
			put(pe.Attributes(), ev.Attributes)
		}
	}
	_, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	return err
}

func put(m pcommon.Map, kvs []attribute.KeyValue) {
	m.EnsureCapacity(len(kvs))
	for _, kv := range kvs {
		switch kv.Value.Type() {
		case attribute.STRING:
			m.PutStr(string(kv.Key), kv.Value.AsString())
		case attribute.INT64:
			m.PutInt(string(kv.Key), kv.Value.AsInt64())
		case attribute.BOOL:
			m.PutBool(string(kv.Key), kv.Value.AsBool())
		default:
			m.PutDouble(string(kv.Key), kv.Value.AsFloat64())
		}
	}
}

// BenchmarkOnEnd is what ending a span costs the goroutine that does it, beside
// a processor that does nothing.
func BenchmarkOnEnd(b *testing.B) {
	s := batchOf(1)[0]
	b.Run("waymark", func(b *testing.B) {
		e := jsonlexport.NewWriter(io.Discard)
		defer func() { _ = e.Shutdown(context.Background()) }()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				e.OnEnd(s)
			}
		})
	})
	b.Run("batch_processor_discard", func(b *testing.B) {
		p := sdktrace.NewBatchSpanProcessor(tracetest.NewNoopExporter())
		defer func() { _ = p.Shutdown(context.Background()) }()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.OnEnd(s)
			}
		})
	})
}
