//go:build !waymark_nootlp

package bootstrap_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Each case is a variable that makes the SDK or an exporter panic, lose spans,
// speak in clear text, or talk to another host. The process is real, reads its
// own variables, and a collector listens.
func TestTraps(t *testing.T) {
	t.Parallel()
	const endpoint, headers = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20s3cret"
	cert := certificateFile(t)
	for _, c := range []struct {
		name     string
		protocol string   // of the collector
		vars     []string // URL and ADDR stand for the collector's
		arrive   int      // of 100 spans
		path     string   // that the spans came to
		report   string
		finding  string // a variable that the log names; empty: the log has no finding
	}{
		{name: "negative queue", vars: []string{endpoint + "=URL", "OTEL_BSP_MAX_QUEUE_SIZE=-1"}, arrive: 100, finding: "OTEL_BSP_MAX_QUEUE_SIZE"},
		{name: "huge queue", vars: []string{endpoint + "=URL", "OTEL_BSP_MAX_QUEUE_SIZE=9000000000000000000"}, arrive: 100, finding: "OTEL_BSP_MAX_QUEUE_SIZE"},
		{name: "queue of nothing", vars: []string{endpoint + "=URL", "OTEL_BSP_MAX_QUEUE_SIZE=0"}, arrive: 100, finding: "OTEL_BSP_MAX_QUEUE_SIZE"},
		{name: "negative batch", vars: []string{endpoint + "=URL", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=-1"}, arrive: 100, finding: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"},
		{name: "batch above the queue", vars: []string{endpoint + "=URL", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=5000"}, arrive: 100, finding: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"},
		{name: "negative export timeout", vars: []string{endpoint + "=URL", "OTEL_BSP_EXPORT_TIMEOUT=-1"}, arrive: 100, finding: "OTEL_BSP_EXPORT_TIMEOUT"},
		{name: "duration with a unit", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_TIMEOUT=10s"}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_TIMEOUT"},
		{name: "path doubled", vars: []string{endpoint + "=URL/v1/traces"}, arrive: 100, path: "/v1/traces", finding: endpoint},
		{name: "traces endpoint without path", vars: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=URL"}, arrive: 100, path: "/", finding: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		{name: "no scheme", vars: []string{endpoint + "=ADDR"}, report: "file: 100 ended, 100 exported, 0 lost", finding: endpoint},
		{name: "no scheme, grpc", protocol: "grpc", vars: []string{endpoint + "=ADDR", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, report: "file: 100 ended, 100 exported, 0 lost", finding: endpoint},
		{name: "unknown protocol", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_PROTOCOL=http/jsn"}, report: "file: 100 ended, 100 exported, 0 lost", finding: "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{name: "http and INSECURE=false", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_INSECURE=false"}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_INSECURE"},
		{name: "grpc, http and INSECURE=false", protocol: "grpc", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_INSECURE=false"}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_INSECURE"},
		{name: "http and a certificate", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_CERTIFICATE=" + cert}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		{name: "grpc, http and a certificate", protocol: "grpc", vars: []string{endpoint + "=URL", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_CERTIFICATE=" + cert}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		{name: "unreadable certificate", vars: []string{endpoint + "=https://ADDR", "OTEL_EXPORTER_OTLP_CERTIFICATE=/does/not/exist"}, report: "file: 100 ended, 100 exported, 0 lost", finding: endpoint},
		{name: "bad header", vars: []string{endpoint + "=URL", headers + ",x=%zzs3cret"}, arrive: 100, finding: "OTEL_EXPORTER_OTLP_HEADERS"},
		{name: "ratio that is no number", vars: []string{endpoint + "=URL", "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=NaN"}, arrive: 100, finding: "OTEL_TRACES_SAMPLER_ARG"},
		{name: "sampler of another SDK", vars: []string{endpoint + "=URL", "OTEL_TRACES_SAMPLER=parentbased_jaeger_remote"}, arrive: 100, finding: "OTEL_TRACES_SAMPLER"},
		{name: "negative limit", vars: []string{endpoint + "=URL", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=-5"}, arrive: 100, finding: "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"},
		{name: "resource that cannot be decoded", vars: []string{endpoint + "=URL", "OTEL_RESOURCE_ATTRIBUTES=half=kept,c=%zz,bad"}, arrive: 100, finding: "OTEL_RESOURCE_ATTRIBUTES"},
		{name: "SDK disabled", vars: []string{endpoint + "=URL", "OTEL_SDK_DISABLED=true"}},
		{name: "SDK disabled by another word", vars: []string{endpoint + "=URL", "OTEL_SDK_DISABLED=1"}, arrive: 100, finding: "OTEL_SDK_DISABLED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.protocol == "" {
				c.protocol = "http/protobuf"
			}
			got, collectorVars := collectorFor(t, c.protocol, takeAll)
			url := collectorVars[endpoint]
			vars := []string{"SPANS=100"}
			for _, v := range c.vars {
				v = strings.ReplaceAll(v, "URL", url)
				vars = append(vars, strings.ReplaceAll(v, "ADDR", strings.TrimPrefix(url, "http://")))
			}
			_, stderr := newChild(t, "spans", vars...).run(t)
			if n := got.count(); n != c.arrive {
				t.Errorf("%d spans arrived, want %d", n, c.arrive)
			}
			if c.path != "" && !slices.Equal(slices.Compact(got.paths), []string{c.path}) {
				t.Errorf("paths %q, want %q", got.paths, c.path)
			}
			if c.arrive > 0 && c.report == "" {
				c.report = "otlp: 100 ended, 100 exported, 0 lost"
			}
			if !strings.Contains(stderr, "REPORT "+c.report) {
				t.Errorf("want the report %q", c.report)
			}
			findings := strings.Count(stderr, "doubtful configuration")
			if c.finding == "" && findings != 0 || c.finding != "" && (findings != 1 || !strings.Contains(stderr, `"variable":"`+c.finding+`"`)) {
				t.Errorf("%d findings, want one of %q", findings, c.finding)
			}
			if strings.Contains(stderr, "s3cret") {
				t.Error("a secret is printed")
			}
			for _, rs := range got.resource {
				for _, kv := range rs.GetResource().GetAttributes() {
					if kv.GetKey() == "half" || kv.GetKey() == "c" {
						t.Errorf("half of a resource was kept: %v", kv)
					}
				}
			}
			// Whatever OpenTelemetry says about the same value would be a second
			// message, in another form.
			for line := range strings.Lines(stderr) {
				if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "REPORT") {
					t.Errorf("printed outside of the log: %s", line)
				}
			}
			if t.Failed() {
				t.Logf("standard error:\n%s", stderr)
			}
		})
	}
}

// A delay of 0 makes the SDK spin.
func TestDelayOfNothingDoesNotSpin(t *testing.T) {
	t.Parallel()
	_, vars := collectorFor(t, "http/protobuf", takeAll)
	c := newChild(t, "idle", "OTEL_BSP_SCHEDULE_DELAY=0", "OTEL_EXPORTER_OTLP_ENDPOINT="+vars["OTEL_EXPORTER_OTLP_ENDPOINT"])
	c.run(t)
	// Spinning costs the whole second.
	if cpu := c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(); cpu > 700*time.Millisecond {
		t.Errorf("%v of CPU time in a second of idling", cpu)
	}
}

// https is TLS whatever INSECURE says: nothing readable leaves the process.
func TestNoClearTextOverHTTPS(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			addr, seen := wiretap(t)
			_, stderr := newChild(
				t, "spans", "SPANS=5", "DEADLINE=5s", "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
				"OTEL_EXPORTER_OTLP_ENDPOINT=https://"+addr, "OTEL_EXPORTER_OTLP_INSECURE=true",
				"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20s3cret",
			).run(t)
			streams := seen()
			if len(streams) == 0 {
				t.Fatalf("nobody connected:\n%s", stderr)
			}
			for _, sent := range streams {
				if len(sent) > 0 && sent[0] != 0x16 { // a TLS handshake
					t.Errorf("not TLS: %q", sent)
				}
				if bytes.Contains(sent, []byte("s3cret")) {
					t.Errorf("the header is readable: %q", sent)
				}
			}
			if !strings.Contains(stderr, "OTEL_EXPORTER_OTLP_INSECURE") {
				t.Errorf("no finding: %s", stderr)
			}
		})
	}
}

// wiretap listens, notes what comes first on each connection, and hangs up.
func wiretap(t *testing.T) (addr string, seen func() [][]byte) {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	var mu sync.Mutex
	var streams [][]byte
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			n, err := conn.Read(buf)
			_ = conn.Close()
			if n > 0 || err == nil {
				mu.Lock()
				streams = append(streams, buf[:n])
				mu.Unlock()
			}
		}
	}()
	return ln.Addr().String(), func() [][]byte {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(streams)
	}
}

// An address without a scheme made the exporters fall back to their default
// host, with the headers.
func TestAddressWithoutSchemeGoesNowhereElse(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:4318")
	if err != nil {
		t.Skipf("the default port is taken on this machine: %v", err)
	}
	got := &received{}
	srv := &http.Server{Handler: httpHandler(t, got, takeAll)}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	_, stderr := newChild(t, "spans", "SPANS=5", "OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:9").run(t)
	if n := got.requests.Load(); n != 0 {
		t.Errorf("%d requests went to the default host", n)
	}
	if !strings.Contains(stderr, "http://127.0.0.1:9") {
		t.Errorf("no corrected spelling: %s", stderr)
	}
}

func certificateFile(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
