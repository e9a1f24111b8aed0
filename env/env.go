// Package env answers one question: what do the variables of this process say
// about tracing, and which of them are wrong?
//
// [Parse] reads the App's own variables (SHOP_TRACING), OpenTelemetry's (OTEL_*)
// and OpenInference's (OPENINFERENCE_*) once, by the specification's rules, into
// [Settings] in which every value is in range. Whatever is bad or doubtful is a
// [Finding]; misspelled names are too. [Variables] lists all that is read.
//
// Three rules hold for every variable: blanks around a value do not count, an
// empty value is as good as none, and a bad one counts as unset.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/common.md
package env

import (
	"slices"
	"strings"
)

// Parse reads the variables of the App and OpenTelemetry's. It never fails: a
// bad value is a finding and its default is used. Findings come in the order of
// the variables' names. Parse is pure: the same variables give the same answer.
// A nil Lookup has no variables.
//
// While the switch is off, findings are about the switch, the profiles and
// misspelled names of the App's alone: all others may be meant for another
// program, and this one has nothing to do with them. Settings are whole either
// way.
func Parse(app string, l Lookup) (Settings, []Finding) {
	if l == nil {
		l = Map(nil)
	}
	p := &parser{lookup: l, prefix: Prefix(app)}
	s := Settings{App: app}
	s.Tracing = read(p, false, parseSwitch, p.prefix+SuffixTracing)
	for i := range p.findings { // of the switch
		p.findings[i].Used = "false: tracing is off"
	}
	p.readProfiles(&s)
	p.nearMisses(appNames(p.prefix), p.prefix)
	always := len(p.findings)

	p.readFile(&s)
	p.readSDK(&s)
	p.readResource(&s)
	s.OTLP = p.readOTLP(s.Exporters)
	s.Hide = p.readHide()
	p.nearMisses(standardNames(), "")
	if !s.Tracing.V {
		p.findings = p.findings[:always]
	}
	slices.SortStableFunc(p.findings, func(a, b Finding) int { return strings.Compare(a.Key, b.Key) })
	return s, p.findings
}
