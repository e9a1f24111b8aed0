package env_test

import (
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
)

// on returns variables with the switch of the App shop on.
func on(pairs ...string) env.Map {
	m := env.Map{"SHOP_TRACING": "true"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// parse is Parse for the App shop.
func parse(m env.Map) (env.Settings, []env.Finding) { return env.Parse("shop", m) }

// keys are the variables that findings are about.
func keys(findings []env.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Key)
	}
	return out
}

// wants tells whether there is one finding, about key, that wants what.
func wants(findings []env.Finding, key, what string) bool {
	return len(findings) == 1 && findings[0].Key == key && strings.Contains(findings[0].Want, what)
}

// tc is one spelling of one variable and what becomes of it.
type tc struct {
	given string
	want  any    // the setting
	bad   string // what the one finding wants, a part of it; empty: no finding
}

// check sets key to each spelling beside the given variables, and compares the
// setting that get returns. A bad value must leave the setting without key.
func check[T any](t *testing.T, key string, get func(env.Settings) env.Value[T], cases []tc, beside ...string) {
	t.Helper()
	for _, c := range cases {
		m := on(beside...)
		m[key] = c.given
		s, findings := parse(m)
		got := get(s)
		if diff := cmp.Diff(c.want, any(got.V)); diff != "" {
			t.Errorf("%s=%q: setting (-want +got):\n%s", key, c.given, diff)
		}
		if c.bad == "" {
			if len(findings) > 0 {
				t.Errorf("%s=%q: findings %v, want none", key, c.given, findings)
			}
			if set := strings.TrimSpace(c.given) != ""; set != got.IsSet() {
				t.Errorf("%s=%q: IsSet = %v, want %v", key, c.given, got.IsSet(), set)
			}
			continue
		}
		if len(findings) != 1 || findings[0].Key != key || !strings.Contains(findings[0].Want, c.bad) ||
			findings[0].Value != strings.TrimSpace(c.given) || findings[0].Used == "" {
			t.Errorf("%s=%q: findings %+v, want one that wants %q", key, c.given, findings, c.bad)
		}
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	want := env.Settings{
		App:            "shop",
		TracesMaxBytes: env.Value[int64]{V: 1 << 30},
		Profile:        env.Value[[]string]{V: []string{"cpu", "heap", "allocs", "goroutine", "fgprof"}},
		LogLevel:       env.Value[slog.Level]{V: slog.LevelWarn},
		Propagators:    env.Value[[]string]{V: []string{"tracecontext", "baggage"}},
		Sampler:        env.Value[env.Sampler]{V: env.Sampler{Name: "parentbased_always_on", Arg: 1}},
		Batch: env.Batch{
			ScheduleDelay:      env.Value[time.Duration]{V: 5 * time.Second},
			ExportTimeout:      env.Value[time.Duration]{V: 30 * time.Second},
			MaxQueueSize:       env.Value[int]{V: 2048},
			MaxExportBatchSize: env.Value[int]{V: 512},
		},
		Limits: env.Limits{
			AttributeValueLength:   env.Value[int]{V: -1},
			AttributeCount:         env.Value[int]{V: 128},
			EventCount:             env.Value[int]{V: 128},
			LinkCount:              env.Value[int]{V: 128},
			AttributePerEventCount: env.Value[int]{V: 128},
			AttributePerLinkCount:  env.Value[int]{V: 128},
		},
		OTLP: env.OTLP{
			Protocol:    env.Value[string]{V: "http/protobuf"},
			Compression: env.Value[string]{V: "none"},
			Timeout:     env.Value[time.Duration]{V: 10 * time.Second},
		},
		Hide: env.Hide{Base64ImageMaxLength: env.Value[int]{V: 32000}},
	}
	blank := env.Map{}
	for _, v := range env.Variables("shop") {
		blank[v.Name] = " \t"
	}
	empty := env.Map{}
	for _, v := range env.Variables("shop") {
		empty[v.Name] = ""
	}
	for name, l := range map[string]env.Lookup{"nil": nil, "unset": env.Map{}, "empty": empty, "blank": blank} {
		got, findings := env.Parse("shop", l)
		if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
			t.Errorf("%s: findings %v, settings (-want +got):\n%s", name, findings, diff)
		}
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]bool{
		"true": true, "1": true, "TRUE": true, "True": true, " true\n": true, "\t1 ": true,
		"false": false, "0": false, "FALSE": false, " 0 ": false, "": false, "  ": false,
	} {
		s, findings := env.Parse("shop", env.Map{"SHOP_TRACING": given})
		if s.Tracing.V != want || len(findings) > 0 {
			t.Errorf("SHOP_TRACING=%q: %v, %v, want %v and no finding", given, s.Tracing.V, findings, want)
		}
	}
	for _, given := range []string{"yes", "on", "2", "01", "t", "enabled", "true false", "tru"} {
		s, findings := env.Parse("shop", env.Map{"SHOP_TRACING": given})
		want := []env.Finding{{Key: "SHOP_TRACING", Value: given, Want: "true, 1, false or 0", Used: "false: tracing is off"}}
		if diff := cmp.Diff(want, findings); diff != "" || s.Tracing.V {
			t.Errorf("SHOP_TRACING=%q: %v, findings (-want +got):\n%s", given, s.Tracing, diff)
		}
	}
}

// While tracing is off, the program has nothing to say about variables that may
// be another's; its profiles and its own names it knows.
func TestOffIsSilent(t *testing.T) {
	t.Parallel()
	m := env.Map{
		"OTEL_BSP_MAX_QUEUE_SIZE": "-1", "OTEL_TRACES_SAMPLER": "xray", "OTEL_TRACES_SAMPLR": "always_on",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318", "OTEL_CONFIG_FILE": "x.yaml",
		"SHOP_TRACES_MAX_BYTES": "many", "OPENINFERENCE_HIDE_INPUTS": "perhaps",
		"SHOP_PROFILE": "cpu,gpu", "SHOP_PROFILE_DIR": "/tmp", "SHOP_TRACNG": "true", "SHOP_TRACES_FIEL": "x",
	}
	s, findings := parse(m)
	if got, want := keys(findings), []string{"SHOP_PROFILE", "SHOP_TRACES_FIEL", "SHOP_TRACNG"}; !slices.Equal(got, want) {
		t.Errorf("off: findings about %v, want %v", got, want)
	}
	if !s.Hide.Inputs.V || s.OTLP.Unusable == "" {
		t.Errorf("off: settings are not whole: %+v", s)
	}
	m["SHOP_TRACING"] = "1"
	_, findings = parse(m)
	want := []string{
		"OPENINFERENCE_HIDE_INPUTS", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_CONFIG_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLR", "SHOP_PROFILE", "SHOP_TRACES_FIEL", "SHOP_TRACES_MAX_BYTES", "SHOP_TRACNG",
	}
	if diff := cmp.Diff(want, keys(findings)); diff != "" {
		t.Errorf("on: findings in the order of names (-want +got):\n%s", diff)
	}
	again, twice := parse(m)
	first, _ := parse(m)
	if !reflect.DeepEqual(again, first) || !reflect.DeepEqual(twice, findings) {
		t.Error("Parse gives two answers for the same variables")
	}
}

func TestAppVariables(t *testing.T) {
	t.Parallel()
	check(t, "SHOP_TRACES_FILE", func(s env.Settings) env.Value[string] { return s.TracesFile }, []tc{
		{"/var/log/spans.jsonl", "/var/log/spans.jsonl", ""},
		{"spans.jsonl\n", "spans.jsonl", ""},
		{" ", "", ""},
		{"~/spans.jsonl", "~/spans.jsonl", "written out"},
	})
	check(t, "SHOP_PROFILE_DIR", func(s env.Settings) env.Value[string] { return s.ProfileDir }, []tc{
		{"/tmp/p", "/tmp/p", ""},
		{"~/p", "~/p", "written out"},
	})
	check(t, "SHOP_TRACES_MAX_BYTES", func(s env.Settings) env.Value[int64] { return s.TracesMaxBytes }, []tc{
		{"1", int64(1), ""},
		{"1048576", int64(1 << 20), ""},
		{"64KiB", int64(64 << 10), ""},
		{"10 MiB", int64(10 << 20), ""},
		{"2gib", int64(2 << 30), ""},
		{"1TiB", int64(1 << 40), ""},
		{"9223372036854775807", int64(1<<63 - 1), ""},
		{"0", int64(1 << 30), "KiB"},
		{"-5", int64(1 << 30), "KiB"},
		{"10MB", int64(1 << 30), "KiB"},
		{"1.5GiB", int64(1 << 30), "KiB"},
		{"GiB", int64(1 << 30), "KiB"},
		{"9223372036854775808", int64(1 << 30), "KiB"},
		{"8388608TiB", int64(1 << 30), "KiB"},
	})
	check(t, "SHOP_TRACES_KEEP", func(s env.Settings) env.Value[bool] { return s.TracesKeep }, []tc{
		{"true", true, ""},
		{"1", true, ""},
		{"False", false, ""},
		{"0", false, ""},
		{"yes", false, "true, 1, false or 0"},
	})
	absolute := filepath.Join(t.TempDir(), "state") // what an absolute path is differs by system
	check(t, "XDG_STATE_HOME", func(env.Settings) env.Value[string] { return env.Value[string]{Key: "XDG_STATE_HOME"} }, []tc{
		{absolute, "", ""},
		{"state", "", "an absolute path"},
	})
}

func TestSkip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given string
		want  []string
		bad   string
	}{
		{"/healthz,/readyz", []string{"/healthz", "/readyz"}, ""},
		{" /healthz , /healthz,, ", []string{"/healthz"}, ""},
		{"/", []string{"/"}, ""},
		{"/healthz,readyz", []string{"/healthz"}, `"readyz"`},
		{"healthz", nil, `"healthz"`},
		{"/static/*", nil, `"/static/*"`},
		{"/a?b,/c", []string{"/c"}, `"/a?***"`},
		{"https://u:pw@h/x,/c", []string{"/c"}, `"https://***@h/x"`},
		{",", nil, "exact paths"},
	} {
		s, findings := parse(on("SHOP_TRACES_SKIP", c.given))
		if diff := cmp.Diff(c.want, s.TracesSkip.V); diff != "" {
			t.Errorf("SHOP_TRACES_SKIP=%q (-want +got):\n%s", c.given, diff)
		}
		if c.bad == "" && len(findings) > 0 || c.bad != "" && (len(findings) != 1 || !strings.Contains(findings[0].Want, c.bad)) {
			t.Errorf("SHOP_TRACES_SKIP=%q: findings %v, want one with %q", c.given, findings, c.bad)
		}
		if len(findings) > 0 && strings.Contains(findings[0].Error(), "pw") {
			t.Errorf("SHOP_TRACES_SKIP=%q: finding shows the password: %v", c.given, findings[0])
		}
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	def := []string{"cpu", "heap", "allocs", "goroutine", "fgprof"}
	check(t, "SHOP_PROFILE", func(s env.Settings) env.Value[[]string] { return s.Profile }, []tc{
		{"cpu", []string{"cpu"}, ""},
		{" MUTEX, block ,mutex", []string{"mutex", "block"}, ""},
		{"", def, ""},
		{"cpu,gpu", []string{"cpu"}, `not "gpu"`},
		{"gpu", def, "cpu, heap, allocs, goroutine, fgprof, block or mutex"},
		{",", def, "cpu, heap"},
	}, "SHOP_PROFILE_DIR", "/tmp")
	_, findings := env.Parse("shop", env.Map{"SHOP_PROFILE": "cpu"})
	want := []env.Finding{{Key: "SHOP_PROFILE", Value: "cpu", Want: "SHOP_PROFILE_DIR beside it", Used: "no profiles"}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("SHOP_PROFILE without a folder (-want +got):\n%s", diff)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{
		"shop": "SHOP", "marimo": "MARIMO", "my-shop": "MY_SHOP", "My.Shop 2": "MY_SHOP_2", " shop ": "SHOP",
		"a": "A", "2048": "_2048", "3-d": "_3_D", "café": "CAF_", "straße": "STRA_E", "shop.exe": "SHOP_EXE",
		"": "APP", "  ": "APP", "--": "APP", "магазин": "APP", "a/../b": "A____B", "a=b\x00": "A_B_", "\xff1": "_1",
	} {
		if got := env.Prefix(app); got != want {
			t.Errorf("Prefix(%q) = %q, want %q", app, got, want)
		}
	}
}

func TestAppRulesNames(t *testing.T) {
	t.Parallel()
	for app, key := range map[string]string{"my-shop": "MY_SHOP_TRACING", "": "APP_TRACING", "7up": "_7UP_TRACING"} {
		s, _ := env.Parse(app, env.Map{key: "1"})
		if !s.Tracing.V || s.Tracing.Key != key || s.App != app {
			t.Errorf("App %q with %s=1: %+v", app, key, s.Tracing)
		}
	}
}
