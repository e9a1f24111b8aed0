package bootstrap_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// plan explains an App shop that is on, with the state home /state.
func plan(vars env.Map, change ...func(*bootstrap.Config)) bootstrap.Plan {
	all := env.Map{"SHOP_TRACING": "true", "XDG_STATE_HOME": "/state"}
	maps.Copy(all, vars)
	cfg := bootstrap.Config{App: "shop", Lookup: all}
	for _, f := range change {
		f(&cfg)
	}
	return bootstrap.Explain(cfg)
}

func alsoFile(c *bootstrap.Config) { c.AlsoFile = true }

const stateFile = "/state/shop/traces/spans.jsonl"

// One case or more for each row of the table "Start" of the design. Findings are
// the variables that have one, in the order of their names.
func TestPlan(t *testing.T) {
	t.Parallel()
	const (
		endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
		tracesEP = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
		protocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
		tracesPr = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
		insecure = "OTEL_EXPORTER_OTLP_INSECURE"
		exporter = "OTEL_TRACES_EXPORTER"
	)
	file := []string{"file " + stateFile}
	for _, c := range []struct {
		name     string
		vars     env.Map
		change   func(*bootstrap.Config)
		want     []string
		findings []string
		otlp     bool // needs the OTLP exporters
		nowhere  bool // spans are made and exported nowhere
	}{
		{name: "no endpoint", want: file},
		{name: "empty endpoint", vars: env.Map{endpoint: " "}, want: file},
		{name: "base endpoint", vars: env.Map{endpoint: "http://c:4318"}, want: []string{"otlp http://c:4318/v1/traces"}, otlp: true},
		{name: "base endpoint with a path", vars: env.Map{endpoint: "http://c:4318/in/"}, want: []string{"otlp http://c:4318/in/v1/traces"}, otlp: true},
		{name: "traces endpoint as given", vars: env.Map{tracesEP: "http://c:4318/x"}, want: []string{"otlp http://c:4318/x"}, otlp: true},
		{name: "traces endpoint wins", vars: env.Map{endpoint: "http://a:1", tracesEP: "http://b:2/x"}, want: []string{"otlp http://b:2/x"}, otlp: true},
		{name: "grpc", vars: env.Map{endpoint: "http://c:4317", protocol: "grpc"}, want: []string{"otlp http://c:4317"}, otlp: true},
		{name: "traces protocol wins", vars: env.Map{endpoint: "http://c:4317", protocol: "http/json", tracesPr: " GRPC "}, want: []string{"otlp http://c:4317"}, otlp: true},
		{name: "http/json", vars: env.Map{endpoint: "http://c:4318", protocol: "http/json"}, want: []string{"otlp http://c:4318/v1/traces"}, otlp: true},
		{name: "protocol without endpoint is not read", vars: env.Map{protocol: "thrift"}, want: file},
		{name: "unknown protocol", vars: env.Map{endpoint: "http://c:4318", protocol: "thrift"}, want: file, findings: []string{protocol}},
		{name: "no scheme", vars: env.Map{endpoint: "localhost:4318"}, want: file, findings: []string{endpoint}},
		{name: "address without scheme", vars: env.Map{endpoint: "127.0.0.1:4318"}, want: file, findings: []string{endpoint}},
		{name: "base endpoint with the path", vars: env.Map{endpoint: "http://c:4318/v1/traces"}, want: []string{"otlp http://c:4318/v1/traces"}, findings: []string{endpoint}, otlp: true},
		{name: "https and insecure", vars: env.Map{endpoint: "https://c:4318", insecure: "true"}, want: []string{"otlp https://c:4318/v1/traces"}, findings: []string{insecure}, otlp: true},
		{name: "http and not insecure", vars: env.Map{endpoint: "http://c:4318", insecure: "false"}, want: []string{"otlp http://c:4318/v1/traces"}, findings: []string{insecure}, otlp: true},
		{name: "grpc at the port of http", vars: env.Map{endpoint: "http://c:4318", protocol: "grpc"}, want: []string{"otlp http://c:4318"}, findings: []string{endpoint}, otlp: true},
		{name: "http at the port of grpc", vars: env.Map{endpoint: "http://c:4317"}, want: []string{"otlp http://c:4317/v1/traces"}, findings: []string{endpoint}, otlp: true},

		{name: "exporter otlp without endpoint", vars: env.Map{exporter: "otlp"}, want: []string{"otlp http://localhost:4318/v1/traces"}, otlp: true},
		{name: "exporter otlp by grpc without endpoint", vars: env.Map{exporter: "otlp", protocol: "grpc"}, want: []string{"otlp http://localhost:4317"}, otlp: true},
		{name: "exporter console", vars: env.Map{exporter: "console"}, want: []string{"console standard output"}},
		{name: "exporter console beside an endpoint", vars: env.Map{exporter: "console", endpoint: "http://c:4318"}, want: []string{"console standard output"}},
		{name: "exporter otlp/stdout", vars: env.Map{exporter: "otlp/stdout"}, want: []string{"otlp/stdout standard output"}},
		{name: "exporter list", vars: env.Map{exporter: " Console , otlp ,console", endpoint: "http://c:4318"}, want: []string{"console standard output", "otlp http://c:4318/v1/traces"}, otlp: true},
		{name: "exporter none", vars: env.Map{exporter: "none"}, nowhere: true},
		{name: "none wins", vars: env.Map{exporter: "console,none"}, nowhere: true, findings: []string{exporter}},
		{name: "unknown exporter beside a known one", vars: env.Map{exporter: "zipkin,console"}, want: []string{"console standard output"}, findings: []string{exporter}},
		{name: "unknown exporter alone", vars: env.Map{exporter: "zipkin"}, want: file, findings: []string{exporter}},
		{name: "unknown exporter alone beside an endpoint", vars: env.Map{exporter: "zipkin", endpoint: "http://c:4318"}, want: file, findings: []string{exporter}},

		{name: "SDK disabled", vars: env.Map{"OTEL_SDK_DISABLED": "true", endpoint: "http://c:4318"}},
		{name: "sampler jaeger_remote", vars: env.Map{"OTEL_TRACES_SAMPLER": "jaeger_remote"}, want: file, findings: []string{"OTEL_TRACES_SAMPLER"}},
		{name: "sampler xray", vars: env.Map{"OTEL_TRACES_SAMPLER": "xray"}, want: file, findings: []string{"OTEL_TRACES_SAMPLER"}},
		{name: "sampler argument", vars: env.Map{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"}, want: file, findings: []string{"OTEL_TRACES_SAMPLER_ARG"}},
		{name: "resource attributes", vars: env.Map{"OTEL_RESOURCE_ATTRIBUTES": "a=b,c=%zz"}, want: file, findings: []string{"OTEL_RESOURCE_ATTRIBUTES"}},
		{name: "batch out of range", vars: env.Map{endpoint: "http://c:4318", "OTEL_BSP_MAX_QUEUE_SIZE": "-1", "OTEL_BSP_SCHEDULE_DELAY": "0"}, want: []string{"otlp http://c:4318/v1/traces"}, findings: []string{"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_SCHEDULE_DELAY"}, otlp: true},
		{name: "limit unparsable", vars: env.Map{"OTEL_SPAN_EVENT_COUNT_LIMIT": "many"}, want: file, findings: []string{"OTEL_SPAN_EVENT_COUNT_LIMIT"}},
		{name: "configuration file", vars: env.Map{"OTEL_CONFIG_FILE": "/etc/otel.yaml"}, want: file, findings: []string{"OTEL_CONFIG_FILE"}},
		{name: "the App's file", vars: env.Map{"SHOP_TRACES_FILE": "/var/spans.jsonl"}, want: []string{"file /var/spans.jsonl"}},
		{name: "the App's file beside OTLP", vars: env.Map{"SHOP_TRACES_FILE": "/var/spans.jsonl", endpoint: "http://c:4318"}, want: []string{"otlp http://c:4318/v1/traces"}, findings: []string{"SHOP_TRACES_FILE"}, otlp: true},
		{name: "AlsoFile", vars: env.Map{"SHOP_TRACES_FILE": "/var/spans.jsonl", endpoint: "http://c:4318"}, change: alsoFile, want: []string{"otlp http://c:4318/v1/traces", "file /var/spans.jsonl"}, otlp: true},
		{name: "misspelled", vars: env.Map{"SHOP_TRACES_FIEL": "/x", "OTEL_SERVICE_NAM": "x"}, want: file, findings: []string{"OTEL_SERVICE_NAM", "SHOP_TRACES_FIEL"}},
		{name: "Kubernetes", vars: env.Map{"SHOP_SERVICE_HOST": "10.0.0.1", "SHOP_SERVICE_PORT": "80", "SHOP_PORT_80_TCP": "x"}, want: file},
		{name: "off", vars: env.Map{"SHOP_TRACING": "0", protocol: "thrift", endpoint: "x"}},
		{name: "neither on nor off", vars: env.Map{"SHOP_TRACING": "yes"}, findings: []string{"SHOP_TRACING"}},
		{name: "switch misspelled", vars: env.Map{"SHOP_TRACING": "", "SHOP_TRACNG": "true"}, findings: []string{"SHOP_TRACNG"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.otlp && !otlpBuiltIn {
				t.Skip("built with waymark_nootlp; see TestPlanWithoutOTLP")
			}
			if c.change == nil {
				c.change = func(*bootstrap.Config) {}
			}
			p := plan(c.vars, c.change)
			var got, findings []string
			for _, d := range p.Destinations {
				got = append(got, d.Name+" "+d.Target)
			}
			for _, f := range p.Findings {
				findings = append(findings, f.Key)
				if f.Want == "" || f.Used == "" {
					t.Errorf("finding without advice: %+v", f)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("destinations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if p.Spans != (len(c.want) > 0 || c.nowhere) {
				t.Errorf("Spans: %t, with destinations %q", p.Spans, got)
			}
		})
	}
}

func TestPlanOrigins(t *testing.T) {
	t.Parallel()
	p := plan(env.Map{
		"OTEL_TRACES_EXPORTER":        "console",
		"OTEL_SERVICE_NAME":           "till",
		"OTEL_BSP_MAX_QUEUE_SIZE":     "7",
		"OTEL_EXPORTER_OTLP_HEADERS":  "authorization=verysecret",
		"OPENINFERENCE_HIDE_INPUTS":   "true",
		"OTEL_TRACES_SAMPLER":         "traceidratio",
		"OTEL_TRACES_SAMPLER_ARG":     "0.25",
		"OTEL_SPAN_LINK_COUNT_LIMIT":  "3",
		"OTEL_PROPAGATORS":            "b3, baggage",
		"SHOP_TRACES_SKIP":            "/healthz",
		"OTEL_RESOURCE_ATTRIBUTES":    "team=a",
		"OTEL_LOG_LEVEL":              "debug",
		"OTEL_BSP_EXPORT_TIMEOUT":     "0",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318",
	}, func(c *bootstrap.Config) {
		c.Version = "v1.2.3"
		c.Mask = func(kv attribute.KeyValue) (attribute.KeyValue, bool) { return kv, true }
		c.ShutdownTimeout = bootstrap.DefaultShutdownTimeout / 2
	})
	values := map[string]bootstrap.Value{}
	for _, v := range p.Values {
		values[v.Name] = v
	}
	for name, want := range map[string][2]string{
		"app":                       {"shop", "Config.App"},
		"SHOP_TRACING":              {"true", "SHOP_TRACING"},
		"service.name":              {"till", "OTEL_SERVICE_NAME"},
		"service.version":           {"v1.2.3", "Config.Version"},
		"destination":               {"console standard output", "OTEL_TRACES_EXPORTER"},
		"batch queue":               {"7", "OTEL_BSP_MAX_QUEUE_SIZE"},
		"batch delay":               {"5s", "default"},
		"batch export timeout":      {"no limit", "OTEL_BSP_EXPORT_TIMEOUT"},
		"sampler":                   {"traceidratio 0.25", "OTEL_TRACES_SAMPLER"},
		"link count limit":          {"3", "OTEL_SPAN_LINK_COUNT_LIMIT"},
		"event count limit":         {"128", "default"},
		"propagators":               {"b3,baggage", "OTEL_PROPAGATORS"},
		"skipped paths":             {"/healthz", "SHOP_TRACES_SKIP"},
		"resource attributes":       {"team=a", "OTEL_RESOURCE_ATTRIBUTES"},
		"hide":                      {"true", "OPENINFERENCE_HIDE_INPUTS"},
		"mask":                      {"a function", "Config.Mask"},
		"OpenTelemetry's log level": {"debug", "OTEL_LOG_LEVEL"},
		"shutdown timeout":          {"4s", "Config.ShutdownTimeout"},
	} {
		if got := [2]string{values[name].Value, values[name].Origin}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	text := p.String()
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text, string(encoded)} {
		if strings.Contains(s, "verysecret") {
			t.Errorf("a secret is in the plan: %s", s)
		}
	}
	for _, v := range p.Values {
		if !strings.Contains(text, v.Name) || !strings.Contains(text, v.Value) || !strings.Contains(text, v.Origin) {
			t.Errorf("%+v is not in the text", v)
		}
	}
}

func TestPlanSaysThatTheBatchIsNotApplied(t *testing.T) {
	t.Parallel()
	p := plan(env.Map{"OTEL_BSP_MAX_QUEUE_SIZE": "7"})
	for _, v := range p.Values {
		if v.Name == "batch queue" && v.Note == "" {
			t.Errorf("no note although the file has no batch processor: %+v", v)
		}
	}
	if !strings.Contains(p.String(), "not applied") {
		t.Errorf("the text does not say it:\n%s", p)
	}
}

func TestExplainIsPure(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	vars := env.Map{"SHOP_TRACING": "1", "XDG_STATE_HOME": home, "SHOP_PROFILE_DIR": home + "/p"}
	first := bootstrap.Explain(bootstrap.Config{App: "shop", Lookup: vars})
	second := bootstrap.Explain(bootstrap.Config{App: "shop", Lookup: vars})
	if first.String() != second.String() {
		t.Error("two answers for one configuration")
	}
	if names := dirNames(t, home); len(names) != 0 {
		t.Errorf("Explain made %q", names)
	}
}
