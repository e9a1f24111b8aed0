//go:build jaeger

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// jaeger is a running Jaeger that keeps traces in memory.
type jaeger struct {
	*process

	grpc, http, query, zipkin string // addresses
}

// startJaeger starts the Jaeger that the make target has built.
func startJaeger(t *testing.T) *jaeger {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join("bin", "jaeger"))
	if err != nil {
		t.Fatal(err)
	}
	const free = "127.0.0.1:0"
	zipkin := freeAddress(t) // the Zipkin receiver does not say in the log what it got
	text, err := json.Marshal(object{
		"extensions": object{
			"jaeger_storage": object{"backends": object{"memory": object{"memory": object{"max_traces": 1000}}}},
			"jaeger_query": object{
				"storage": object{"traces": "memory"},
				"http":    object{"endpoint": free},
				"grpc":    object{"endpoint": free},
			},
		},
		"receivers": object{
			"otlp":   object{"protocols": object{"grpc": object{"endpoint": free}, "http": object{"endpoint": free}}},
			"zipkin": object{"endpoint": zipkin},
		},
		"exporters": object{"jaeger_storage_exporter": object{"trace_storage": "memory"}},
		"service": object{
			"extensions": []string{"jaeger_storage", "jaeger_query"},
			"telemetry":  object{"metrics": object{"level": "none"}, "logs": object{"encoding": "json"}},
			"pipelines":  object{"traces": object{"receivers": []string{"otlp", "zipkin"}, "exporters": []string{"jaeger_storage_exporter"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "jaeger.yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// Jaeger does not look at its input: this does, and passes signals on.
	cmd := exec.Command("sh", "-c", `"$0" --config "file:$1" </dev/null & pid=$!; cat >/dev/null; kill $pid; wait $pid`, bin, config)
	cmd.Dir = filepath.Dir(config)
	// Jaeger traces itself, to a fixed port, and at its end waits for that.
	cmd.Env = append(os.Environ(), "OTEL_TRACES_SAMPLER=always_off")
	j := &jaeger{process: startProcess(t, "jaeger", cmd), zipkin: zipkin}
	eventually(t, "Jaeger is ready", func() (bool, string) {
		select {
		case <-j.done:
			t.Fatalf("Jaeger ended: %v\n%s", j.err, j.log)
		default:
		}
		return strings.Contains(j.log.String(), "Everything is ready"), j.log.tail(2 << 10)
	})
	for line := range strings.Lines(j.log.String()) {
		var entry struct {
			Msg, Endpoint string
			HTTPAddr      string `json:"http_addr"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Endpoint+entry.HTTPAddr == "" {
			continue
		}
		switch entry.Msg {
		case "Starting GRPC server":
			j.grpc = entry.Endpoint
		case "Starting HTTP server":
			j.http = entry.Endpoint
		case "Query server started":
			j.query = entry.HTTPAddr
		}
	}
	if j.grpc == "" || j.http == "" || j.query == "" {
		t.Fatalf("no addresses in Jaeger's log: %s", j.log)
	}
	return j
}

// foundSpan is a span of Jaeger's query API.
type foundSpan struct {
	SpanID, OperationName, ProcessID string
	References                       []struct{ RefType, TraceID, SpanID string }
	StartTime, Duration              uint64 // microseconds
	Tags                             []struct {
		Key   string
		Value any
	}
}

// trace asks the query API for the trace, until it has n spans, and returns
// them by their ids.
func (j *jaeger) trace(t *testing.T, id string, n int) (map[string]foundSpan, map[string]string) {
	t.Helper()
	spans, services := map[string]foundSpan{}, map[string]string{}
	eventually(t, "Jaeger has the trace", func() (bool, string) {
		status, body := fetch(t, "http://"+j.query+"/api/traces/"+id, nil)
		var answer struct {
			Data []struct {
				TraceID   string
				Spans     []foundSpan
				Processes map[string]struct{ ServiceName string }
			}
		}
		if status != http.StatusOK {
			return false, body
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Data) != 1 || answer.Data[0].TraceID != id {
			return false, body
		}
		for _, s := range answer.Data[0].Spans {
			spans[s.SpanID] = s
		}
		for key, p := range answer.Data[0].Processes {
			services[key] = p.ServiceName
		}
		return len(spans) >= n, body
	})
	return spans, services
}

// fetch gets the URL, or posts the document to it.
func fetch(t *testing.T, address string, document []byte) (status int, body string) {
	t.Helper()
	method := http.MethodGet
	if document != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// journey makes a trace of four spans, each below the one before, and returns
// its id.
func journey(t *testing.T, s *tracedServer) string {
	t.Helper()
	return call(t, s, "/call?url="+url.QueryEscape(s.URL+"/hello/jaeger"))
}

// inPlace fails unless Jaeger has the spans of our file, with parent and child
// in place.
func inPlace(t *testing.T, j *jaeger, traceID string, ours spanSet) {
	t.Helper()
	if len(ours) != 4 {
		t.Fatalf("the file has %d spans, want 4: %v", len(ours), ours.names())
	}
	found, services := j.trace(t, traceID, len(ours))
	if len(found) != len(ours) {
		t.Errorf("Jaeger has %d spans, want %d", len(found), len(ours))
	}
	for _, twins := range ours {
		want := twins[0]
		got, ok := found[want.SpanID]
		if !ok {
			t.Errorf("Jaeger lacks span %s %q", want.SpanID, want.Name)
			continue
		}
		if got.OperationName != want.Name || got.StartTime != want.Start/1000 {
			t.Errorf("span %+v, want %q at %d", got, want.Name, want.Start)
		}
		if len(got.References) != 1 || got.References[0].RefType != "CHILD_OF" || got.References[0].SpanID != want.ParentID || got.References[0].TraceID != traceID {
			t.Errorf("span %q refers to %v, its parent is %s", want.Name, got.References, want.ParentID)
		}
		if services[got.ProcessID] != "e2e" {
			t.Errorf("span %q is of service %q", want.Name, services[got.ProcessID])
		}
		tags := map[string]string{}
		for _, tag := range got.Tags {
			tags[tag.Key] = fmt.Sprint(tag.Value)
		}
		if kind := strings.ToLower(want.Kind); tags["span.kind"] != kind {
			t.Errorf("span %q has kind %q, want %q", want.Name, tags["span.kind"], kind)
		}
		for key, value := range want.Attributes {
			text, _ := value.(string)
			kind, text, _ := strings.Cut(text, " ")
			if kind == "string" && fmt.Sprintf("%q", tags[key]) != text || kind == "int" && tags[key] != text {
				t.Errorf("span %q has %s = %q, want %v", want.Name, key, tags[key], value)
			}
		}
	}
	names := slices.Sorted(slices.Values(ours.names()))
	if want := []string{"GET", "GET /call", "GET /hello/{name}", "greet"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
}

// A trace is found through Jaeger's query API.
func TestJaeger(t *testing.T) {
	j := startJaeger(t)
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			addr := j.http
			if protocol == "grpc" {
				addr = j.grpc
			}
			s := startServer(t, otlpVars(protocol, addr), "-also-file")
			traceID := journey(t, s)
			if e := s.stop(t); e.Error != "" {
				t.Errorf("the server ended with %q", e.Error)
			}
			inPlace(t, j, traceID, s.spans(t))
		})
	}
}

// Our file, line by line, is what Jaeger's OTLP intake takes.
func TestJaegerTakesTheFile(t *testing.T) {
	j := startJaeger(t)
	s := startServer(t, nil)
	traceID := journey(t, s)
	s.stop(t)
	text, err := os.ReadFile(filepath.Join(s.files, "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if status, body := fetch(t, "http://"+j.http+"/v1/traces", []byte(line)); status != http.StatusOK {
			t.Fatalf("Jaeger says %d to a line: %s\n%s", status, body, line)
		}
	}
	inPlace(t, j, traceID, s.spans(t))
	if status, body := fetch(t, "http://"+j.query+"/api/services", nil); status != http.StatusOK || !strings.Contains(body, `"e2e"`) {
		t.Errorf("the services are %d %s", status, body)
	}
}

// Jaeger's UI answers every path with 200 and a page: it has taken nothing, and the
// log says what it is.
func TestJaegerUIPortIsNoReceiver(t *testing.T) {
	program, err := build("..", "./cmd/waymark")
	if err != nil {
		t.Fatal(err)
	}
	j := startJaeger(t)
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, otlpVars(protocol, j.query), "-also-file")
			s.greet(t, 5)
			e := s.stop(t)
			if a := e.Report.of(t, "otlp"); a.Failed != 10 || a.Exported != 0 || a.Uncertain != 0 {
				t.Errorf("account %+v, want 10 failed", a)
			}
			const page = "no OTLP receiver answers there: it sent text/html page titled" // its title depends on how Jaeger was built
			if log := s.log.String(); protocol != "grpc" && !strings.Contains(log, page) {
				t.Errorf("the log does not say what answers: %s", log)
			}
			files, err := filepath.Glob(filepath.Join(s.files, "spans*.jsonl"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			state := filepath.Join(t.TempDir(), "state.json")
			cmd := exec.Command(program, "send", "-endpoint", "http://"+j.query, "-protocol", protocol, "-retry-for", "1s", "-resume", state, files[0])
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "sent 0 spans") || protocol != "grpc" && !strings.Contains(string(out), page) {
				t.Errorf("waymark send: %v\n%s", err, out)
			}
			if _, err := os.Stat(state); err == nil {
				t.Error("waymark send notes that it got somewhere")
			}
		})
	}
}
