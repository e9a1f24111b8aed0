package profile

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
)

// The kinds of profiles.
const (
	kindGoroutine = "goroutine"
	kindCPU       = "cpu"
	kindFgprof    = "fgprof"
	kindHeap      = "heap"
	kindAllocs    = "allocs"
	kindBlock     = "block"
	kindMutex     = "mutex"
)

// What block and mutex sample: one event per 10 µs blocked, every tenth
// contention. Both are off in a Go program, so that their profiles are empty,
// unless a rate is set.
const (
	blockRate     = 10_000
	mutexFraction = 10
)

// Kinds returns the names that [WithKinds] accepts, in the order in which their
// profiles are taken: goroutine, cpu, fgprof, heap, allocs, block, mutex. The
// slice is the caller's.
func Kinds() []string {
	return []string{kindGoroutine, kindCPU, kindFgprof, kindHeap, kindAllocs, kindBlock, kindMutex}
}

func defaultKinds() []string {
	return []string{kindCPU, kindHeap, kindAllocs, kindGoroutine, kindFgprof}
}

// parseKinds returns the known kinds in the order of Kinds, without duplicates,
// and an error for each unknown one.
func parseKinds(names []string) ([]string, error) {
	wanted := map[string]bool{}
	var errs []error
	for _, name := range names {
		kind := strings.ToLower(strings.TrimSpace(name))
		switch {
		case slices.Contains(Kinds(), kind):
			wanted[kind] = true
		case kind != "":
			errs = append(errs, fmt.Errorf("unknown kind %q, want one of %s", name, strings.Join(Kinds(), ", ")))
		}
	}
	return slices.DeleteFunc(Kinds(), func(k string) bool { return !wanted[k] }), errors.Join(errs...)
}

// collector takes one kind of profile. The Profiler calls it from one goroutine
// at a time.
type collector interface {
	// start begins to sample. It may be called again after collect.
	start() error
	// collect returns the profile since start. Both may be there: what could be
	// saved, and why it is not all.
	collect(final bool) ([]byte, error)
	// release undoes what start has changed in the runtime.
	release()
	// sampled reports whether each profile covers the time since start alone.
	sampled() bool
	// note says what people should know of the last profile; mostly nothing.
	note() string
}

func newCollector(kind string) collector {
	switch kind {
	case kindCPU:
		return &cpuCollector{}
	case kindFgprof:
		return &fgprofCollector{}
	case kindBlock:
		return &blockCollector{lookupCollector{name: kind}}
	case kindMutex:
		return &mutexCollector{lookupCollector: lookupCollector{name: kind}}
	}
	return &lookupCollector{name: kind}
}

// lookupCollector takes a profile that the runtime keeps all the time.
type lookupCollector struct{ name string }

func (c *lookupCollector) start() error {
	if pprof.Lookup(c.name) == nil {
		return fmt.Errorf("%s: this Go runtime (%s, %s) has no such profile", c.name, runtime.Version(), runtime.GOOS)
	}
	return nil
}

func (c *lookupCollector) collect(final bool) ([]byte, error) {
	p := pprof.Lookup(c.name)
	if p == nil {
		return nil, c.start()
	}
	if final && c.name == kindHeap {
		runtime.GC() // the heap profile is of the last collection; allocs is the same data
	}
	var buf bytes.Buffer
	if err := p.WriteTo(&buf, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return buf.Bytes(), nil
}

func (*lookupCollector) release()      {}
func (*lookupCollector) sampled() bool { return false }
func (*lookupCollector) note() string  { return "" }

// blockCollector switches the block profile on. The runtime does not tell its
// rate, so that release can only switch it off, which is where Go programs
// begin.
type blockCollector struct{ lookupCollector }

func (c *blockCollector) start() error {
	runtime.SetBlockProfileRate(blockRate)
	return c.lookupCollector.start()
}

func (*blockCollector) release() { runtime.SetBlockProfileRate(0) }

// mutexCollector switches the mutex profile on, unless the program has.
type mutexCollector struct {
	lookupCollector
	set bool
}

func (c *mutexCollector) start() error {
	if runtime.SetMutexProfileFraction(-1) == 0 {
		runtime.SetMutexProfileFraction(mutexFraction)
		c.set = true
	}
	return c.lookupCollector.start()
}

// release leaves a fraction alone that somebody else has set meanwhile.
func (c *mutexCollector) release() {
	if c.set && runtime.SetMutexProfileFraction(-1) == mutexFraction {
		runtime.SetMutexProfileFraction(0)
	}
	c.set = false
}
