package env

import (
	"path/filepath"
	"strings"
	"unicode"
)

// readProfiles reads what profiles need. They do not depend on the switch.
func (p *parser) readProfiles(s *Settings) {
	kinds, dir := p.prefix+SuffixProfile, p.prefix+SuffixProfileDir
	s.ProfileDir = p.path(dir)
	s.Profile = p.enumList(kinds, defaultProfiles(),
		"cpu", "heap", "allocs", "goroutine", "fgprof", "block", "mutex")
	if s.Profile.IsSet() && !s.ProfileDir.IsSet() {
		raw, _ := p.get(kinds)
		p.find(kinds, raw, dir+" beside it", "no profiles")
	}
}

func defaultProfiles() []string {
	return []string{"cpu", "heap", "allocs", "goroutine", "fgprof"}
}

// readFile reads what the local file needs.
func (p *parser) readFile(s *Settings) {
	s.TracesFile = p.path(p.prefix + SuffixTracesFile)
	s.TracesMaxBytes = read(p, defaultMaxBytes, parseBytes, p.prefix+SuffixTracesMaxBytes)
	s.TracesKeep = read(p, false, parseSwitch, p.prefix+SuffixTracesKeep)
	s.TracesSkip = p.readSkip()
	if raw, ok := p.get(KeyStateHome); ok && !filepath.IsAbs(raw) {
		p.find(KeyStateHome, raw, "an absolute path", "the default state home")
	}
}

// defaultMaxBytes is 1 GiB.
const defaultMaxBytes = int64(1) << 30

// path reads a path. Only a shell expands the tilde: in an env file or a unit
// file it would become a folder of that name.
func (p *parser) path(key string) Value[string] {
	raw, ok := p.get(key)
	if !ok {
		return Value[string]{}
	}
	if strings.HasPrefix(raw, "~") {
		p.find(key, raw, "a path with the home folder written out", "it as it stands, the ~ included")
	}
	return Value[string]{V: raw, Key: key}
}

// readSkip reads the exact paths that get no spans.
func (p *parser) readSkip() Value[[]string] {
	exact := func(item string) bool {
		return strings.HasPrefix(item, "/") && !strings.ContainsAny(item, "?#*") && !strings.ContainsFunc(item, unicode.IsControl)
	}
	return p.list(p.prefix+SuffixTracesSkip, exact, "exact paths that begin with / and have no ?, # or *", "no path")
}
