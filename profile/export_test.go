package profile

// WithWriteFile replaces the disk.
func WithWriteFile(f func(path string, data []byte) error) Option {
	return option(func(c config) config {
		c.writeFile = f
		return c
	})
}

// WriteFile is the disk.
func WriteFile(path string, data []byte) error { return writeFile(path, data) }

// HasCPUProfile reports whether a platform has one.
func HasCPUProfile(goos string) bool { return hasCPUProfile(goos) }

// StartLookup starts a profile that the runtime keeps.
func StartLookup(name string) error { return (&lookupCollector{name: name}).start() }

// ShellWord quotes a path.
func ShellWord(s string) string { return shellWord(s) }

// MaxParts bounds the parts of a kind.
const MaxParts = maxParts
