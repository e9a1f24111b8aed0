package jsonlexport_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// patience bounds what should take milliseconds.
const patience = 30 * time.Second

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func mustNew(t *testing.T, path string, opts ...jsonlexport.Option) *jsonlexport.Exporter {
	t.Helper()
	e, err := jsonlexport.New(path, opts...)
	if err != nil {
		t.Fatalf("New(%q): %v", path, err)
	}
	t.Cleanup(func() { _ = e.Shutdown(soon(t)) })
	return e
}

func spanPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "traces", "spans.jsonl")
}

var (
	testResource = resource.NewWithAttributes("https://opentelemetry.io/schemas/1.43.0",
		attribute.String("service.name", "shop"), attribute.Int("process.pid", 42))
	testScope = instrumentation.Scope{Name: "example.com/shop", Version: "1.2.3"}
	testStart = time.Unix(1_700_000_000, 123_456_789)
)

// stub is a sampled server span with ten scalar attributes.
func stub(name string) tracetest.SpanStub {
	return tracetest.SpanStub{
		Name:        name,
		SpanContext: spanContext(1, 2),
		Parent:      spanContext(1, 1),
		SpanKind:    trace.SpanKindServer,
		StartTime:   testStart,
		EndTime:     testStart.Add(1500 * time.Microsecond),
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
		Status:               sdktrace.Status{Code: codes.Ok},
		Resource:             testResource,
		InstrumentationScope: testScope,
	}
}

func spanContext(traceID, spanID byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: traceID}, SpanID: trace.SpanID{7: spanID}, TraceFlags: trace.FlagsSampled,
	})
}

// decoded are the lines of a file, each read on its own by the Collector's
// decoder.
func decoded(t *testing.T, path string) []ptrace.Traces {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decodeLines(t, data)
}

func decodeLines(t *testing.T, data []byte) []ptrace.Traces {
	t.Helper()
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.Errorf("file does not end with a newline")
	}
	var all []ptrace.Traces
	for line := range bytes.Lines(data) {
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		if err != nil {
			t.Fatalf("line %d: %v\n%.300s", len(all)+1, err, line)
		}
		all = append(all, traces)
	}
	return all
}

// spansIn counts the spans of the files that exist.
func spansIn(t *testing.T, paths ...string) (n uint64) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		for _, traces := range decoded(t, path) {
			n += uint64(traces.SpanCount())
		}
	}
	return n
}

// spanNames are the names of the spans in the file, in its order.
func spanNames(t *testing.T, path string) (names []string) {
	t.Helper()
	for _, traces := range decoded(t, path) {
		for _, rs := range traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					names = append(names, s.Name())
				}
			}
		}
	}
	return names
}

// checkBalance holds Ended = Exported + Failed + Dropped + Queued.
func checkBalance(t *testing.T, s jsonlexport.Stats) {
	t.Helper()
	if s.Ended != s.Exported+s.Failed+s.Dropped+s.Queued {
		t.Errorf("account does not balance: %+v", s)
	}
}

func end(e *jsonlexport.Exporter, names ...string) {
	for _, name := range names {
		e.OnEnd(stub(name).Snapshot())
	}
}

func flush(t *testing.T, e *jsonlexport.Exporter) {
	t.Helper()
	if err := e.ForceFlush(soon(t)); err != nil {
		t.Fatalf("ForceFlush: %v", err)
	}
}
