package profile

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Option configures a [Profiler].
type Option interface{ apply(config) config }

type config struct {
	app       string
	kinds     []string
	logger    *slog.Logger
	snapshots time.Duration
	metadata  []pair
	writeFile func(path string, data []byte) error // replaced by tests: a disk that hangs
}

type pair struct{ key, value string }

type option func(config) config

func (o option) apply(c config) config { return o(c) }

// WithApp sets the first part of the file names; default: the executable's name.
// Characters other than letters, digits, ".", "_" and "-" become "_".
func WithApp(app string) Option {
	return option(func(c config) config {
		if app != "" {
			c.app = app
		}
		return c
	})
}

// WithKinds sets what is collected, out of [Kinds]; upper case and blanks do not
// matter. Default: cpu, heap, allocs, goroutine, fgprof.
func WithKinds(kinds ...string) Option {
	return option(func(c config) config {
		if len(kinds) > 0 {
			c.kinds = kinds
		}
		return c
	})
}

// WithLogger sets where each file is logged with the command that opens it, and
// what goes wrong between Start and Stop; default: nowhere.
func WithLogger(l *slog.Logger) Option {
	return option(func(c config) config {
		if l != nil {
			c.logger = l
		}
		return c
	})
}

// WithSnapshots also writes what there is every d, so that a kill loses at most
// the last d; default off. Values under a second become a second.
//
// heap, allocs, goroutine, block and mutex have one snapshot file each, which is
// replaced every time and removed when the final one is there. The runtime can
// only give a CPU profile by ending it, so cpu and fgprof leave a part for each
// interval, numbered, of which the last 100 are kept:
//
//	go tool pprof shop-20260102T150405Z-17-0f3a9c41.cpu*.pprof
func WithSnapshots(d time.Duration) Option {
	return option(func(c config) config {
		if d > 0 {
			c.snapshots = max(d, time.Second)
		}
		return c
	})
}

// WithMetadata adds a key to the manifest (the trace file, the environment, …).
// The key "version" replaces the version from the build information.
func WithMetadata(key, value string) Option {
	return option(func(c config) config {
		c.metadata = append(slices.Clip(c.metadata), pair{key, value})
		return c
	})
}

func newConfig(opts []Option) config {
	c := config{kinds: defaultKinds(), logger: slog.New(slog.DiscardHandler), writeFile: writeFile}
	for _, o := range opts {
		if o != nil {
			c = o.apply(c)
		}
	}
	if c.app == "" {
		c.app = executable()
	}
	c.app = fileWord(c.app)
	return c
}

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "app"
	}
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// fileWord makes s safe as a part of a file name.
func fileWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
