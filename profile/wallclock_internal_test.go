package profile

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pprofile "github.com/google/pprof/profile"
)

func TestPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		n    int
		took time.Duration
		want time.Duration
	}{
		{"few", 10, time.Microsecond, wallPeriod},
		{"a thousand", 1000, time.Millisecond, 100 * time.Millisecond},
		{"twenty thousand", 20_000, 20 * time.Millisecond, 2 * time.Second},
		{"out of breath", 10, time.Second, 4 * time.Second},
	} {
		if got := pause(c.n, c.took); got != c.want {
			t.Errorf("%s: a pause of %v, want %v", c.name, got, c.want)
		}
	}
}

//go:noinline
func parkedFunction(c chan struct{}) { <-c }

// park keeps n goroutines waiting until the test ends.
func park(t *testing.T, n int) {
	t.Helper()
	c := make(chan struct{})
	var wg sync.WaitGroup
	t.Cleanup(func() {
		close(c)
		wg.Wait()
	})
	for range n {
		wg.Go(func() { parkedFunction(c) })
	}
	parked := func() (in int) {
		records := make([]runtime.StackRecord, 2*runtime.NumGoroutine())
		count, _ := runtime.GoroutineProfile(records)
		for i := range records[:min(count, len(records))] {
			frames := runtime.CallersFrames(records[i].Stack())
			for more := true; more; {
				var f runtime.Frame
				if f, more = frames.Next(); strings.HasSuffix(f.Function, ".parkedFunction") {
					in++
				}
			}
		}
		return in
	}
	for parked() < n {
		time.Sleep(time.Millisecond)
	}
}

// valuesOf adds up the samples and the time of the stacks with a function.
func valuesOf(p *pprofile.Profile, function string) (count, nanos int64) {
	for _, s := range p.Sample {
		if slices.ContainsFunc(s.Location, func(l *pprofile.Location) bool { return strings.Contains(l.Line[0].Function.Name, function) }) {
			count, nanos = count+s.Value[0], nanos+s.Value[1]
		}
	}
	return count, nanos
}

func decode(t *testing.T, data []byte) *pprofile.Profile {
	t.Helper()
	p, err := pprofile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	return p
}

func encodeWall(t *testing.T, w *wallclock, ended time.Time) *pprofile.Profile {
	t.Helper()
	data, err := w.encode(ended)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, data)
}

// A sample stands for the time since the one before, however long that was.
func TestSamplesHaveTheirTime(t *testing.T) {
	park(t, 3)
	began := time.Unix(1_700_000_000, 0)
	w := newWallclock(began)
	for _, at := range []time.Duration{time.Second, 5 * time.Second} {
		if n := w.sample(began.Add(at)); n < 4 {
			t.Errorf("a sample of %d goroutines, want all", n)
		}
	}
	p := encodeWall(t, w, began.Add(6*time.Second))
	if count, nanos := valuesOf(p, "parkedFunction"); count != 6 || nanos != int64(15*time.Second) {
		t.Errorf("three parked goroutines have %d samples and %v, want 6 and 15s", count, time.Duration(nanos))
	}
	if p.TimeNanos != began.UnixNano() || p.DurationNanos != int64(6*time.Second) || p.Period != int64(wallPeriod) ||
		p.PeriodType.Type != "wallclock" || p.DefaultSampleType != "time" || p.SampleType[0].Unit != "count" || p.SampleType[1].Unit != "nanoseconds" {
		t.Errorf("profile %v", p)
	}
	if !p.HasFunctions() || !p.HasFileLines() {
		t.Error("pprof would look for the binary")
	}
	for _, l := range p.Location {
		if strings.HasSuffix(l.Line[0].Function.Name, ".parkedFunction") && (l.Line[0].Line == 0 || !strings.HasSuffix(l.Line[0].Function.Filename, "wallclock_internal_test.go")) {
			t.Errorf("parkedFunction is at %s:%d", l.Line[0].Function.Filename, l.Line[0].Line)
		}
	}
	if note := w.note(began.Add(6 * time.Second)); !strings.Contains(note, "2 samples in 6s, not 594: ") {
		t.Errorf("note %q", note)
	}
}

func TestTooManyGoroutines(t *testing.T) {
	park(t, 100)
	w := newWallclock(time.Now())
	w.maxGoroutines = 50
	if n := w.sample(time.Now()); n < 100 || w.samples != 0 || len(w.records) != 0 {
		t.Errorf("%d goroutines, %d samples with room for %d", n, w.samples, len(w.records))
	}
	if note := w.note(w.began); note != "no sample was taken while there were more than 50 goroutines" {
		t.Errorf("note %q", note)
	}
	encodeWall(t, w, time.Now()) // is valid
}

func TestTooManyStacks(t *testing.T) {
	t.Parallel()
	w := newWallclock(time.Now())
	for i := range maxStacks + 5 {
		for range 2 {
			w.add(&stack{uintptr(i + 1)}, time.Second)
		}
	}
	if len(w.stacks) != maxStacks || w.more != (seen{10, 10 * time.Second}) {
		t.Errorf("%d stacks and %+v, want %d and ten samples", len(w.stacks), w.more, maxStacks)
	}
	if note := w.note(w.began); note != "more than 20000 different stacks: the rest is one" {
		t.Errorf("note %q", note)
	}
	if count, nanos := valuesOf(encodeWall(t, w, time.Now()), "(other stacks)"); count != 10 || nanos != int64(10*time.Second) {
		t.Errorf("other stacks have %d samples and %v", count, time.Duration(nanos))
	}
}

// Records that a burst of goroutines needed are given back.
func TestRecordsShrink(t *testing.T) {
	w := newWallclock(time.Now())
	w.records = make([]runtime.StackRecord, 1_000_000)
	w.sample(time.Now())
	if len(w.records) > 100_000 || w.samples != 1 {
		t.Errorf("room for %d records after %d samples", len(w.records), w.samples)
	}
}

// It samples the fewer times the more goroutines there are, says so, and leaves
// itself out.
func TestManyGoroutines(t *testing.T) {
	const parked, d = 3000, time.Second
	park(t, parked)
	profiler, err := Start(t.TempDir(), WithKinds(kindFgprof))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	if err := profiler.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var files [2][]byte // the profile and the manifest
	for i, path := range profiler.Files() {
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	p := decode(t, files[0])
	count, nanos := valuesOf(p, "parkedFunction")
	most := p.DurationNanos/int64(parked*perGoroutine) + 1
	if samples := count / parked; samples < 1 || samples > most {
		t.Errorf("%d samples of %d goroutines in %v, want 1 to %d", samples, parked, time.Duration(p.DurationNanos), most)
	}
	if nanos > parked*p.DurationNanos {
		t.Errorf("%v for each goroutine in %v", time.Duration(nanos/parked), time.Duration(p.DurationNanos))
	}
	if ours, _ := valuesOf(p, "(*wallclock).run"); ours != 0 {
		t.Errorf("the profile shows our own goroutine %d times", ours)
	}
	if !strings.Contains(string(files[1]), "they are fewer with many goroutines") {
		t.Errorf("the manifest does not say that there are fewer samples:\n%s", files[1])
	}
}

// Any text comes back, whatever was written before it.
func FuzzPprofWriter(f *testing.F) {
	f.Add("main.main", "main.go", 7, []byte{1, 2, 3})
	f.Add("", "", -1, []byte{})
	f.Fuzz(func(t *testing.T, name, file string, line int, values []byte) {
		p := newPprofWriter()
		var ids []uint64
		for _, l := range []location{{function{name, file}, line}, {function{file, name}, 1}, {function{name, file}, 2}, {function{name, file}, line}} {
			ids = append(ids, p.location(l))
		}
		values = append(values, make([]byte, 16)...)
		s := seen{int64(binary.LittleEndian.Uint64(values) >> 1), time.Duration(binary.LittleEndian.Uint64(values[8:]) >> 1)}
		p.sample(ids, &s)
		data, err := p.finish(time.Unix(1, 0), time.Unix(3, 0), wallPeriod)
		if err != nil {
			t.Fatal(err)
		}
		got := decode(t, data).Sample[0]
		first, second := got.Location[0].Line[0], got.Location[1].Line[0]
		if first.Function.Name != name || first.Function.Filename != file || first.Line != int64(max(line, 0)) ||
			second.Function.Name != file || got.Location[3].ID != got.Location[0].ID ||
			got.Value[0] != s.count || got.Value[1] != int64(s.time) {
			t.Errorf("%q %q %d %+v come back as %v", name, file, line, s, got)
		}
	})
}
