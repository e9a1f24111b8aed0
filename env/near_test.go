package env_test

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
)

func TestNearMiss(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"SHOP_TRACNG":      "SHOP_TRACING",
		"SHOP_TRACIGN":     "SHOP_TRACING",
		"SHOP_TARCING":     "SHOP_TRACING",
		"SHOP_TRACINGS":    "SHOP_TRACING",
		"SHOPTRACING":      "SHOP_TRACING",
		"SHPO_TRACING":     "SHOP_TRACING",
		"SHOPS_TRACING":    "SHOP_TRACING",
		"shop_tracing":     "SHOP_TRACING",
		"Shop_Tracing":     "SHOP_TRACING",
		"shop_tracng":      "SHOP_TRACING",
		"SHOP_TRACE_FILE":  "SHOP_TRACES_FILE",
		"SHOP_PROFILES":    "SHOP_PROFILE",
		"SHOP_PROFILEDIR":  "SHOP_PROFILE_DIR",
		"SHOP_TRACES_SKPI": "SHOP_TRACES_SKIP",

		"OTEL_SERVCE_NAME":                       "OTEL_SERVICE_NAME",
		"otel_service_name":                      "OTEL_SERVICE_NAME",
		"OTEL_TRACE_EXPORTER":                    "OTEL_TRACES_EXPORTER",
		"OTEL_EXPORTER_OLTP_ENDPOINT":            "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACE_ENDPOINT":      "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_HEADER":              "OTEL_EXPORTER_OTLP_HEADERS",
		"OTEL_EXPORTER_0TLP_PROTOCOL":            "OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_RESOURCE_ATTRIBUTE":                "OTEL_RESOURCE_ATTRIBUTES",
		"OTEL_PROPAGATOR":                        "OTEL_PROPAGATORS",
		"OTEL_TRACES_SAMPLER_ARGS":               "OTEL_TRACES_SAMPLER_ARG",
		"OTEL_SDK_DISABLE":                       "OTEL_SDK_DISABLED",
		"OTEL_INSTRUMENTATION_HTTP_KNOWN_METHOD": "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS",
		"OPENINFERENCE_HIDE_EMBEDDINGS_VECTOR":   "OPENINFERENCE_HIDE_EMBEDDINGS_VECTORS",
		"OPENINFERENCE_HIDE_INPUTSS":             "OPENINFERENCE_HIDE_INPUTS",
	} {
		_, findings := parse(on(given, "s3cret"))
		if !wants(findings, given, "the name "+want) || findings[0].Value != "***" || findings[0].Used != "nothing of it" {
			t.Errorf("%s: findings %+v, want one that names %s", given, findings, want)
		}
	}
	_, findings := env.Parse("shop", env.Map{"SHOP_TRACNG": "True"})
	if len(findings) != 1 || findings[0].Value != "True" {
		t.Errorf("a misspelled switch, off: %+v, want one finding with its value", findings)
	}
	if _, findings = env.Parse("shop", env.Map{"OTEL_SERVCE_NAME": "x"}); len(findings) > 0 {
		t.Errorf("a misspelled name of OpenTelemetry's, off: %v, want none", findings)
	}
}

func TestNoNearMiss(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		// Kubernetes, for services of these names.
		"SHOP_TRACING_SERVICE_HOST", "SHOP_TRACING_SERVICE_PORT", "SHOP_TRACING_SERVICE_PORT_HTTP", "SHOP_TRACING_PORT",
		"SHOP_TRACING_PORT_80_TCP", "SHOP_TRACING_PORT_80_TCP_ADDR", "SHOP_PORT", "SHOP_SERVICE_HOST",
		"OTEL_SERVICE_HOST", "OTEL_SERVICE_PORT", "OTEL_TRACES_PORT", "OTEL_SERVICE_NAM_PORT_80_TCP", "SHOP_PROFILE_PORT",
		// Other signals, languages and exporters.
		"OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER", "OTEL_PROFILES_EXPORTER", "OTEL_METRICS_EXEMPLAR_FILTER",
		"OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT",
		"OTEL_BLRP_SCHEDULE_DELAY", "OTEL_BLRP_EXPORT_TIMEOUT", "OTEL_BLRP_MAX_QUEUE_SIZE", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
		"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "OTEL_EXPORTER_OTLP_SPAN_INSECURE",
		"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "OTEL_EXPORTER_ZIPKIN_ENDPOINT", "OTEL_EXPORTER_JAEGER_ENDPOINT",
		"OTEL_EXPORTER_PROMETHEUS_HOST", "OTEL_EXPORTER_PROMETHEUS_PORT",
		"OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
		"OTEL_GO_X_OBSERVABILITY", "OTEL_GO_X_RESOURCE", "OTEL_GO_X_SELF_OBSERVABILITY", "OTEL_PYTHON_LOG_LEVEL",
		"OTEL_PYTHON_EXCLUDED_URLS", "OTEL_NODE_RESOURCE_DETECTORS", "OTEL_JAVAAGENT_ENABLED", "OTEL_ENTITIES",
		"OTEL_SEMCONV_STABILITY_OPT_IN", "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN",
		"OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST", "OTEL_SERVICE_VERSION", "OTEL_RESOURCE_PROVIDERS",
		"TRACEPARENT", "TRACESTATE", "BAGGAGE", "XDG_DATA_HOME", "XDG_STATE_HOM", "XDG_CACHE_HOME", "HOME", "PATH",
		// Other variables and other programs.
		"SHOP_DATABASE", "SHOP_TRACES", "SHOP", "STORE_TRACING", "STOP_IT_TRACING", "SHOP2_TRACING", "ZZOP_TRACING", "TRACING",
		"OPENINFERENCE_HIDE", "",
	} {
		if _, findings := parse(on(name, "x")); len(findings) > 0 {
			t.Errorf("%s: findings %v, want none", name, findings)
		}
	}
}

// Every name that is read is no misspelling of another.
func TestKnownNamesAreNoNearMisses(t *testing.T) {
	t.Parallel()
	all := on()
	for _, v := range env.Variables("shop") {
		all[v.Name] = "x"
	}
	_, findings := parse(all)
	for _, f := range findings {
		if strings.HasPrefix(f.Want, "the name ") {
			t.Errorf("%v", f)
		}
	}
}

func TestShortApps(t *testing.T) {
	t.Parallel()
	others := env.Map{}
	for _, name := range []string{
		"B_TRACING", "AB_TRACING", "API_TRACING", "APP_TRACING", "AA_PROFILE", "A_TRACKERS", "A1_TRACING", "TRACING", "_TRACING",
		"MY_TRACING", "A_DATABASE", "X_TRACES_FILE", "SHOP_TRACING",
	} {
		others[name] = "true"
	}
	for _, app := range []string{"a", "go", "", "-", "7"} {
		m := env.Map{}
		for name, v := range others {
			if name != env.Prefix(app)+"_TRACING" {
				m[name] = v
			}
		}
		if _, findings := env.Parse(app, m); len(findings) > 0 {
			t.Errorf("App %q: findings %v, want none", app, findings)
		}
	}
	if _, findings := env.Parse("a", env.Map{"A_TRACNG": "1"}); !wants(findings, "A_TRACNG", "A_TRACING") {
		t.Errorf("App a: findings %v, want one", findings)
	}
	if _, findings := env.Parse("checkout", env.Map{"CHEKCOUT_TRACING": "1"}); !wants(findings, "CHEKCOUT_TRACING", "CHECKOUT_TRACING") {
		t.Errorf("App checkout: findings %v, want one", findings)
	}
}

// caseless looks variables up as Windows does.
type caseless struct{ env.Map }

func (c caseless) Lookup(key string) (string, bool) {
	for k, v := range c.Map {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	return "", false
}

func TestCaseOfNames(t *testing.T) {
	t.Parallel()
	s, findings := env.Parse("shop", caseless{env.Map{"Shop_Tracing": "true", "Otel_Service_Name": "x"}})
	if !s.Tracing.V || s.ServiceName.V != "x" || len(findings) > 0 {
		t.Errorf("where case does not count: %+v, findings %v", s.Tracing, findings)
	}
	s, findings = env.Parse("shop", env.Map{"Shop_Tracing": "true"})
	if s.Tracing.V || !wants(findings, "Shop_Tracing", "the name SHOP_TRACING") {
		t.Errorf("where case counts: %+v, findings %v", s.Tracing, findings)
	}
}
