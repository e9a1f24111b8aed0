package env_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
)

// recorder notes what is looked up.
type recorder struct {
	env.Map
	seen map[string]bool
}

func (r recorder) Lookup(key string) (string, bool) {
	r.seen[key] = true
	return r.Map.Lookup(key)
}

// scenes are variables beside which each variable is tried: with them together
// Parse takes every branch.
func scenes() []env.Map {
	return []env.Map{
		on(),
		on("SHOP_PROFILE_DIR", "/tmp"),
		on("OTEL_TRACES_SAMPLER", "traceidratio"),
		on("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h:4318"),
		on("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h:4318", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c"),
		on("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h:4318", "OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k"),
		{},
	}
}

// samples are values of which every variable finds one that matters.
func samples() []string {
	return []string{"true", "1", "7", "0.5", "x", "/x", "cpu", "debug", "b3", "always_off", "console", "gzip", "grpc", "a=b", "http://x:1/y"}
}

func TestEveryVariableHasAnEffect(t *testing.T) {
	t.Parallel()
	for _, v := range env.Variables("shop") {
		effect := false
		for _, scene := range scenes() {
			for _, value := range samples() {
				m := maps.Clone(scene)
				delete(m, v.Name)
				without, f1 := env.Parse("shop", m)
				m[v.Name] = value
				with, f2 := env.Parse("shop", m)
				effect = effect || !reflect.DeepEqual(without, with) || !reflect.DeepEqual(f1, f2)
			}
		}
		if !effect {
			t.Errorf("%s is in the table and changes nothing", v.Name)
		}
	}
}

func TestEveryLookupIsInTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, scene := range scenes() {
		env.Parse("shop", recorder{scene, seen})
	}
	var table []string
	for _, v := range env.Variables("shop") {
		table = append(table, v.Name)
	}
	slices.Sort(table)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(seen)), table); diff != "" {
		t.Errorf("variables: looked up (-) against table (+), each once:\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := env.Table("my-shop")
	if !strings.HasPrefix(table, "| variable | default | what it does |\n|---|---|---|\n| **Waymark** | | |\n| `MY_SHOP_TRACING` | off |") {
		t.Errorf("Table begins with\n%.200s", table)
	}
	for line := range strings.Lines(table) {
		if strings.Count(line, "|") != 4 {
			t.Errorf("not a row of three cells: %q", line)
		}
	}
	for _, v := range env.Variables("my-shop") {
		if n := strings.Count(table, "| `"+v.Name+"` |"); n != 1 {
			t.Errorf("%s is in %d rows, want 1", v.Name, n)
		}
		if v.Default == "" || v.Doc == "" || v.Group == "" || strings.HasSuffix(v.Doc, ".") {
			t.Errorf("incomplete: %+v", v)
		}
	}
}

// The defaults that the table states in figures and words are those of Parse.
func TestTableStatesDefaults(t *testing.T) {
	t.Parallel()
	unset, _ := env.Parse("shop", on(base, "https://h:4318"))
	for _, v := range env.Variables("shop") {
		value, ok := strings.CutPrefix(v.Default, "`")
		if !ok || !strings.HasSuffix(value, "`") || strings.ContainsAny(value, "/~ ") && v.Name != "OTEL_EXPORTER_OTLP_PROTOCOL" {
			continue // stated in words
		}
		if v.Name == "OTEL_TRACES_SAMPLER_ARG" {
			continue // needs a sampler; TestSampler has its default
		}
		m := on(base, "https://h:4318", v.Name, strings.Trim(value, "`"))
		if v.Name == "SHOP_PROFILE" {
			m["SHOP_PROFILE_DIR"] = "/tmp"
		}
		set, findings := env.Parse("shop", m)
		if v.Name == "SHOP_PROFILE" {
			set.ProfileDir = env.Value[string]{}
		}
		if diff := cmp.Diff(unset, set, cmp.FilterPath(isKey, cmp.Ignore())); diff != "" || len(findings) > 0 {
			t.Errorf("%s: the stated default %s is not that of Parse: %v\n%s", v.Name, v.Default, findings, diff)
		}
	}
}

func isKey(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && f.Name() == "Key"
}
