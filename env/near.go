package env

import (
	"slices"
	"strings"
)

// nearMisses finds variables that are set and look like a known one misspelled:
// one or two letters missing, added, changed or swapped, or another case. Known
// are names, all of them read; prefix is the App's when they are the App's own.
func (p *parser) nearMisses(names []string, prefix string) {
	known := append(appNames(p.prefix), standardNames()...)
	for _, given := range p.lookup.Names() {
		name := strings.ToUpper(given)
		if slices.Contains(known, given) || notOurs(name) {
			continue
		}
		best, least := "", maxEdits+1
		for _, right := range names {
			if d := nameDistance(name, right, prefix); d < least {
				best, least = right, d
			}
		}
		if best == "" || least == 0 && p.sameVariable(given, best) {
			continue
		}
		p.find(given, p.harmless(given), "the name "+best, "nothing of it")
	}
}

// maxEdits is how many letters make a misspelling.
const maxEdits = 2

// nameDistance is the number of edits between name and right, or more than
// maxEdits when they are not to be taken for each other. A short App is close
// to every other short one, and shop2 is another program than shop, so that
// their prefixes allow less: none up to 3 letters, 1 up to 5, never a digit.
func nameDistance(name, right, prefix string) int {
	const far = maxEdits + 1
	if abs(len(name)-len(right)) > maxEdits {
		return far
	}
	slack := min(maxEdits, len(prefix)/2-1)
	switch {
	case prefix == "":
		return editDistance(name, right)
	case digits(name) != digits(right):
		return far
	case len(prefix) < 4:
		if !strings.HasPrefix(name, prefix+"_") {
			return far
		}
		return editDistance(name, right)
	}
	least := far
	for cut := max(0, len(prefix)-slack); cut <= min(len(name), len(prefix)+slack); cut++ {
		if d := editDistance(name[:cut], prefix); d <= slack {
			least = min(least, d+editDistance(name[cut:], right[len(prefix):]))
		}
	}
	return least
}

// sameVariable tells whether two spellings name one variable, as on Windows.
func (p *parser) sameVariable(given, right string) bool {
	a, _ := p.lookup.Lookup(given)
	b, ok := p.lookup.Lookup(right)
	return ok && a == b
}

// harmless is the value when it is a boolean. What else a variable holds that
// only looks like one of ours, nobody knows.
func (p *parser) harmless(key string) string {
	v, _ := p.get(key)
	if _, want := parseSwitch(v); want == "" {
		return v
	}
	return masked
}

// notOurs tells names that somebody else reads, so that they are no misspelling:
// what Kubernetes sets for every service, and OpenTelemetry's for other signals,
// languages and exporters.
func notOurs(name string) bool {
	if strings.HasSuffix(name, "_SERVICE_HOST") || strings.HasSuffix(name, "_PORT") || strings.Contains(name, "_PORT_") {
		return true
	}
	rest, ok := strings.CutPrefix(name, "OTEL_")
	if !ok {
		return false
	}
	for _, prefix := range []string{
		"BLRP_", "ENTITIES", "EXPERIMENTAL_", "EXPORTER_JAEGER_", "EXPORTER_OTLP_LOGS_", "EXPORTER_OTLP_METRICS_",
		"EXPORTER_OTLP_PROFILES_", "EXPORTER_OTLP_SPAN_", "EXPORTER_PROMETHEUS_", "EXPORTER_ZIPKIN_", "LOGRECORD_",
		"LOGS_", "METRICS_", "METRIC_", "PROFILES_", "SEMCONV_",
		"CPP_", "DOTNET_", "ERLANG_", "GO_", "JAVA_", "JAVAAGENT_", "JAVASCRIPT_", "NODE_", "PHP_", "PYTHON_",
		"RUBY_", "RUST_", "SWIFT_",
	} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return false
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func abs(n int) int { return max(n, -n) }

// editDistance counts the letters missing, added, changed, or swapped with
// their neighbor (Damerau-Levenshtein, each stretch edited once).
func editDistance(a, b string) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, prev, row = prev, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
