package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// collectorConfig is what the tests vary.
type collectorConfig struct {
	grpc, http string        // addresses; a free port when empty
	certs      *certificates // TLS
	mutual     bool          // and the client's certificate is asked for
	token      string        // the bearer token that is asked for
	follow     string        // the files that are read, instead of OTLP
	limit      int           // of a request, in MiB; 0: as it comes
}

// collector is a running Collector that writes what it gets to a file.
type collector struct {
	*process

	grpc, http string // addresses
	output     string // path
}

type object = map[string]any

// startCollector starts a Collector and waits until it is ready.
func startCollector(t *testing.T, cfg collectorConfig) *collector {
	t.Helper()
	dir := t.TempDir()
	c := &collector{output: filepath.Join(dir, "out.jsonl")}
	// JSON is YAML.
	text, err := json.MarshalIndent(cfg.document(c.output), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "collector.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.process = startProcess(t, "collector", exec.Command(collectPath, "--config", "file:"+path))
	eventually(t, "the Collector is ready", func() (bool, string) {
		select {
		case <-c.done:
			t.Fatalf("the Collector ended: %v\n%s", c.err, c.log)
		default:
		}
		return strings.Contains(c.log.String(), "Everything is ready"), c.log.tail(2 << 10)
	})
	for line := range strings.Lines(c.log.String()) {
		var entry struct{ Msg, Endpoint string }
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		switch entry.Msg {
		case "Starting GRPC server":
			c.grpc = entry.Endpoint
		case "Starting HTTP server":
			c.http = entry.Endpoint
		}
	}
	return c
}

// document is the Collector's configuration.
func (cfg collectorConfig) document(output string) object {
	receivers := object{"otlp": object{"protocols": object{
		"grpc": cfg.server(cfg.grpc, "max_recv_msg_size_mib", cfg.limit),
		"http": cfg.server(cfg.http, "max_request_body_size", cfg.limit<<20),
	}}}
	receiver := "otlp"
	if cfg.follow != "" {
		receiver = "otlpjsonfile"
		receivers = object{receiver: object{"include": []string{cfg.follow}, "start_at": "beginning", "include_file_name": false}}
	}
	doc := object{
		"receivers": receivers,
		// With rotation the file exporter writes at once: a Collector that is
		// killed has written what it took.
		"exporters": object{"file": object{"path": output, "rotation": object{"max_megabytes": 1000}}},
	}
	service := object{
		"telemetry": object{"metrics": object{"level": "none"}, "logs": object{"encoding": "json"}},
		"pipelines": object{"traces": object{"receivers": []string{receiver}, "exporters": []string{"file"}}},
	}
	if cfg.token != "" {
		doc["extensions"] = object{"bearertokenauth": object{"token": cfg.token}}
		service["extensions"] = []string{"bearertokenauth"}
	}
	doc["service"] = service
	return doc
}

// server is the configuration of a server of the OTLP receiver.
func (cfg collectorConfig) server(addr, limitName string, limit int) object {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	s := object{"endpoint": addr}
	if limit > 0 {
		s[limitName] = limit
	}
	if cfg.certs != nil {
		tls := object{"cert_file": cfg.certs.server.cert, "key_file": cfg.certs.server.key}
		if cfg.mutual {
			tls["client_ca_file"] = cfg.certs.ca
		}
		s["tls"] = tls
	}
	if cfg.token != "" {
		s["auth"] = object{"authenticator": "bearertokenauth"}
	}
	return s
}

// endpoint is the base URL for the protocol.
func (c *collector) address(protocol string) string {
	if protocol == "grpc" {
		return c.grpc
	}
	return c.http
}

// spans are what the Collector has written, each span once.
func (c *collector) spans(t *testing.T) spanSet {
	t.Helper()
	return readSpans(t, c.output)
}

// readSpans reads files of OTLP/JSON lines with the Collector's reader. A file
// that is not there has no spans; a last line without its end is not there yet.
func readSpans(t *testing.T, paths ...string) spanSet {
	t.Helper()
	set := spanSet{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				continue
			}
			traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces([]byte(line))
			if err != nil {
				t.Fatalf("%s: %v: %.200s", path, err, line)
			}
			set.add(traces)
		}
	}
	return set
}
