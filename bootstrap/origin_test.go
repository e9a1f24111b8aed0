package bootstrap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// A file that cannot be written is blamed on what says where it is.
func TestUnwritableFileNamesItsOrigin(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(t.TempDir(), "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, vars := range map[string]env.Map{
		"XDG_STATE_HOME":   {"XDG_STATE_HOME": blocked},
		"SHOP_TRACES_FILE": {"SHOP_TRACES_FILE": filepath.Join(blocked, "spans.jsonl"), "XDG_STATE_HOME": t.TempDir()},
	} {
		tracing, out := start(t, vars)
		findings := tracing.Plan().Findings
		if len(findings) != 1 || findings[0].Key != key {
			t.Errorf("findings %v, want one of %s", findings, key)
			continue
		}
		if f := findings[0]; f.Want != "a span file that can be written" || !strings.Contains(f.Used, "; the cause: ") {
			t.Errorf("finding %v, want the cause apart from what is wanted", f)
		}
		if l := out.lines(t, "tracing started"); len(l) != 1 || l[0]["level"] != "WARN" {
			t.Errorf("started without a destination: %v, want a warning", l)
		}
	}
}

// childHomeless explains itself where no home folder is known.
func childHomeless() error {
	var c check
	plan := bootstrap.Explain(bootstrap.Config{App: "shop"})
	c.that(len(plan.Findings) == 1 && plan.Findings[0].Key == "HOME", "findings: %v", plan.Findings)
	text := plan.String()
	for _, want := range []string{"no file: no state folder is known", "SHOP_TRACES_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		c.that(strings.Contains(text, want), "no %s in:\n%s", want, text)
	}
	return c.err()
}
