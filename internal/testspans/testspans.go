// Package testspans writes span files with the real writers, for the tests of
// the commands that read them.
package testspans

import (
	"context"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// Write writes the spans of a scenario ([Shop] or [Bad]) to w.
func Write(w io.Writer, stubs tracetest.SpanStubs) error {
	return export(jsonlexport.NewWriter(w), stubs)
}

// WriteStdout writes the same as OpenTelemetry's stdouttrace does.
func WriteStdout(w io.Writer, stubs tracetest.SpanStubs) error {
	e, err := stdouttrace.New(stdouttrace.WithWriter(w))
	if err != nil {
		return err
	}
	return export(e, stubs)
}

func export(e sdktrace.SpanExporter, stubs tracetest.SpanStubs) error {
	ctx := context.Background()
	if err := e.ExportSpans(ctx, stubs.Snapshots()); err != nil {
		return fmt.Errorf("testspans: %w", err)
	}
	return e.Shutdown(ctx)
}

// Span describes a span in few words. Times are since a fixed instant.
type Span struct {
	Trace, ID, Parent byte
	Name, Service     string
	Kind              trace.SpanKind
	Start, End        time.Duration
	Error             string
	Remote            bool // the parent is another program's
	Attributes        []attribute.KeyValue
	Events            []sdktrace.Event
}

// epoch is the instant that times are counted from.
func epoch() time.Time { return time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC) }

// Stubs makes spans of their descriptions.
func Stubs(spans ...Span) tracetest.SpanStubs {
	var out tracetest.SpanStubs
	resources := map[string]*resource.Resource{}
	for _, s := range spans {
		if resources[s.Service] == nil {
			resources[s.Service] = resource.NewSchemaless(
				attribute.String("service.name", s.Service), attribute.String("host.name", s.Service+"-1"))
		}
		stub := tracetest.SpanStub{
			Name: s.Name, SpanKind: s.Kind, SpanContext: spanContext(s.Trace, s.ID, false),
			StartTime: epoch().Add(s.Start), EndTime: epoch().Add(s.End),
			Attributes: s.Attributes, Events: s.Events, Resource: resources[s.Service],
			InstrumentationScope: instrumentation.Scope{Name: "example.com/" + s.Service, Version: "1.0.0"},
		}
		if s.Parent > 0 {
			stub.Parent = spanContext(s.Trace, s.Parent, s.Remote)
		}
		if s.Error != "" {
			stub.Status = sdktrace.Status{Code: 1, Description: s.Error}
		}
		out = append(out, stub)
	}
	return out
}

func spanContext(t, s byte, remote bool) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab, 0xcd, t, 15: t}, SpanID: trace.SpanID{7: s}, TraceFlags: trace.FlagsSampled, Remote: remote,
	})
}

// Shop is three healthy requests to two services, one of which failed.
func Shop() tracetest.SpanStubs {
	ms := time.Millisecond
	route := func(method, route string, status int) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String("http.request.method", method), attribute.String("http.route", route),
			attribute.Int("http.response.status_code", status),
		}
	}
	return Stubs(
		Span{
			Trace: 1, ID: 2, Parent: 1, Name: "SELECT users", Service: "web", Kind: trace.SpanKindClient, Start: 1 * ms, End: 3 * ms,
			Attributes: []attribute.KeyValue{attribute.String("db.system", "sqlite"), attribute.Int("rows", 3)},
		},
		Span{
			Trace: 1, ID: 1, Name: "GET /users/{id}", Service: "web", Kind: trace.SpanKindServer, End: 10 * ms,
			Attributes: append(route("GET", "/users/{id}", 200), attribute.String("user.id", "u1")),
		},
		Span{
			Trace: 2, ID: 4, Parent: 3, Name: "POST /charge", Service: "pay", Kind: trace.SpanKindServer, Start: 105 * ms, End: 180 * ms,
			Error: "card refused", Remote: true, Attributes: route("POST", "/charge", 500),
			Events: []sdktrace.Event{{Name: "exception", Time: epoch().Add(170 * ms), Attributes: []attribute.KeyValue{
				attribute.String("exception.type", "*pay.Refused"), attribute.String("exception.message", "card refused"),
			}}},
		},
		Span{Trace: 2, ID: 3, Parent: 1, Name: "POST", Service: "web", Kind: trace.SpanKindClient, Start: 102 * ms, End: 190 * ms},
		Span{
			Trace: 2, ID: 1, Name: "POST /checkout", Service: "web", Kind: trace.SpanKindServer, Start: 100 * ms, End: 200 * ms,
			Error: "502", Attributes: append(route("POST", "/checkout", 502), attribute.String("user.id", "u2")),
		},
		Span{
			Trace: 3, ID: 1, Parent: 9, Remote: true, Name: "GET /users/{id}", Service: "web", Kind: trace.SpanKindServer, Start: 300 * ms, End: 300*ms + 400*time.Microsecond,
			Attributes: append(route("GET", "/users/{id}", 200), attribute.String("user.id", "u1"), attribute.Bool("cached", true)),
		},
	)
}

// Bad is spans with one of each fault that `waymark check` looks for, and
// hostile text.
func Bad() tracetest.SpanStubs {
	ms := time.Millisecond
	spans := []Span{
		{
			Trace: 1, ID: 1, Name: "GET", Service: "web", Kind: trace.SpanKindServer, End: 10 * ms,
			Attributes: []attribute.KeyValue{attribute.String("http.request.method", "GET"), attribute.String("url.full", "https://ada:hunter2@example.com/")},
		},
		{Trace: 1, ID: 2, Parent: 1, Name: "outlives", Service: "web", Start: 1 * ms, End: 20 * ms},
		{
			Trace: 1, ID: 3, Parent: 1, Name: "early", Service: "pay", Kind: trace.SpanKindServer, Start: -5 * ms, End: 2 * ms, Remote: true,
			Attributes: []attribute.KeyValue{attribute.String("http.request.header.authorization", "Bearer s3cr3t-t0ken")},
		},
		{Trace: 1, ID: 4, Parent: 77, Name: "orphan\x1b[31m", Service: "web", Start: 3 * ms, End: 4 * ms},
		{Trace: 1, ID: 5, Parent: 1, Name: "reversed", Service: "web", Start: 9 * ms, End: 8 * ms},
		{Trace: 1, ID: 6, Parent: 1, Name: "twice", Service: "web", Start: 5 * ms, End: 6 * ms},
		{Trace: 1, ID: 6, Parent: 1, Name: "twice", Service: "web", Start: 5 * ms, End: 6 * ms},
		{Trace: 2, ID: 1, Name: "notes", Service: "web", End: ms, Attributes: []attribute.KeyValue{
			attribute.String("note", "key AKIAIOSFODNN7EXAMPLE and -----BEGIN RSA PRIVATE KEY-----"),
			attribute.String("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123"),
			attribute.Int("llm.token_count.prompt", 12), attribute.String("password", "[REDACTED]"),
		}},
	}
	for i := range byte(25) {
		spans = append(spans, Span{Trace: 3, ID: 100 + i, Name: fmt.Sprintf("user %d", 1000+int(i)), Service: "web", End: ms})
	}
	return Stubs(spans...)
}
