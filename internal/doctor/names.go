package doctor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// A name is one of many when this many differ only in numbers and ids, or this
// many come from one scope of a service.
const (
	manyAlike    = 20
	manyOfScope  = 500
	maxPatterns  = 5000
	maxOfPattern = 1000
)

// names finds span names with values in them.
type names struct {
	patterns map[string]*alike // by pattern
	scopes   map[string]*alike // by service and scope
	variable *regexp.Regexp
}

// alike is names that belong together.
type alike struct {
	names map[string]struct{}
	first *traces.Span
}

func newNames() names {
	return names{
		patterns: map[string]*alike{}, scopes: map[string]*alike{},
		// UUIDs, long hexadecimal ids, numbers.
		variable: regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b|[0-9]+`),
	}
}

func (n *names) add(span *traces.Span) {
	name := span.Name[:min(len(span.Name), maxText)]
	if secretKind("name", span.Name) != "" {
		name = mask // a pattern would print it
	}
	n.count(n.scopes, span.Service()+"\x00"+span.ScopeName(), name, span)
	if strings.ContainsAny(name, "0123456789") {
		if pattern := n.variable.ReplaceAllString(name, "#"); pattern != name {
			n.count(n.patterns, pattern, name, span)
		}
	}
}

func (n *names) count(m map[string]*alike, key, name string, span *traces.Span) {
	a := m[key]
	if a == nil {
		if len(m) >= maxPatterns {
			return
		}
		a = &alike{names: map[string]struct{}{}, first: example(span)}
		m[strings.Clone(key)] = a
	}
	if _, ok := a.names[name]; !ok && len(a.names) < maxOfPattern {
		a.names[strings.Clone(name)] = struct{}{}
	}
}

// example keeps what a finding says of a span.
func example(span *traces.Span) *traces.Span {
	return &traces.Span{
		TraceID: span.TraceID, SpanID: span.SpanID, Name: strings.Clone(span.Name[:min(len(span.Name), maxText)]), Resource: span.Resource,
	}
}

func (n *names) report(d *Doctor) {
	for _, pattern := range slices.Sorted(maps.Keys(n.patterns)) {
		if a := n.patterns[pattern]; len(a.names) >= manyAlike {
			d.find(ManyNames, pattern, a.first, a.size())
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(n.scopes)) {
		if a := n.scopes[scope]; len(a.names) >= manyOfScope {
			service, scope, _ := strings.Cut(scope, "\x00")
			d.find(ManyNames, "scope "+scope+" of service "+service, a.first, a.size())
		}
	}
}

func (a *alike) size() string {
	if len(a.names) >= maxOfPattern {
		return fmt.Sprintf("%d names and more", maxOfPattern)
	}
	return fmt.Sprintf("%d names", len(a.names))
}
