package env_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/env"
)

func TestFindingIsOneLine(t *testing.T) {
	t.Parallel()
	_, findings := parse(on("OTEL_LOG_LEVEL", "a\nlevel ERROR msg \"fake\"\x1b[31m"))
	if len(findings) != 1 || strings.ContainsAny(findings[0].Error(), "\n\x1b") {
		t.Errorf("findings %q, want one of one line", findings)
	}
	want := `env: OTEL_LOG_LEVEL="a\nlevel ERROR msg \"fake\"\x1b[31m": want none, error, warn, info or debug; using WARN`
	if got := findings[0].Error(); got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}

func TestFindingOfOddItemsIsOneLine(t *testing.T) {
	t.Parallel()
	_, findings := parse(on("SHOP_TRACES_SKIP", "/a\nb,/c", "SHOP_TRACNG\n", "1"))
	if len(findings) != 2 {
		t.Fatalf("findings %q, want 2", findings)
	}
	for _, f := range findings {
		if strings.Contains(f.Error(), "\n") {
			t.Errorf("finding of several lines: %s", f.Error())
		}
	}
	many := strings.Repeat("/p", 50_000)
	if _, findings = parse(on("SHOP_TRACES_SKIP", many+",bad")); len(findings) != 1 || len(findings[0].Error()) > 2000 {
		t.Errorf("%d findings, want one short one", len(findings))
	}
}

func TestFindingIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é,", 100_000)
	for _, key := range []string{"SHOP_TRACING", "OTEL_PROPAGATORS", "OTEL_RESOURCE_ATTRIBUTES", "SHOP_TRACES_SKIP", base} {
		m := on()
		m[key] = long
		_, findings := parse(m)
		for _, f := range findings {
			if n := len(f.Error()); n > 5000 || !utf8.ValidString(f.Value) {
				t.Errorf("%s: a finding of %d bytes, value %.20q", key, n, f.Value)
			}
		}
		if m["SHOP_TRACING"] == "true" && len(findings) != 1 {
			t.Errorf("%s: %d findings, want 1", key, len(findings))
		}
	}
}

func TestFindingLogValue(t *testing.T) {
	t.Parallel()
	f := env.Finding{Key: "K", Value: "v", Want: "w", Used: "u"}
	var got []string
	for _, a := range slog.AnyValue(f).Resolve().Group() {
		got = append(got, a.String())
	}
	if want := []string{"variable=K", "value=v", "want=w", "used=u"}; !slices.Equal(got, want) {
		t.Errorf("LogValue = %v, want %v", got, want)
	}
}

func TestProcess(t *testing.T) {
	t.Setenv("WAYMARK_TEST_VARIABLE", "a=b")
	l := env.Process()
	if v, ok := l.Lookup("WAYMARK_TEST_VARIABLE"); v != "a=b" || !ok {
		t.Errorf("Lookup = %q, %v", v, ok)
	}
	if _, ok := l.Lookup("WAYMARK_TEST_NO_VARIABLE"); ok {
		t.Error("Lookup finds what is not set")
	}
	names := l.Names()
	if !slices.Contains(names, "WAYMARK_TEST_VARIABLE") || !slices.IsSorted(names) || slices.Contains(names, "") {
		t.Errorf("Names = %q, want them sorted, with the test's", names)
	}
	t.Setenv("SHOP_TRACING", "1")
	if s, _ := env.Parse("shop", l); !s.Tracing.V {
		t.Error("Parse does not see the process's switch")
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	m := env.Map{"b": "", "a": "1"}
	if got := m.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Names = %q", got)
	}
	if v, ok := m.Lookup("b"); v != "" || !ok {
		t.Errorf("Lookup of an empty one = %q, %v", v, ok)
	}
}
