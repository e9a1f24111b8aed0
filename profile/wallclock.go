package profile

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// The bounds of the wall-clock profile. A sample looks at every goroutine of the
// program, which takes about a microsecond for each. The pause after it is by
// their number, so that all samples take about a hundredth of one CPU.
const (
	wallPeriod    = time.Second / 99       // the shortest pause; not in step with what happens at 100 Hz
	perGoroutine  = 100 * time.Microsecond // the pause for each goroutine
	maxGoroutines = 100_000                // no sample while there are more: its records would take 25 MiB
	maxStacks     = 20_000                 // different ones that are kept, in about 10 MB
)

// stack is one stack of a goroutine, cut at 32 frames.
type stack = [32]uintptr

// seen is how often a stack was there, and for how long, as far as samples tell.
type seen struct {
	count int64
	time  time.Duration
}

// wallclock samples the stacks of all goroutines, whether they run or wait.
// Each sample stands for the time since the one before.
type wallclock struct {
	began, last time.Time
	records     []runtime.StackRecord
	stacks      map[stack]*seen
	self        string // the function whose goroutine is ours

	maxGoroutines int
	samples       int64
	most          int  // goroutines in a sample
	missed        int  // samples that were left out: too many goroutines
	more          seen // of stacks past maxStacks
}

func newWallclock(now time.Time) *wallclock {
	return &wallclock{began: now, last: now, stacks: map[stack]*seen{}, maxGoroutines: maxGoroutines}
}

// run samples until quit is closed.
func (w *wallclock) run(quit <-chan struct{}) {
	pc, _, _, _ := runtime.Caller(0)
	w.self = runtime.FuncForPC(pc).Name()
	timer := time.NewTimer(wallPeriod)
	defer timer.Stop()
	for {
		select {
		case <-quit:
			if w.samples+int64(w.missed) == 0 { // or the profile would be empty
				w.sample(time.Now())
			}
			return
		case <-timer.C:
			began := time.Now()
			n := w.sample(began)
			timer.Reset(pause(n, time.Since(began)))
		}
	}
}

// pause is how long to wait after a sample of n goroutines. A machine that is out
// of breath has four fifths of its time for itself.
func pause(n int, took time.Duration) time.Duration {
	return max(wallPeriod, time.Duration(n)*perGoroutine, 4*took)
}

// sample adds the time since the last sample to the stack of each goroutine, and
// returns how many there are.
func (w *wallclock) sample(now time.Time) int {
	n, ok := w.record()
	w.most = max(w.most, n)
	switch {
	case ok:
		for i := range w.records[:n] {
			w.add(&w.records[i].Stack0, now.Sub(w.last))
		}
		w.samples++
	case n > w.maxGoroutines:
		w.missed++
	default:
		return n // the next sample has the time of this one
	}
	w.last = now
	return n
}

// record takes the stacks of all goroutines, and returns how many there are.
// When so many begin meanwhile that there is no room for all, it tries again.
func (w *wallclock) record() (n int, ok bool) {
	n = runtime.NumGoroutine()
	for tries := 0; tries < 5 && !ok && n <= w.maxGoroutines; tries++ {
		if n > len(w.records) || 4*n+100 < len(w.records) {
			w.records = make([]runtime.StackRecord, n+n/8+16)
		}
		n, ok = runtime.GoroutineProfile(w.records)
	}
	return n, ok
}

func (w *wallclock) add(s *stack, d time.Duration) {
	at := w.stacks[*s]
	switch {
	case at != nil:
	case len(w.stacks) < maxStacks:
		at = &seen{}
		w.stacks[*s] = at
	default:
		at = &w.more
	}
	at.count++
	at.time += d
}

// note says when there are fewer samples than people expect, and why.
func (w *wallclock) note(now time.Time) string {
	var parts []string
	d := now.Sub(w.began)
	if wanted := int64(d / wallPeriod); w.samples < wanted*9/10 {
		parts = append(parts, fmt.Sprintf("%d samples in %v, not %d: they are fewer with many goroutines, of which there were up to %d, and on a busy machine",
			w.samples, d.Round(time.Millisecond), wanted, w.most))
	}
	if w.missed > 0 {
		parts = append(parts, fmt.Sprintf("no sample was taken while there were more than %d goroutines", w.maxGoroutines))
	}
	if w.more.count > 0 {
		parts = append(parts, fmt.Sprintf("more than %d different stacks: the rest is one", maxStacks))
	}
	return strings.Join(parts, "; ")
}
