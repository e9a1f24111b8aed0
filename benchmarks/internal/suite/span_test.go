package suite_test

import (
	"net/http/httptest"
	"testing"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
	"github.com/waymark-trace/waymark/capture/capturetest"
)

// What is measured is a whole span: every Required and Recommended attribute of
// the conventions, those that are conditional on what the request has included.
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#http-server-span
func TestBenchmarkedSpanIsComplete(t *testing.T) {
	t.Parallel()
	for _, traceparent := range []bool{false, true} {
		_, tr := capturetest.Start(t)
		suite.Ours(tr.TracerProvider()).ServeHTTP(httptest.NewRecorder(), suite.Request(traceparent))
		s := tr.Span("GET /users/{id}")
		for key, want := range map[string]any{
			"http.request.method": "GET", "url.path": "/users/42", "url.scheme": "http", // required
			"url.query": "page=2&sort=name", "http.route": "/users/{id}", "http.response.status_code": 200, "server.port": 8080, // conditional
			"server.address": "shop.example", "client.address": "192.0.2.7", "network.peer.address": "192.0.2.7", "network.peer.port": 51234,
			"network.protocol.version": "1.1", "user_agent.original": suite.Request(false).UserAgent(), // recommended
		} {
			s.Attr(key, want)
		}
		if one := s.One(); one.ParentID.IsZero() == traceparent {
			t.Errorf("traceparent %v: parent %v", traceparent, one.ParentID)
		}
	}
}
