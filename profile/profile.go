// Package profile writes profiles on graceful exit.
package profile

import (
	"context"
	"log/slog"
	"time"
)

// Profiler collects profiles until Stop.
type Profiler struct{}

// Option configures a Profiler.
type Option interface{ apply(config) config }

type config struct{}

// WithApp sets the first part of the file names; default: the executable's name.
func WithApp(app string) Option { panic("stub") }

// WithKinds sets what is collected; default cpu, heap, allocs, goroutine, fgprof.
func WithKinds(kinds ...string) Option { panic("stub") }

// WithLogger sets where the list of files and what is missing is logged; default: nowhere.
func WithLogger(l *slog.Logger) Option { panic("stub") }

// WithSnapshots also writes a rolling snapshot every d, for what a kill would lose; default off.
func WithSnapshots(d time.Duration) Option { panic("stub") }

// WithMetadata adds a key to the manifest (version, trace file, …).
func WithMetadata(key, value string) Option { panic("stub") }

// Start begins collecting. The folder is made and tried now. The Profiler is
// never nil and its methods work when err is not nil: kinds that could not
// start are in err, the others go on.
func Start(dir string, opts ...Option) (*Profiler, error) { return &Profiler{}, nil }

// WriteGoroutines writes the goroutine profile now, before things stop.
func (p *Profiler) WriteGoroutines(ctx context.Context) error { return nil }

// Stop stops and writes all profiles and the manifest; reason says why. Later calls do nothing.
func (p *Profiler) Stop(ctx context.Context, reason string) error { return nil }

// Files returns the files written so far.
func (p *Profiler) Files() []string { return nil }
