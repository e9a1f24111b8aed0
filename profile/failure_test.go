package profile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pprofile "github.com/google/pprof/profile"

	"github.com/waymark-trace/waymark/profile"
)

func TestFolderThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"a file": file, "under a file": filepath.Join(file, "dir")}
	if runtime.GOOS == "linux" {
		dirs["read-only for root too"] = "/proc/waymark"
	}
	if _, err := profile.Start(""); err == nil || !strings.Contains(err.Error(), "no folder given") {
		t.Errorf(`Start("") = %v`, err)
	}
	for name, dir := range dirs {
		p, err := profile.Start(dir, profile.WithKinds("heap"))
		if err == nil || !strings.HasPrefix(err.Error(), "profile: ") || !strings.Contains(err.Error(), strings.TrimSuffix(dir, string(filepath.Separator)+"dir")) {
			t.Errorf("%s: Start(%q) = %v, want an error that names it", name, dir, err)
		}
		if err := p.Stop(within(t), ""); err != nil || p.Files() != nil {
			t.Errorf("%s: Stop = %v, files %q", name, err, p.Files())
		}
	}
}

func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("root writes everywhere, and Windows has no such mode")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Start(dir, profile.WithKinds("heap")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Start = %v, want a permission error", err)
	}
}

func TestFolderClearedAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "profiles")
	p, err := profile.Start(dir, profile.WithKinds("heap", "goroutine"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(within(t), ""); err != nil {
		t.Error(err)
	}
	if m := readManifest(t, dir); len(m.Files) != 2 {
		t.Errorf("files %v, want two", m.Files)
	}
}

// One failure does not stop the others, be it an error or a panic.
func TestOneFileFails(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"disk full", "panic"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p, err := profile.Start(dir, profile.WithKinds("goroutine", "heap", "allocs"),
				profile.WithWriteFile(func(path string, data []byte) error {
					switch {
					case !strings.HasSuffix(path, ".heap.pprof"):
						return profile.WriteFile(path, data)
					case how == "panic":
						panic("oh no")
					}
					return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
				}))
			if err != nil {
				t.Fatal(err)
			}
			err = p.Stop(within(t), "test")
			if err == nil || !strings.Contains(err.Error(), "heap: ") || how == "disk full" && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Stop = %v, want heap's failure", err)
			}
			m := readManifest(t, dir)
			if len(m.Files) != 2 || len(m.Missing) != 1 || m.Missing[0].Kind != "heap" {
				t.Errorf("manifest has files %v and missing %v, want heap missing alone", m.Files, m.Missing)
			}
		})
	}
}

// What cannot be finished leaves no half file.
func TestNoHalfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The rename fails: its target is a folder that is not empty.
	path := filepath.Join(dir, "x.pprof")
	if err := os.MkdirAll(filepath.Join(path, "y"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := profile.WriteFile(path, []byte("data")); err == nil {
		t.Error("writing over a folder worked")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A disk that hangs does not hold the host: Stop returns at its deadline, with
// the CPU profile stopped and the rates restored.
func TestDiskHangs(t *testing.T) {
	dir := t.TempDir()
	release := make(chan struct{})
	var hang sync.Once
	var hanging bool
	p, err := profile.Start(dir, profile.WithKinds("cpu", "heap", "goroutine", "mutex"),
		profile.WithWriteFile(func(path string, data []byte) error {
			if strings.Contains(path, ".pprof") {
				hang.Do(func() { hanging = true; <-release })
			}
			return profile.WriteFile(path, data)
		}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := p.WriteGoroutines(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "goroutine") {
		t.Errorf("WriteGoroutines = %v, want a deadline that names goroutine", err)
	}
	err = p.Stop(ctx, "test") // ctx is over already
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "goroutine, cpu, heap, mutex, manifest") {
		t.Errorf("Stop = %v, want a deadline that names what is missing", err)
	}
	if err := p.Stop(ctx, "again"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop again = %v, want the deadline", err)
	}
	eventually(t, "the CPU profile is free", func() bool {
		if pprof.StartCPUProfile(io.Discard) != nil {
			return false
		}
		pprof.StopCPUProfile()
		return true
	})
	eventually(t, "the mutex fraction is restored", func() bool { return runtime.SetMutexProfileFraction(-1) == 0 })
	close(release)
	if err := p.Stop(within(t), "later"); err != nil || !hanging {
		t.Errorf("Stop when the disk is back = %v", err)
	}
	if m := readManifest(t, dir); len(m.Files) != 4 || m.Reason != "test" {
		t.Errorf("manifest %+v, want four files, reason test", m)
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestAnotherCPUProfile(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	dir := t.TempDir()
	p, err := profile.Start(dir, profile.WithKinds("cpu", "heap"))
	if err == nil || !strings.Contains(err.Error(), "cpu: another part of the program") {
		t.Errorf("Start = %v, want that cpu is taken", err)
	}
	if err := p.Stop(within(t), ""); err != nil {
		t.Errorf("Stop reports what Start has reported: %v", err)
	}
	m := readManifest(t, dir)
	if len(m.Files) != 1 || m.Files[0].Kind != "heap" || len(m.Missing) != 1 || m.Missing[0].Kind != "cpu" {
		t.Errorf("files %v, missing %v, want heap, and cpu missing", m.Files, m.Missing)
	}
	if pprof.StartCPUProfile(io.Discard) == nil {
		t.Error("the other CPU profile was stopped")
	}
}

// Somebody who stops a CPU profile stops ours. We do not stop theirs in return.
func TestSomebodyStopsOurCPUProfile(t *testing.T) {
	dir := t.TempDir()
	p, err := profile.Start(dir, profile.WithKinds("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	if err := p.Stop(within(t), ""); err == nil || !strings.Contains(err.Error(), "stopped the CPU profile early") {
		t.Errorf("Stop = %v, want that it was stopped early", err)
	}
	if pprof.StartCPUProfile(io.Discard) == nil {
		t.Error("their CPU profile was stopped")
	}
	for _, f := range readManifest(t, dir).Files {
		read(t, filepath.Join(dir, f.File)) // what there was is saved
	}
}

func TestStartTwice(t *testing.T) {
	first, err := profile.Start(t.TempDir(), profile.WithKinds("cpu", "fgprof"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := profile.Start(t.TempDir(), profile.WithKinds("cpu", "fgprof"))
	if err == nil || !strings.Contains(err.Error(), "cpu") || strings.Contains(err.Error(), "fgprof") {
		t.Errorf("second Start = %v, want cpu's failure alone", err)
	}
	if first.ID() == second.ID() {
		t.Error("two profilers have one ID")
	}
	for name, p := range map[string]*profile.Profiler{"first": first, "second": second} {
		if err := p.Stop(within(t), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rates that the program has set are the program's.
func TestRatesOfTheProgram(t *testing.T) {
	old := runtime.SetMutexProfileFraction(0)
	defer runtime.SetMutexProfileFraction(old)
	for _, fraction := range []int{7, 10} { // 10 is what we would set
		runtime.SetMutexProfileFraction(fraction)
		p, err := profile.Start(t.TempDir(), profile.WithKinds("mutex"))
		if err != nil {
			t.Fatal(err)
		}
		if got := runtime.SetMutexProfileFraction(-1); got != fraction {
			t.Errorf("Start changed the program's mutex fraction from %d to %d", fraction, got)
		}
		_ = p.Stop(within(t), "") // an empty profile is not what this is about
		if got := runtime.SetMutexProfileFraction(-1); got != fraction {
			t.Errorf("Stop changed the program's mutex fraction from %d to %d", fraction, got)
		}
	}

	runtime.SetMutexProfileFraction(0)
	p, err := profile.Start(t.TempDir(), profile.WithKinds("mutex"))
	if err != nil {
		t.Fatal(err)
	}
	runtime.SetMutexProfileFraction(3)
	_ = p.Stop(within(t), "")
	if got := runtime.SetMutexProfileFraction(-1); got != 3 {
		t.Errorf("Stop changed the mutex fraction to %d, which somebody had set to 3 meanwhile", got)
	}
}

func blockedFunction() {
	c := make(chan struct{})
	go func() {
		time.Sleep(5 * time.Millisecond)
		close(c)
	}()
	<-c
}

// After Stop nobody pays for block events any more.
func TestBlockRateIsOffAfterStop(t *testing.T) {
	p, err := profile.Start(t.TempDir(), profile.WithKinds("block"))
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Stop(within(t), "") // an empty profile is not what this is about
	blockedFunction()
	var buf bytes.Buffer
	if err := pprof.Lookup("block").WriteTo(&buf, 0); err != nil {
		t.Fatal(err)
	}
	if prof, err := pprofile.Parse(&buf); err == nil && mentions(prof, "blockedFunction") {
		t.Error("block events are still sampled")
	}
}

// The deadline's error names what is missing, not what is written.
func TestDiskHangsHalfway(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p, err := profile.Start(t.TempDir(), profile.WithKinds("goroutine", "heap", "allocs"),
		profile.WithWriteFile(func(path string, data []byte) error {
			if strings.Contains(path, ".heap.") {
				<-release
			}
			return profile.WriteFile(path, data)
		}))
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { stop <- p.Stop(ctx, "") }()
	eventually(t, "the first file", func() bool { return len(p.Files()) == 1 })
	cancel()
	if err := <-stop; err == nil || !strings.Contains(err.Error(), "not written in time: heap, allocs, manifest: ") {
		t.Errorf("Stop = %v, want what is missing", err)
	}
	close(release)
	if err := p.Stop(within(t), ""); err != nil || len(p.Files()) != 4 {
		t.Errorf("Stop when the disk is back = %v, files %q", err, p.Files())
	}
}

// fgprof has a profile also when it is stopped before its first sample, and may
// be stopped twice.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				p, err := profile.Start(t.TempDir(), profile.WithKinds("fgprof"))
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				err = p.Stop(ctx, "at once")
				cancel()
				if err != nil {
					t.Error(err)
				}
				if prof := read(t, p.Files()[0]); len(prof.Sample) == 0 { // one is taken at the end
					t.Error("the profile is empty")
				}
				if err := p.Stop(context.Background(), "twice"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestStopAtOnceEverything(t *testing.T) {
	for range 10 {
		p, err := profile.Start(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(within(t), "at once"); err != nil {
			t.Error(err)
		}
	}
}

func TestConcurrently(t *testing.T) {
	dir := t.TempDir()
	p, err := profile.Start(dir, profile.WithKinds("cpu", "goroutine", "heap"), profile.WithSnapshots(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, err := range []error{p.WriteGoroutines(ctx), p.Stop(ctx, "first"), p.Stop(ctx, "second"), p.WriteGoroutines(ctx)} {
				if err != nil {
					t.Error(err)
				}
			}
			if len(p.Files()) != 4 || p.ID() == "" {
				t.Errorf("Files() after Stop = %q", p.Files())
			}
		})
	}
	wg.Wait()
	if m := readManifest(t, dir); m.Reason != "first" {
		t.Errorf("reason %q, want first", m.Reason)
	}
}

// After Stop nothing of ours runs.
func TestLeavesNoGoroutine(t *testing.T) {
	for range 2 {
		p, err := profile.Start(t.TempDir(), profile.WithKinds(profile.Kinds()...), profile.WithSnapshots(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Stop(within(t), "") // block and mutex may be empty
	}
	eventually(t, "no goroutine is left", func() bool {
		buf := make([]byte, 1<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		return !slices.ContainsFunc(stacks, func(s string) bool {
			return strings.Contains(s, "profile.(*recording)") || strings.Contains(s, "profile.(*wallclock)") || strings.Contains(s, "pprof.profileWriter")
		})
	})
}
