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

	"github.com/felixge/fgprof"
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

// shortestFgprof is how long fgprof has to run before it may be stopped. Its first
// tick comes after 1/99 s; without one, its export divides by a rate of zero. The
// same happens when fewer than one tick in two seconds was served, on a machine
// that is out of breath: hence the recover as well.
const shortestFgprof = 20 * time.Millisecond

// fgprofCollector is the wall-clock profile of all goroutines. It cuts stacks at
// 32 frames, has no labels, and counts every parked goroutine.
type fgprofCollector struct {
	stop  func() error
	buf   *bytes.Buffer
	began time.Time
}

func (c *fgprofCollector) start() error {
	c.buf, c.began = &bytes.Buffer{}, time.Now()
	c.stop = fgprof.Start(c.buf, fgprof.FormatPprof)
	return nil
}

func (c *fgprofCollector) collect(bool) (data []byte, err error) {
	stop := c.stop
	if stop == nil {
		return nil, nil
	}
	c.stop = nil // a second call would wait for ever
	time.Sleep(time.Until(c.began.Add(shortestFgprof)))
	defer func() {
		if r := recover(); r != nil {
			data, err = nil, fmt.Errorf("fgprof: too few samples in %v: %v", time.Since(c.began).Round(time.Millisecond), r)
		}
	}()
	if err := stop(); err != nil {
		return nil, fmt.Errorf("fgprof: %w", err)
	}
	return c.buf.Bytes(), nil
}

func (*fgprofCollector) release()      {}
func (*fgprofCollector) sampled() bool { return true }
