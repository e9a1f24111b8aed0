package main

import (
	"slices"

	"github.com/waymark-trace/waymark/env"
)

// withProfileDir lets -profile-dir stand for the App's variable.
func withProfileDir(lookup env.Lookup, o options) env.Lookup {
	if o.profileDir == "" {
		return lookup
	}
	return overlay{base: lookup, key: env.Prefix(o.app) + env.SuffixProfileDir, value: o.profileDir}
}

// overlay is a lookup with one variable set by a flag.
type overlay struct {
	base       env.Lookup
	key, value string
}

// Lookup returns the flag's value for its variable, else what the base says.
func (o overlay) Lookup(key string) (string, bool) {
	if key == o.key {
		return o.value, true
	}
	return o.base.Lookup(key)
}

// Names returns the base's names and the flag's.
func (o overlay) Names() []string {
	names := append(o.base.Names(), o.key)
	slices.Sort(names)
	return slices.Compact(names)
}
