package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// A name is one of many when this many differ only in numbers and ids, or when
// this many of one scope come hardly more than once each.
const (
	manyAlike    = 20
	manyOfScope  = 500
	maxPatterns  = 5000
	maxOfPattern = 1000
)

// names finds span names with values in them.
type names struct {
	patterns map[string]*alike  // by pattern
	scopes   map[scopeOf]*alike // names and patterns
	variable *regexp.Regexp
}

type scopeOf struct{ service, scope string }

// alike is names that belong together.
type alike struct {
	names    map[string]struct{}
	spans    int            // that have one of them
	examples []*traces.Span // of different names
}

func newNames() names {
	return names{
		patterns: map[string]*alike{}, scopes: map[scopeOf]*alike{},
		// UUIDs, long hexadecimal ids, numbers.
		variable: regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b|[0-9]+`),
	}
}

// add counts the name that is kept of a span.
func (n *names) add(span, kept *traces.Span) {
	name := kept.Name
	if strings.ContainsAny(name, "0123456789") {
		pattern := n.variable.ReplaceAllString(name, "#")
		count(n.patterns, pattern, name, kept)
		name = pattern
	}
	count(n.scopes, scopeOf{span.Service(), span.ScopeName()}, name, kept)
}

func count[K comparable](m map[K]*alike, key K, name string, span *traces.Span) {
	a := m[key]
	if a == nil {
		if len(m) >= maxPatterns {
			return
		}
		a = &alike{names: map[string]struct{}{}}
		m[key] = a
	}
	if _, ok := a.names[name]; !ok {
		if len(a.names) >= maxOfPattern {
			return
		}
		a.names[name] = struct{}{}
		if len(a.examples) < maxExamples {
			a.examples = append(a.examples, span)
		}
	}
	a.spans++
}

func (n *names) report(d *Doctor) {
	for _, pattern := range slices.Sorted(maps.Keys(n.patterns)) {
		if a := n.patterns[pattern]; len(a.names) >= manyAlike {
			d.many(pattern, a, "")
		}
	}
	inOrder := func(a, b scopeOf) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.scope, b.scope))
	}
	for _, of := range slices.SortedFunc(maps.Keys(n.scopes), inOrder) {
		// A program with many routes has as many names, each of them often.
		if a := n.scopes[of]; len(a.names) >= manyOfScope && a.spans < 2*len(a.names) {
			d.many(a.start()+"*", a, " of scope "+d.text(of.scope))
		}
	}
}

// many tells of names that are too many, with some of them.
func (d *Doctor) many(pattern string, a *alike, where string) {
	f := d.finding(ManyNames, pattern)
	f.Count++
	for _, span := range a.examples {
		if len(f.Examples) < maxExamples {
			f.Examples = append(f.Examples, d.example(span, a.size()+where))
		}
	}
}

func (a *alike) size() string {
	if len(a.names) >= maxOfPattern {
		return fmt.Sprintf("one of %d names and more", maxOfPattern)
	}
	return fmt.Sprintf("one of %d names", len(a.names))
}

// start returns the words that most of the names begin with, as many as there are.
func (a *alike) start() (start string) {
	for {
		counts := map[string]int{}
		for name := range a.names {
			if rest, ok := strings.CutPrefix(name, start); ok {
				if i := strings.IndexAny(rest, " /.:_-"); i >= 0 {
					counts[name[:len(start)+i+1]]++
				}
			}
		}
		most := ""
		for next, n := range counts {
			if n > counts[most] || n == counts[most] && next < most {
				most = next
			}
		}
		if 2*counts[most] <= len(a.names) {
			return start
		}
		start = most
	}
}
