package env

import (
	"os"
	"slices"
	"strings"
)

// Lookup is where variables come from. Names is needed to find misspelled
// ones. Implementations are safe for concurrent use.
type Lookup interface {
	// Lookup returns the value of a variable and whether it is set.
	Lookup(key string) (string, bool)
	// Names returns the names of all variables, sorted.
	Names() []string
}

// Map is a fixed set of variables, for tests and for programs that keep their
// configuration elsewhere.
type Map map[string]string

// Lookup returns the value of a variable and whether it is set.
func (m Map) Lookup(key string) (string, bool) {
	v, ok := m[key]
	return v, ok
}

// Names returns the names of all variables, sorted.
func (m Map) Names() []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// Process is the environment of the process.
func Process() Lookup { return process{} }

type process struct{}

func (process) Lookup(key string) (string, bool) { return os.LookupEnv(key) }

func (process) Names() []string {
	vars := os.Environ()
	names := make([]string, 0, len(vars))
	for _, kv := range vars {
		if name, _, ok := strings.Cut(kv, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
