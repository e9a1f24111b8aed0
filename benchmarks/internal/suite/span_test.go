package suite_test

import (
	"net/http/httptest"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
)

// What is measured is a whole span: every Required and Recommended attribute of
// the conventions, those that are conditional on what the request has included.
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#http-server-span
func TestBenchmarkedSpanIsComplete(t *testing.T) {
	t.Parallel()
	for _, traceparent := range []bool{false, true} {
		rec := tracetest.NewSpanRecorder()
		tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec))
		suite.Ours(tp).ServeHTTP(httptest.NewRecorder(), suite.Request(traceparent))
		if len(rec.Ended()) != 1 {
			t.Fatalf("%d spans, want 1", len(rec.Ended()))
		}
		span := rec.Ended()[0]
		got := map[string]string{}
		for _, kv := range span.Attributes() {
			got[string(kv.Key)] = kv.Value.String()
		}
		for key, want := range map[string]string{
			"http.request.method": "GET", "url.path": "/users/42", "url.scheme": "http", // required
			"url.query": "page=2&sort=name", "http.route": "/users/{id}", "http.response.status_code": "200", "server.port": "8080", // conditional
			"server.address": "shop.example", "client.address": "192.0.2.7", "network.peer.address": "192.0.2.7", "network.peer.port": "51234",
			"network.protocol.version": "1.1", "user_agent.original": suite.Request(false).UserAgent(), // recommended
		} {
			if got[key] != want {
				t.Errorf("traceparent %v: %s = %q, want %q", traceparent, key, got[key], want)
			}
		}
		if span.Name() != "GET /users/{id}" || span.Parent().IsValid() != traceparent {
			t.Errorf("traceparent %v: name %q, parent %v", traceparent, span.Name(), span.Parent())
		}
	}
}
