package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

// cpuCollector is the runtime's CPU profile, of which a process has one.
type cpuCollector struct{ buf *lockedBuffer }

func (c *cpuCollector) start() error {
	if !hasCPUProfile(runtime.GOOS) {
		return fmt.Errorf("cpu: %s has no CPU profile", runtime.GOOS)
	}
	buf := &lockedBuffer{}
	if err := pprof.StartCPUProfile(buf); err != nil {
		return fmt.Errorf("cpu: another part of the program is taking a CPU profile: %w", err)
	}
	c.buf = buf
	return nil
}

// hasCPUProfile is false where pprof.StartCPUProfile succeeds and nothing ever
// samples: there is no profiling signal or thread.
func hasCPUProfile(goos string) bool { return goos != "js" && goos != "wasip1" }

func (c *cpuCollector) collect(bool) ([]byte, error) {
	buf := c.buf
	if buf == nil {
		return nil, nil
	}
	c.buf = nil
	// pprof.StopCPUProfile stops whoever's profile is running. When somebody has
	// stopped ours, the one that runs now is theirs.
	if buf.complete() {
		return buf.bytes(), errors.New("cpu: another part of the program stopped the CPU profile early")
	}
	pprof.StopCPUProfile()
	return buf.bytes(), nil
}

func (*cpuCollector) release()      {}
func (*cpuCollector) sampled() bool { return true }
func (*cpuCollector) note() string  { return "" }

// lockedBuffer takes what the runtime's writer goroutine writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// complete reports whether the profile has its end: gzip's checksum.
func (b *lockedBuffer) complete() bool {
	zr, err := gzip.NewReader(bytes.NewReader(b.bytes()))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, zr) //nolint:gosec // our own data, a profile of this process
	return err == nil
}

// fgprofCollector is the wall-clock profile of all goroutines, as github.com/felixge/fgprof
// makes it. It cuts stacks at 32 frames, has no labels, and counts every parked goroutine.
type fgprofCollector struct {
	wall *wallclock
	quit chan struct{} // closed to end the sampling
	done chan error    // has its end
	said string        // of the last profile
}

func (c *fgprofCollector) start() error {
	c.wall, c.quit, c.done = newWallclock(time.Now()), make(chan struct{}), make(chan error, 1)
	go func(w *wallclock, quit <-chan struct{}, done chan<- error) {
		done <- safely(kindFgprof, func() error { w.run(quit); return nil })
	}(c.wall, c.quit, c.done)
	return nil
}

func (c *fgprofCollector) collect(bool) ([]byte, error) {
	w := c.wall
	if w == nil {
		return nil, nil
	}
	c.wall = nil
	close(c.quit)
	if err := <-c.done; err != nil {
		return nil, err
	}
	now := time.Now()
	c.said = w.note(now)
	data, err := w.encode(now)
	if err != nil {
		return nil, fmt.Errorf("fgprof: %w", err)
	}
	return data, nil
}

func (c *fgprofCollector) note() string { return c.said }
func (*fgprofCollector) release()       {}
func (*fgprofCollector) sampled() bool  { return true }
