package profile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/profile"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		_, name, _ := strings.Cut(e.Name(), ".")
		names = append(names, name)
	}
	return names
}

func TestSnapshotsRoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p, err := profile.Start(dir, profile.WithApp("shop"), profile.WithKinds("heap", "goroutine"), profile.WithSnapshots(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			time.Sleep(time.Minute + time.Millisecond)
			synctest.Wait()
			if got := strings.Join(names(t, dir), " "); got != "goroutine.snapshot.pprof heap.snapshot.pprof profiles.json" {
				t.Fatalf("after %d minutes the folder has %q", i+1, got)
			}
		}
		if m := readManifest(t, dir); m.Stop != nil || len(m.Files) != 2 || m.Reason != "" {
			t.Errorf("manifest of a running process %+v", m)
		}
		for _, path := range p.Files() {
			if strings.HasSuffix(path, ".pprof") {
				read(t, path)
			}
		}
		if err := p.Stop(t.Context(), "test"); err != nil {
			t.Error(err)
		}
		if got := strings.Join(names(t, dir), " "); got != "goroutine.pprof heap.pprof profiles.json" {
			t.Errorf("after Stop the folder has %q, want the final files alone", got)
		}
	})
}

// fgprof's hundreds of ticks run in the bubble's time.
func TestSnapshotPartsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var log bytes.Buffer
		p, err := profile.Start(dir, profile.WithApp("shop"), profile.WithKinds("fgprof"), profile.WithSnapshots(time.Second),
			profile.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep((profile.MaxParts+3)*time.Second + 500*time.Millisecond)
		if err := p.Stop(t.Context(), "test"); err != nil {
			t.Error(err)
		}
		m := readManifest(t, dir)
		if m.DroppedParts != 3 || len(m.Files) != profile.MaxParts+1 || !strings.Contains(m.Files[0].File, ".fgprof.part0004.") {
			t.Errorf("%d parts dropped, %d files, the first %q; want 3, %d and part 4", m.DroppedParts, len(m.Files), m.Files[0].File, profile.MaxParts+1)
		}
		if got := len(names(t, dir)); got != profile.MaxParts+2 {
			t.Errorf("%d files in the folder, want %d", got, profile.MaxParts+2)
		}
		if !strings.Contains(log.String(), ".fgprof*.pprof") {
			t.Errorf("the log does not open all parts:\n%s", &log)
		}
	})
}

// Between two parts of the CPU profile somebody else may be faster.
func TestCPUProfileTakenBetweenParts(t *testing.T) {
	dir := t.TempDir()
	p, err := profile.Start(dir, profile.WithKinds("cpu", "heap"), profile.WithSnapshots(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	eventually(t, "a snapshot", func() bool { return len(p.Files()) == 3 })
	if err := p.Stop(within(t), "test"); err == nil || !strings.Contains(err.Error(), "it ends with the last snapshot") {
		t.Errorf("Stop = %v, want that cpu ended", err)
	}
	if pprof.StartCPUProfile(io.Discard) == nil {
		t.Error("their CPU profile was stopped")
	}
	if m := readManifest(t, dir); len(m.Files) != 2 || len(m.Missing) != 1 || m.Missing[0].Kind != "cpu" {
		t.Errorf("files %v, missing %v", m.Files, m.Missing)
	}
}

// A snapshot that a disk holds up does not start the CPU profile again after
// Stop.
func TestSnapshotAfterStop(t *testing.T) {
	hangs, release := make(chan struct{}), make(chan struct{})
	p, err := profile.Start(t.TempDir(), profile.WithKinds("goroutine", "cpu"), profile.WithSnapshots(time.Second),
		profile.WithWriteFile(func(path string, data []byte) error {
			if strings.Contains(path, ".goroutine.snapshot.") {
				close(hangs)
				<-release
			}
			return profile.WriteFile(path, data)
		}))
	if err != nil {
		t.Fatal(err)
	}
	<-hangs
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx, "test"); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop = %v, want canceled", err)
	}
	free := func() bool {
		if pprof.StartCPUProfile(io.Discard) != nil {
			return false
		}
		pprof.StopCPUProfile()
		return true
	}
	eventually(t, "the CPU profile is free while the disk hangs", free)
	close(release)
	if err := p.Stop(within(t), "test"); err != nil || len(p.Files()) != 3 || !free() {
		t.Errorf("Stop when the disk is back = %v, files %q, CPU profile free: %v", err, p.Files(), free())
	}
}

const childVar = "WAYMARK_TEST_PROFILE_CHILD"

// TestKilledChild is the process that TestKill kills.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(childVar)
	if dir == "" {
		return // the work of another process
	}
	if _, err := profile.Start(dir, profile.WithApp("child"), profile.WithKinds("cpu", "heap", "fgprof"), profile.WithSnapshots(time.Second)); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(patience)
	busyFunction(func() bool { return time.Now().After(end) })
}

// A kill loses at most one interval.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes three seconds")
	}
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledChild$")
	child.Env = append(os.Environ(), childVar+"="+dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two snapshots of the child", func() bool {
		parts, _ := filepath.Glob(filepath.Join(dir, "child-*.part0002.pprof"))
		return len(parts) == 2
	})
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed

	m := readManifest(t, dir)
	if m.Stop != nil || m.PID != child.Process.Pid {
		t.Errorf("manifest of a killed process %+v", m)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "child-*.pprof"))
	if err != nil || len(paths) < 5 {
		t.Fatalf("files %v, %v, want two parts of cpu and fgprof, and heap", paths, err)
	}
	for _, path := range paths {
		if prof := read(t, path); !strings.Contains(path, ".heap.") && !mentions(prof, "busyFunction") {
			t.Errorf("%s does not show busyFunction", path)
		}
	}
}
