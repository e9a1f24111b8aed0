package env_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
)

func TestSDKDisabled(t *testing.T) {
	t.Parallel()
	check(t, "OTEL_SDK_DISABLED", func(s env.Settings) env.Value[bool] { return s.SDKDisabled }, []tc{
		{"true", true, ""},
		{"TRUE", true, ""},
		{" true ", true, ""},
		{"false", false, ""},
		{"", false, ""},
		{"1", false, "true or false"},
		{"0", false, "true or false"},
		{"yes", false, "true or false"},
	})
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	check(t, "OTEL_LOG_LEVEL", func(s env.Settings) env.Value[slog.Level] { return s.LogLevel }, []tc{
		{"none", env.LevelNone, ""},
		{"ERROR", slog.LevelError, ""},
		{"warn", slog.LevelWarn, ""},
		{"Warning", slog.LevelWarn, ""},
		{"info", slog.LevelInfo, ""},
		{"debug", slog.LevelDebug, ""},
		{"loud", slog.LevelWarn, "none, error, warn, info or debug"},
		{"4", slog.LevelWarn, "none, error"},
	})
}

func TestPropagators(t *testing.T) {
	t.Parallel()
	def := []string{"tracecontext", "baggage"}
	check(t, "OTEL_PROPAGATORS", func(s env.Settings) env.Value[[]string] { return s.Propagators }, []tc{
		{"tracecontext, baggage", def, ""},
		{"TraceContext", []string{"tracecontext"}, ""},
		{"b3,b3multi,jaeger,xray,ottrace", []string{"b3", "b3multi", "jaeger", "xray", "ottrace"}, ""},
		{"baggage,baggage , BAGGAGE", []string{"baggage"}, ""},
		{" ", def, ""},
		{"none", []string{"none"}, ""},
		{"NONE,none", []string{"none"}, ""},
		{"none,b3", []string{"none"}, "none alone"},
		{"b3,zipkin", []string{"b3"}, `not "zipkin"`},
		{"Zipkin", def, `not "Zipkin"`},
		{",,", def, "tracecontext, baggage"},
	})
}

func TestSampler(t *testing.T) {
	t.Parallel()
	def := env.Sampler{Name: "parentbased_always_on", Arg: 1}
	get := func(s env.Settings) env.Value[env.Sampler] { return s.Sampler }
	check(t, "OTEL_TRACES_SAMPLER", get, []tc{
		{"always_on", env.Sampler{Name: "always_on", Arg: 1}, ""},
		{" Always_Off ", env.Sampler{Name: "always_off", Arg: 1}, ""},
		{"traceidratio", env.Sampler{Name: "traceidratio", Arg: 1}, ""},
		{"parentbased_always_on", def, ""},
		{"parentbased_always_off", env.Sampler{Name: "parentbased_always_off", Arg: 1}, ""},
		{"parentbased_traceidratio", env.Sampler{Name: "parentbased_traceidratio", Arg: 1}, ""},
		{"", def, ""},
		{"jaeger_remote", def, "always_on, always_off"},
		{"parentbased_jaeger_remote", def, "always_on, always_off"},
		{"xray", def, "always_on, always_off"},
		{"Sometimes", def, "always_on, always_off"},
	})
	for _, c := range []struct {
		sampler, arg string
		want         env.Sampler
		bad          bool
	}{
		{"traceidratio", "0.25", env.Sampler{Name: "traceidratio", Arg: 0.25}, false},
		{"parentbased_traceidratio", " 1e-3 ", env.Sampler{Name: "parentbased_traceidratio", Arg: 0.001}, false},
		{"traceidratio", "0", env.Sampler{Name: "traceidratio"}, false},
		{"traceidratio", "1.0", env.Sampler{Name: "traceidratio", Arg: 1}, false},
		{"traceidratio", "", env.Sampler{Name: "traceidratio", Arg: 1}, false},
		{"traceidratio", "2", def, true},
		{"traceidratio", "-1", def, true},
		{"traceidratio", "10%", def, true},
		{"traceidratio", "NaN", def, true},
		{"traceidratio", "Inf", def, true},
		{"traceidratio", "half", def, true},
		{"always_off", "0.5", env.Sampler{Name: "always_off", Arg: 1}, true},
		{"", "0.5", def, true},
	} {
		s, findings := parse(on("OTEL_TRACES_SAMPLER", c.sampler, "OTEL_TRACES_SAMPLER_ARG", c.arg))
		if s.Sampler.V != c.want {
			t.Errorf("sampler %q, argument %q: %+v, want %+v", c.sampler, c.arg, s.Sampler.V, c.want)
		}
		if got := keys(findings); c.bad != (len(got) == 1 && got[0] == "OTEL_TRACES_SAMPLER_ARG") || !c.bad && len(got) > 0 {
			t.Errorf("sampler %q, argument %q: findings %v, want one: %v", c.sampler, c.arg, findings, c.bad)
		}
	}
}

// Each of these makes the SDK panic, spin, or lose every span.
func TestBatch(t *testing.T) {
	t.Parallel()
	queue := func(s env.Settings) env.Value[int] { return s.Batch.MaxQueueSize }
	check(t, "OTEL_BSP_MAX_QUEUE_SIZE", queue, []tc{
		{"1", 1, ""},
		{"4096", 4096, ""},
		{"1048576", 1 << 20, ""},
		{"0", 2048, "1 to 1048576"},
		{"-1", 2048, "1 to 1048576"},
		{"1048577", 2048, "1 to 1048576"},
		{"9223372036854775807", 2048, "1 to"},
		{"99999999999999999999", 2048, "1 to"},
		{"2k", 2048, "1 to"},
		{"1.5", 2048, "1 to"},
	})
	size := func(s env.Settings) env.Value[int] { return s.Batch.MaxExportBatchSize }
	check(t, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", size, []tc{
		{"1", 1, ""},
		{"2048", 2048, ""},
		{"0", 512, "1 to 2048"},
		{"-1", 512, "1 to 2048"},
		{"2049", 512, "1 to 2048"},
		{"x", 512, "1 to 2048"},
	})
	check(t, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", size, []tc{
		{"", 100, ""}, {"100", 100, ""}, {"101", 100, "1 to 100"},
	}, "OTEL_BSP_MAX_QUEUE_SIZE", "100")
	check(t, "OTEL_BSP_SCHEDULE_DELAY", func(s env.Settings) env.Value[time.Duration] { return s.Batch.ScheduleDelay }, []tc{
		{"1", time.Millisecond, ""},
		{"2147483647", 2147483647 * time.Millisecond, ""},
		{"0", 5 * time.Second, "1 to 2147483647"},
		{"-1", 5 * time.Second, "1 to"},
		{"2147483648", 5 * time.Second, "1 to"},
		{"5s", 5 * time.Second, "in milliseconds (here 5000)"},
		{"1.5", 5 * time.Second, "in milliseconds"},
		{"0s", 5 * time.Second, "in milliseconds"},
	})
	check(t, "OTEL_BSP_EXPORT_TIMEOUT", func(s env.Settings) env.Value[time.Duration] { return s.Batch.ExportTimeout }, []tc{
		{"0", time.Duration(0), ""},
		{"100", 100 * time.Millisecond, ""},
		{"-1", 30 * time.Second, "0 to 2147483647"},
		{"30s", 30 * time.Second, "(here 30000)"},
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for key, get := range map[string]func(env.Settings) env.Value[int]{
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT":  func(s env.Settings) env.Value[int] { return s.Limits.AttributeCount },
		"OTEL_ATTRIBUTE_COUNT_LIMIT":       func(s env.Settings) env.Value[int] { return s.Limits.AttributeCount },
		"OTEL_SPAN_EVENT_COUNT_LIMIT":      func(s env.Settings) env.Value[int] { return s.Limits.EventCount },
		"OTEL_SPAN_LINK_COUNT_LIMIT":       func(s env.Settings) env.Value[int] { return s.Limits.LinkCount },
		"OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": func(s env.Settings) env.Value[int] { return s.Limits.AttributePerEventCount },
		"OTEL_LINK_ATTRIBUTE_COUNT_LIMIT":  func(s env.Settings) env.Value[int] { return s.Limits.AttributePerLinkCount },
	} {
		check(t, key, get, []tc{
			{"0", 0, ""},
			{"7", 7, ""},
			{"2147483647", 2147483647, ""},
			{"-1", 128, "0 to 2147483647"},
			{"2147483648", 128, "0 to"},
			{"none", 128, "0 to"},
		})
	}
	length := func(s env.Settings) env.Value[int] { return s.Limits.AttributeValueLength }
	for _, key := range []string{"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"} {
		check(t, key, length, []tc{{"0", 0, ""}, {"80", 80, ""}, {"", -1, ""}, {"-1", -1, "0 to"}, {"long", -1, "0 to"}})
	}
}

// A value that cannot be parsed counts as unset, so that the general variable
// stands in (the SDK goes to the default).
func TestLimitSpecificOverGeneral(t *testing.T) {
	t.Parallel()
	s, findings := parse(on("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "10", "OTEL_ATTRIBUTE_COUNT_LIMIT", "20"))
	if want := (env.Value[int]{V: 10, Key: "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"}); s.Limits.AttributeCount != want || len(findings) > 0 {
		t.Errorf("specific and general: %+v, %v, want %+v", s.Limits.AttributeCount, findings, want)
	}
	s, findings = parse(on("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "ten", "OTEL_ATTRIBUTE_COUNT_LIMIT", "20"))
	if want := (env.Value[int]{V: 20, Key: "OTEL_ATTRIBUTE_COUNT_LIMIT"}); s.Limits.AttributeCount != want {
		t.Errorf("bad specific: %+v, want %+v", s.Limits.AttributeCount, want)
	}
	want := []env.Finding{{
		Key: "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", Value: "ten",
		Want: "a whole number from 0 to 2147483647", Used: "20 from OTEL_ATTRIBUTE_COUNT_LIMIT",
	}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("bad specific: findings (-want +got):\n%s", diff)
	}
	_, findings = parse(on("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "x", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "y"))
	if len(findings) != 2 || findings[0].Used != "no limit" || findings[1].Used != "no limit" {
		t.Errorf("both bad: %v, want two findings that use no limit", findings)
	}
}

func TestTracesExporter(t *testing.T) {
	t.Parallel()
	check(t, "OTEL_TRACES_EXPORTER", func(s env.Settings) env.Value[[]string] { return s.Exporters }, []tc{
		{"otlp", []string{"otlp"}, ""},
		{"console", []string{"console"}, ""},
		{"otlp/stdout", []string{"otlp/stdout"}, ""},
		{" OTLP , console,otlp", []string{"otlp", "console"}, ""},
		{"none", []string{"none"}, ""},
		{"", []string(nil), ""},
		{"none,otlp", []string{"none"}, "none alone"},
		{"otlp,zipkin", []string{"otlp"}, `not "zipkin"`},
	})
	for _, given := range []string{"logging", "Zipkin", "jaeger", "file", ",", "otlp console"} {
		s, findings := parse(on("OTEL_TRACES_EXPORTER", given, "OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318"))
		if s.Exporters.V == nil || len(s.Exporters.V) > 0 || !s.Exporters.IsSet() || s.OTLP.Endpoint.V != "" {
			t.Errorf("OTEL_TRACES_EXPORTER=%q: %#v, endpoint %q, want nothing left and no endpoint", given, s.Exporters, s.OTLP.Endpoint.V)
		}
		if len(findings) != 1 || findings[0].Used != "the file" || findings[0].Value != given {
			t.Errorf("OTEL_TRACES_EXPORTER=%q: findings %+v, want one that uses the file", given, findings)
		}
	}
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE"} {
		s, findings := parse(on(key, "otel.yaml", "OTEL_SERVICE_NAME", "x"))
		if len(findings) != 1 || findings[0].Key != key || findings[0].Used != "the other variables" || s.ServiceName.V != "x" {
			t.Errorf("%s: findings %v, service %q", key, findings, s.ServiceName.V)
		}
	}
}

func TestKnownMethods(t *testing.T) {
	t.Parallel()
	check(t, "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", func(s env.Settings) env.Value[[]string] { return s.KnownMethods }, []tc{
		{"GET, POST,PURGE", []string{"GET", "POST", "PURGE"}, ""},
		{"get,GET,GET", []string{"get", "GET"}, ""},
		{"GET,BAD METHOD", []string{"GET"}, `not "BAD METHOD"`},
		{"(", []string(nil), `not "("`},
		{",", []string(nil), "a list of HTTP methods"},
	})
}

func TestHide(t *testing.T) {
	t.Parallel()
	get := func(s env.Settings) env.Value[bool] { return s.Hide.Inputs }
	check(t, "OPENINFERENCE_HIDE_INPUTS", get, []tc{
		{"true", true, ""},
		{" TRUE ", true, ""},
		{"1", true, ""},
		{"false", false, ""},
		{"0", false, ""},
		{"", false, ""},
		{"yes", true, "true, 1, false or 0"},
		{"no", true, "true, 1, false or 0"},
	})
	if s, _ := parse(on("OPENINFERENCE_HIDE_INPUTS", "ja")); s.Hide.Inputs.Key != "OPENINFERENCE_HIDE_INPUTS" {
		t.Errorf("a value that hides has no key: %+v", s.Hide.Inputs)
	}
	for older, get := range map[string]func(env.Settings) env.Value[bool]{
		"OPENINFERENCE_HIDE_EMBEDDING_VECTORS": func(s env.Settings) env.Value[bool] { return s.Hide.EmbeddingsVectors },
		"OPENINFERENCE_HIDE_LLM_PROMPTS":       func(s env.Settings) env.Value[bool] { return s.Hide.Prompts },
	} {
		check(t, older, get, []tc{{"true", true, ""}, {"false", false, ""}, {"ja", true, "true, 1, false or 0"}})
	}
	if s, _ := parse(on("OPENINFERENCE_HIDE_PROMPTS", "false", "OPENINFERENCE_HIDE_LLM_PROMPTS", "true")); !s.Hide.Prompts.V {
		t.Error("a switch that is off covers the older name, which is on")
	}
	for value, set := range map[string]bool{"": false, "0": true, "32k": true} {
		if s, _ := parse(on("OPENINFERENCE_BASE64_IMAGE_MAX_LENGTH", value)); s.Hide.Base64ImageMaxLength.IsSet() != set {
			t.Errorf("%q limits images: %v", value, !set)
		}
	}
	check(t, "OPENINFERENCE_BASE64_IMAGE_MAX_LENGTH", func(s env.Settings) env.Value[int] { return s.Hide.Base64ImageMaxLength }, []tc{
		{"0", 0, ""}, {"100", 100, ""}, {"-1", 32000, "0 to"}, {"32k", 32000, "0 to"},
	})
}

func TestResource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, attributes string
		service          env.Value[string]
		pairs            []env.Pair
		bad              string
	}{
		{"", "", env.Value[string]{}, nil, ""},
		{" api ", "", env.Value[string]{V: "api", Key: "OTEL_SERVICE_NAME"}, nil, ""},
		{"api", "service.name=other,a=b", env.Value[string]{V: "api", Key: "OTEL_SERVICE_NAME"}, []env.Pair{{"a", "b"}}, ""},
		{"", "service.name=other,a=b", env.Value[string]{V: "other", Key: "OTEL_RESOURCE_ATTRIBUTES"}, []env.Pair{{"a", "b"}}, ""},
		{"unknown_service", "service.name=other", env.Value[string]{V: "other", Key: "OTEL_RESOURCE_ATTRIBUTES"}, nil, ""},
		{"unknown_service:shop", "service.name=unknown_service:x", env.Value[string]{}, nil, ""},
		{"unknown_service_prod", "", env.Value[string]{V: "unknown_service_prod", Key: "OTEL_SERVICE_NAME"}, nil, ""},
		{"", "service.name=unknown_service", env.Value[string]{}, nil, ""},
		{"", "service.name=", env.Value[string]{}, nil, ""},
		{"", " a = b%20c , d%2Ce=%3D,", env.Value[string]{}, []env.Pair{{"a", "b c"}, {"d,e", "="}}, ""},
		{"", "a=b=c", env.Value[string]{}, []env.Pair{{"a", "b=c"}}, ""},
		{"", "a=1,b=2,a=3", env.Value[string]{}, []env.Pair{{"a", "3"}, {"b", "2"}}, ""},
		{"", "a=b+c", env.Value[string]{}, []env.Pair{{"a", "b+c"}}, ""},
		{"", "a=", env.Value[string]{}, []env.Pair{{"a", ""}}, ""},
		{"", "a=b,c=%zz,bad,d=e%2Cf", env.Value[string]{}, nil, "item 2 is not"},
		{"", "service.name=x,bad", env.Value[string]{}, nil, "item 2 is not"},
		{"api", "bad", env.Value[string]{V: "api", Key: "OTEL_SERVICE_NAME"}, nil, "item 1 is not"},
		{"", "=x", env.Value[string]{}, nil, "item 1 is not"},
		{"", "a=%ff", env.Value[string]{}, nil, "item 1 is not"},
	} {
		s, findings := parse(on("OTEL_SERVICE_NAME", c.name, "OTEL_RESOURCE_ATTRIBUTES", c.attributes))
		if s.ServiceName != c.service {
			t.Errorf("name %q, attributes %q: service.name %+v, want %+v", c.name, c.attributes, s.ServiceName, c.service)
		}
		if diff := cmp.Diff(c.pairs, s.ResourceAttributes.V); diff != "" {
			t.Errorf("name %q, attributes %q: attributes (-want +got):\n%s", c.name, c.attributes, diff)
		}
		if c.bad == "" && len(findings) > 0 || c.bad != "" && !wants(findings, "OTEL_RESOURCE_ATTRIBUTES", c.bad) {
			t.Errorf("name %q, attributes %q: findings %v, want %q", c.name, c.attributes, findings, c.bad)
		}
	}
}
