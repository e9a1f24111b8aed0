// Package profile answers "what was the process doing all the time": it collects
// CPU, heap and other profiles from start to stop and writes them on graceful
// exit, ready for go tool pprof.
//
// The profiles of one run share a name that sorts by time, with a manifest
// beside them:
//
//	shop-20260102T150405Z-17-0f3a9c41.cpu.pprof
//	shop-20260102T150405Z-17-0f3a9c41.heap.pprof
//	shop-20260102T150405Z-17-0f3a9c41.profiles.json
//
// Each file is whole or not there, and the owner's alone (0600, a new folder
// 0700). A kind that fails is reported; the others go on. What a kill would lose
// is kept by [WithSnapshots]; without it, SIGKILL and os.Exit lose everything.
package profile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// startTimeout bounds the trial of the folder: a network disk that does not
// answer must not keep the server from starting.
const startTimeout = 5 * time.Second

// Profiler collects profiles until [Profiler.Stop]. It is safe for concurrent
// use. A nil or zero Profiler does nothing.
type Profiler struct{ r *recording }

// recording is the state of a Profiler that was started.
type recording struct {
	cfg   config
	base  string // path of all files, without the kind
	id    string
	pid   int
	began time.Time
	kinds []string

	// taking guards the collectors. It is held while profiles are taken, never
	// while a file is written: a disk that hangs does not keep the CPU profile
	// from being stopped.
	taking     sync.Mutex
	collectors map[string]collector
	finished   bool

	mu           sync.Mutex // guards what follows
	files        []file
	missing      []manifestMissing
	lost         []error // what went wrong between Start and Stop
	pending      map[string]bool
	parts        map[string]int
	droppedParts int
	hasManifest  bool

	quit          chan struct{} // closed by Stop: no more snapshots
	snapshotsDone chan struct{}

	goroutines     atomic.Bool // somebody takes the goroutine profile
	goroutinesDone chan struct{}

	stopping atomic.Bool
	stopped  chan struct{}
	stopErr  error // set before stopped is closed
}

type file struct {
	kind, path string
	bytes      int
	note       string
	role       role
}

// role says how long a file stays.
type role int

const (
	final    role = iota // of the whole run
	part                 // of one interval
	snapshot             // until the final one is there
)

// Start begins to collect. The folder is made and tried now, so that a bad one
// is known before an hour of profiling.
//
// The Profiler is never nil and its methods work when the error is not nil.
// Kinds that are unknown or cannot start are in the error (another CPU profile
// is running, the platform has none), and the others go on; when the folder
// cannot be written to, nothing is collected.
//
// While it runs, block events are sampled at one per 10 µs blocked and mutex
// contention at one in ten, if those kinds were asked for. Stop restores the
// mutex fraction; the block rate, which the runtime does not tell, is set back
// to 0, its default.
func Start(dir string, opts ...Option) (*Profiler, error) {
	cfg := newConfig(opts)
	kinds, err := parseKinds(cfg.kinds)
	if len(kinds) == 0 {
		return &Profiler{}, prefix(err)
	}
	abs, folderErr := tryFolder(dir, cfg)
	if folderErr != nil {
		return &Profiler{}, prefix(errors.Join(err, folderErr))
	}
	r := newRecording(abs, kinds, cfg)
	err = errors.Join(err, r.start())
	if cfg.snapshots > 0 {
		go r.takeSnapshots()
	} else {
		close(r.snapshotsDone)
	}
	return &Profiler{r}, prefix(err)
}

func prefix(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("profile: %w", err)
}

// tryFolder returns the absolute path of a folder that can be written to.
func tryFolder(dir string, cfg config) (string, error) {
	if dir == "" {
		return "", errors.New("no folder given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	result := make(chan error, 1)
	go func() {
		result <- safely("folder", func() error { return probe(dir, cfg.writeFile) })
	}()
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case err := <-result:
		return dir, err
	case <-timer.C:
		return "", fmt.Errorf("folder %q did not answer within %v", dir, startTimeout)
	}
}

func newRecording(dir string, kinds []string, cfg config) *recording {
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	r := &recording{
		cfg: cfg, id: hex.EncodeToString(id[:]), pid: os.Getpid(), began: time.Now().UTC(), kinds: kinds,
		collectors: map[string]collector{}, pending: map[string]bool{"manifest": true}, parts: map[string]int{},
		quit: make(chan struct{}), snapshotsDone: make(chan struct{}),
		goroutinesDone: make(chan struct{}), stopped: make(chan struct{}),
	}
	r.base = filepath.Join(dir, fmt.Sprintf("%s-%s-%d-%s", cfg.app, r.began.Format("20060102T150405Z"), r.pid, r.id))
	return r
}

func (r *recording) start() error {
	var errs []error
	for _, kind := range r.kinds {
		c := newCollector(kind)
		if err := safely(kind, c.start); err != nil {
			c.release()
			r.missing = append(r.missing, manifestMissing{kind, err.Error()})
			errs = append(errs, err)
			continue
		}
		r.collectors[kind] = c
		r.pending[kind] = true
	}
	return errors.Join(errs...)
}

// safely keeps a panic away from the host.
func safely(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v", what, p)
		}
	}()
	return f()
}

// ID returns the part of the file names that belongs to this Profiler alone:
// eight hexadecimal digits, or "" when nothing was started.
func (p *Profiler) ID() string {
	if p == nil || p.r == nil {
		return ""
	}
	return p.r.id
}

// Files returns the paths of the files that are there so far, the manifest last.
// The slice is the caller's.
func (p *Profiler) Files() []string {
	if p == nil || p.r == nil {
		return nil
	}
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	var paths []string
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	if r.hasManifest {
		paths = append(paths, r.manifestPath())
	}
	return paths
}

func (r *recording) manifestPath() string { return r.base + ".profiles.json" }

// WriteGoroutines writes the goroutine profile now: at shutdown it is worth most
// before things stop. Stop does not write it again. It does nothing when that
// kind was not asked for, or has been written. At ctx's end it returns an error
// and the writing goes on.
func (p *Profiler) WriteGoroutines(ctx context.Context) error {
	if p == nil || p.r == nil {
		return nil
	}
	r := p.r
	if !slices.Contains(r.kinds, kindGoroutine) {
		return nil
	}
	result := make(chan error, 1)
	if r.goroutines.CompareAndSwap(false, true) {
		go func() {
			defer close(r.goroutinesDone)
			t := take(kindGoroutine, &lookupCollector{name: kindGoroutine}, true)
			result <- r.save(t, r.base+".goroutine.pprof", final)
		}()
	}
	select {
	case <-r.goroutinesDone:
	case <-ctx.Done():
		return prefix(fmt.Errorf("not written in time: goroutine: %w", context.Cause(ctx)))
	}
	select {
	case err := <-result:
		return prefix(err)
	default:
		return nil
	}
}

// Stop stops collecting, writes the profiles and the manifest, and logs the
// command that opens each; reason says why, for the manifest: "SIGTERM". It
// returns what could not be written, joined.
//
// At ctx's end it returns at once with an error that names what is missing; the
// writing goes on as long as the process lives. The profiles are stopped and the
// rates restored whatever ctx says. Later calls wait for the first, as far as
// their ctx allows, and return nil.
func (p *Profiler) Stop(ctx context.Context, reason string) error {
	if p == nil || p.r == nil {
		return nil
	}
	r := p.r
	first := r.stopping.CompareAndSwap(false, true)
	if first {
		go r.finish(reason)
	}
	select {
	case <-r.stopped:
	case <-ctx.Done():
		select {
		case <-r.stopped: // both: the work is done
		default:
			return prefix(fmt.Errorf("not written in time: %s: %w", r.stillPending(), context.Cause(ctx)))
		}
	}
	if !first {
		return nil
	}
	return prefix(r.stopErr)
}

func (r *recording) stillPending() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, kind := range append(Kinds(), "manifest") {
		if r.pending[kind] {
			names = append(names, kind)
		}
	}
	return strings.Join(names, ", ")
}
