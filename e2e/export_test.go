package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
)

// token needs escaping in a header list. It has no space: the Collector takes
// what follows one for a comment.
const token = "t0k3n,with=and%"

// gzipMagic begins every gzip stream.
var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// security is one way to reach a Collector.
type security struct {
	name      string
	collector collectorConfig
	vars      map[string]string
	gzip, tls bool
}

func securities(certs *certificates) []security {
	return []security{
		{name: "plain"},
		{name: "gzip", gzip: true, vars: map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}},
		{
			name: "header", collector: collectorConfig{token: token},
			vars: map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=" + url.PathEscape("Bearer "+token)},
		},
		{
			name: "tls", tls: true, collector: collectorConfig{certs: certs},
			vars: map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": certs.ca},
		},
		{
			name: "mutual tls, header, gzip", tls: true, collector: collectorConfig{certs: certs, mutual: true, token: token},
			vars: map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE":        certs.ca,
				"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": certs.client.cert,
				"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY":         certs.client.key,
				"OTEL_EXPORTER_OTLP_TRACES_HEADERS":            "authorization=" + url.PathEscape("Bearer "+token),
				"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION":        "gzip",
			},
		},
	}
}

// protocols are the values of OTEL_EXPORTER_OTLP_PROTOCOL, by names for tests.
var protocols = map[string]string{"grpc": "grpc", "http-protobuf": "http/protobuf", "http-json": "http/json"}

// What the Collector got by each protocol is what the file has, attribute by
// attribute, with types.
func TestExport(t *testing.T) {
	t.Parallel()
	for _, sec := range securities(newCertificates(t)) {
		for name, protocol := range protocols {
			t.Run(name+" "+sec.name, func(t *testing.T) {
				t.Parallel()
				testExport(t, protocol, sec)
			})
		}
	}
}

func testExport(t *testing.T, protocol string, sec security) {
	t.Helper()
	c := startCollector(t, sec.collector)
	wire := newTap(t, c.address(protocol))
	scheme := "http"
	if sec.tls {
		scheme = "https"
	}
	vars := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": scheme + "://" + wire.addr,
		"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
		"OTEL_SERVICE_NAME":           "export-test",
		"OTEL_RESOURCE_ATTRIBUTES":    "team=blue%2C%20green,shop.rank=7",
	}
	maps.Copy(vars, sec.vars)
	s := startServer(t, vars, "-also-file")
	s.get(t, "/kinds")
	s.greet(t, 10)
	caller := call(t, s, "/hello/traced")
	e := s.stop(t)
	if e.Error != "" {
		t.Errorf("the server ended with %q", e.Error)
	}
	s.quiet(t, token, e)
	c.end(t)

	want, got := s.spans(t), c.spans(t)
	checkRichness(t, want, caller)
	sameSpans(t, got, want)
	for _, name := range []string{"otlp", "file"} {
		if a := e.Report.of(t, name); a.Exported != uint64(len(want)) || a.Ended != a.Exported {
			t.Errorf("account %+v, want all of %d exported", a, len(want))
		}
	}
	// The wire is as it was asked for.
	if readable := wire.saw([]byte("export-test")); readable != (!sec.tls && !sec.gzip) {
		t.Errorf("the service name in the clear: %t", readable)
	}
	if zipped := wire.saw(gzipMagic); !sec.tls && zipped != sec.gzip {
		t.Errorf("gzip on the wire: %t", zipped)
	}
}

// callerSpan is the span that calls.
const callerSpan = "b7ad6b7169203331"

// call calls the route as a traced client does, in a trace of its own.
func call(t *testing.T, s *tracedServer, path string) (traceID string) {
	t.Helper()
	traceID = fmt.Sprintf("%016x%016x", rand.Uint64()|1<<63, rand.Uint64())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("traceparent", "00-"+traceID+"-"+callerSpan+"-01")
	req.Header.Set("tracestate", "rojo=00f067aa0ba902b7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	return traceID
}

// checkRichness fails unless the oracle itself has what it should have: two
// empty sets are equal too.
func checkRichness(t *testing.T, set spanSet, caller string) {
	t.Helper()
	// 11 greetings of 2 spans, and /kinds with 5 below it.
	if len(set) != 11*2+6 || set.twice() != 0 {
		t.Errorf("the file has %d spans, %d of them twice", len(set), set.twice())
	}
	every := set.one(t, "every client")
	for key, want := range map[string]any{
		"empty": "empty", "bool": "bool true", "int.min": "int -9223372036854775808", "int.max": "int 9223372036854775807",
		"float.whole": "double 3 4008000000000000", "float.nan": "double NaN", "float.inf": "double +Inf 7ff0000000000000",
		"string": `string "<a href=\"x\">&amp;</a> \u2028 \x00 \x1f \\ é 🜁"`, "bytes": "bytes 0001fbff",
	} {
		if got := every.Attributes[key]; got != want {
			t.Errorf("attribute %s is %v, want %v", key, got, want)
		}
	}
	// The SDK drops the empty key of a span, and counts it.
	if n, all := len(every.Attributes), len(every.Links[0].Attributes); all != 26 || n != all-1 || every.DroppedAttrs != 1 {
		t.Errorf("%d attributes, %d of the link, %d dropped", n, all, every.DroppedAttrs)
	}
	if state := every.Links[0].State; state != "vendor=value,other@tenant=x" {
		t.Errorf("the link's state is %q", state)
	}
	if len(every.Events) != 3 || len(every.Links) != 2 || every.Status != "Error" || every.StatusMessage != `broken "pipe"` || every.Kind != "Client" {
		t.Errorf("span %+v", every)
	}
	for key, want := range map[string]any{
		"service.name": `string "export-test"`, "team": `string "blue, green"`, "shop.rank": `string "7"`,
	} {
		if got := every.Resource[key]; got != want {
			t.Errorf("resource %s is %v, want %v", key, got, want)
		}
	}
	if every.ScopeVersion != "1.2.3" || every.Scope["scope.rank"] != "int 7" || every.ScopeSchema == "" {
		t.Errorf("scope %+v", every)
	}
	for _, server := range set.named("GET /hello/{name}") {
		if server.TraceID == caller {
			if server.ParentID != callerSpan || server.State != "rojo=00f067aa0ba902b7" {
				t.Errorf("the called span has parent %s and state %q", server.ParentID, server.State)
			}
			return
		}
	}
	t.Error("no span is of the caller's trace")
}
