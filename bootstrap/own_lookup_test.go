//go:build !waymark_nootlp

package bootstrap_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
)

// poison is what the variables of the process say in TestOwnLookup: malformed
// values, which OpenTelemetry's parts would report in clear, and good ones,
// which would change what is sent, and where to. Malformed limits are left out:
// OpenTelemetry's API reports them before main.
func poison(cert string) map[string][]string {
	return map[string][]string{
		"malformed": {
			"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:1?api-key=p0ison", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://u:p0ison%zz@h:x",
			"OTEL_EXPORTER_OTLP_PROTOCOL=p0ison", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=p0ison",
			"OTEL_EXPORTER_OTLP_INSECURE=p0ison", "OTEL_EXPORTER_OTLP_TRACES_INSECURE=p0ison",
			"OTEL_EXPORTER_OTLP_HEADERS=Authorization: Bearer p0ison", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=%zzp0ison,p0ison",
			"OTEL_EXPORTER_OTLP_COMPRESSION=p0ison", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=p0ison",
			"OTEL_EXPORTER_OTLP_TIMEOUT=p0ison", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=-p0ison",
			"OTEL_EXPORTER_OTLP_CERTIFICATE=/p0ison", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=/p0ison",
			"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/p0ison", "OTEL_EXPORTER_OTLP_CLIENT_KEY=-----BEGIN p0ison",
			"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE=/p0ison", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY=-----BEGIN p0ison",
			"OTEL_BSP_SCHEDULE_DELAY=p0ison", "OTEL_BSP_EXPORT_TIMEOUT=p0ison", "OTEL_BSP_MAX_QUEUE_SIZE=p0ison", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=p0ison",
			"OTEL_TRACES_SAMPLER=p0ison", "OTEL_RESOURCE_ATTRIBUTES=api-key:p0ison,a=%zzp0ison",
			"OTEL_PROPAGATORS=p0ison", "OTEL_TRACES_EXPORTER=p0ison", "OTEL_LOG_LEVEL=p0ison", "OTEL_SDK_DISABLED=p0ison", "SHOP_TRACING=p0ison",
		},
		"good": {
			"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:1/p0ison", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://127.0.0.1:1/p0ison",
			"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json",
			"OTEL_EXPORTER_OTLP_INSECURE=false", "OTEL_EXPORTER_OTLP_TRACES_INSECURE=false",
			"OTEL_EXPORTER_OTLP_HEADERS=x-poison=p0ison", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-poison=p0ison",
			"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=gzip",
			"OTEL_EXPORTER_OTLP_TIMEOUT=1", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=1",
			"OTEL_EXPORTER_OTLP_CERTIFICATE=" + cert, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=" + cert,
			"OTEL_BSP_SCHEDULE_DELAY=1", "OTEL_BSP_EXPORT_TIMEOUT=1", "OTEL_BSP_MAX_QUEUE_SIZE=1", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1",
			"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=0", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=0", "OTEL_SPAN_EVENT_COUNT_LIMIT=0",
			"OTEL_TRACES_SAMPLER=always_off", "OTEL_SERVICE_NAME=p0ison", "OTEL_RESOURCE_ATTRIBUTES=p0ison=p0ison",
			"OTEL_PROPAGATORS=none", "OTEL_TRACES_EXPORTER=none", "OTEL_LOG_LEVEL=debug", "OTEL_SDK_DISABLED=true", "SHOP_TRACING=false",
		},
	}
}

// What is built depends on Config.Lookup alone: no variable of the process has
// an effect, and none is told.
func TestOwnLookup(t *testing.T) {
	t.Parallel()
	for kind, process := range poison(certificateFile(t)) {
		for _, protocol := range []string{"grpc", "http/protobuf"} {
			for _, globals := range []string{"ours", "none"} {
				t.Run(strings.Join([]string{kind, protocol, "globals " + globals}, " "), func(t *testing.T) {
					t.Parallel()
					got, vars := collectorFor(t, protocol, takeAll)
					vars["SHOP_TRACING"] = "true"
					vars["OTEL_EXPORTER_OTLP_HEADERS"] = "x-key=right"
					set := append(slices.Clone(process), "GLOBALS="+globals, "LOOKUP="+jsonOf(t, vars))
					stdout, stderr := newChild(t, "own lookup", set...).run(t)
					if got.count() != 20 || got.requests.Load() != 1 {
						t.Errorf("%d spans in %d requests, want 20 in one", got.count(), got.requests.Load())
					}
					got.asAsked(t)
					if strings.Contains(stdout+stderr, "p0ison") || stdout != "" {
						t.Error("a variable of the process is printed")
					}
					for line := range strings.Lines(stderr) {
						if !json.Valid([]byte(line)) {
							t.Errorf("printed outside of the log: %s", line)
						}
					}
					if t.Failed() {
						t.Logf("standard output:\n%s\nstandard error:\n%s", stdout, stderr)
					}
				})
			}
		}
	}
}

// asAsked checks what the collector of TestOwnLookup got.
func (r *received) asAsked(t *testing.T) {
	t.Helper()
	for _, span := range r.spans {
		if len(span.GetAttributes()) != 1 || span.GetAttributes()[0].GetValue().GetStringValue() != "value" || len(span.GetEvents()) != 1 {
			t.Errorf("the limits are not the configuration's: %v", span)
		}
	}
	for _, rs := range r.resource {
		if s := rs.GetResource().String(); strings.Contains(s, "p0ison") {
			t.Errorf("the resource is not the configuration's: %s", s)
		}
	}
	for _, h := range r.headers {
		lower := map[string][]string{}
		for k, v := range h {
			lower[strings.ToLower(k)] = v
		}
		if !slices.Equal(lower["x-key"], []string{"right"}) || lower["x-poison"] != nil || lower["content-encoding"] != nil {
			t.Errorf("the headers are not the configuration's: %v", h)
		}
	}
	for _, coding := range r.coding {
		if coding != "" {
			t.Errorf("compressed by %s, which nobody asked for", coding)
		}
	}
}

func jsonOf(t *testing.T, vars env.Map) string {
	t.Helper()
	b, err := json.Marshal(vars)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
