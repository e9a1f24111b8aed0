package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// A client in another language calls the server, which calls it back: one
// trace, with each span below the one that caused it.
func TestOtherLanguage(t *testing.T) {
	t.Parallel()
	c := startCollector(t, collectorConfig{})
	s := startServer(t, otlpVars("http/protobuf", c.http))
	cmd := exec.Command("node", "client.js", s.URL)
	cmd.Dir = "node"
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "OTEL_SERVICE_NAME=node-client", "OTEL_TRACES_EXPORTER=otlp",
		"OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none",
		"OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.http,
	}
	client := startProcess(t, "client", cmd)
	var answer struct {
		Status int
		Body   string
	}
	if err := json.Unmarshal([]byte(client.line(t)), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Status != 200 || answer.Body != "back from /back" {
		t.Fatalf("the client got %+v", answer)
	}
	client.wait(t)
	if client.err != nil {
		t.Errorf("the client ended with %v", client.err)
	}
	if e := s.stop(t); e.Error != "" {
		t.Errorf("the server ended with %q", e.Error)
	}
	c.end(t)

	spans := c.spans(t)
	if len(spans) != 6 || spans.twice() != 0 {
		t.Fatalf("%d spans, want 6: %v", len(spans), spans.names())
	}
	// From the root down: who made each span, and its kind.
	parent := span{}
	for i, want := range []struct{ service, kind string }{
		{"node-client", "Internal"},
		{"node-client", "Client"},
		{"e2e", "Server"},
		{"e2e", "Client"},
		{"node-client", "Server"},
		{"node-client", "Internal"},
	} {
		var below []span
		for _, twins := range spans {
			if twins[0].ParentID == parent.SpanID {
				below = append(below, twins[0])
			}
		}
		if len(below) != 1 {
			t.Fatalf("%d spans at depth %d, want one; all: %v", len(below), i, spans.names())
		}
		got := below[0]
		if service := got.Resource["service.name"]; service != fmt.Sprintf("string %q", want.service) || got.Kind != want.kind {
			t.Errorf("depth %d: %v %s, want %v", i, service, got.Kind, want)
		}
		if i > 0 && got.TraceID != parent.TraceID {
			t.Errorf("depth %d: trace %s, its parent's is %s", i, got.TraceID, parent.TraceID)
		}
		parent = got
	}
}
