package jsonlexport

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// scalarSpan has ten scalar attributes and an event.
func scalarSpan() sdktrace.ReadOnlySpan {
	start := time.Unix(1_700_000_000, 123_456_789)
	return tracetest.SpanStub{
		Name: "GET /api/v1/orders/{id}",
		SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1, 2, 3}, SpanID: trace.SpanID{4, 5}, TraceFlags: trace.FlagsSampled,
		}),
		SpanKind:  trace.SpanKindServer,
		StartTime: start,
		EndTime:   start.Add(time.Millisecond),
		Attributes: []attribute.KeyValue{
			attribute.String("http.request.method", "GET"),
			attribute.String("url.path", "/api/v1/orders/1234567"),
			attribute.String("url.scheme", "https"),
			attribute.String("server.address", "shop.example.com"),
			attribute.Int("server.port", 443),
			attribute.String("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
			attribute.String("http.route", "/api/v1/orders/{id}"),
			attribute.Int("http.response.status_code", 200),
			attribute.Bool("cache.hit", true),
			attribute.Float64("score", 0.25),
		},
		Events: []sdktrace.Event{{Name: "cache miss", Time: start, Attributes: []attribute.KeyValue{attribute.Int("tries", 1)}}},
	}.Snapshot()
}

func BenchmarkEncode(b *testing.B) {
	var e sdkotlp.JSON
	var keys otlpjson.Keys
	s := scalarSpan()
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendSpan(&keys, buf[:0], s)
	}
	b.SetBytes(int64(len(buf)))
}
