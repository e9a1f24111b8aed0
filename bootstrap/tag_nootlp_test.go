//go:build waymark_nootlp

package bootstrap_test

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
)

const otlpBuiltIn = false

func TestPlanWithoutOTLP(t *testing.T) {
	t.Parallel()
	for _, vars := range []env.Map{
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"},
		{"OTEL_TRACES_EXPORTER": "otlp"},
	} {
		p := plan(vars)
		if len(p.Destinations) != 1 || p.Destinations[0].Name != "file" {
			t.Errorf("%v: destinations %v, want the file", vars, p.Destinations)
		}
		if len(p.Findings) != 1 || !strings.Contains(p.Findings[0].Want, "waymark_nootlp") {
			t.Errorf("%v: findings %v, want one that names the tag", vars, p.Findings)
		}
	}
}
