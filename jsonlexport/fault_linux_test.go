package jsonlexport_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// mountTmpfs mounts a small disk, or skips the test.
func mountTmpfs(t *testing.T, flags uintptr, data string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, data); err != nil {
		t.Skipf("mounting a small disk takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := mountTmpfs(t, 0, "size=256k")
	filler := filepath.Join(dir, "filler")
	writeFile(t, filler, string(make([]byte, 128<<10)))
	path := filepath.Join(dir, "spans.jsonl")
	e := mustNew(t, path)
	var failed error
	for i := 0; i < 1000 && failed == nil; i++ {
		end(e, "before", "before", "before")
		failed = e.ForceFlush(soon(t))
	}
	if !errors.Is(failed, syscall.ENOSPC) {
		t.Fatalf("the disk never filled: %v", failed)
	}
	whole := spansIn(t, path)
	if got := e.Stats(); got.Exported != whole || got.Failed == 0 {
		t.Errorf("%d whole spans in the file, account %+v", whole, got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	end(e, "after")
	flush(t, e)
	if err := e.Shutdown(soon(t)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Shutdown = %v, want an error about the lost spans", err)
	}
	got := e.Stats()
	checkBalance(t, got)
	if n := spansIn(t, path); n != got.Exported || n != whole+1 {
		t.Errorf("%d spans in the file, want %d as in %+v", n, whole+1, got)
	}
	if n := reported(dir, "no space left"); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
}

// unmovable keeps a file from being renamed, until the function is called.
func unmovable(t *testing.T, path string) (undo func() error) {
	t.Helper()
	if os.Geteuid() != 0 {
		dir := filepath.Dir(path)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return func() error { return os.Chmod(dir, 0o700) }
	}
	if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil { // root writes everywhere
		t.Skipf("mounting a file on itself: %v", err)
	}
	mounted := true
	undo = func() error {
		mounted = false
		return syscall.Unmount(path, syscall.MNT_DETACH)
	}
	t.Cleanup(func() {
		if mounted {
			_ = undo()
		}
	})
	return undo
}

// After a rotation that failed, the file is what it was, and so is the account.
func TestRotationThatFails(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(2*line))
	write := func(names ...string) {
		t.Helper()
		for _, name := range names {
			end(e, name)
			flush(t, e)
		}
	}
	write("1", "2")
	undo := unmovable(t, path)
	end(e, "3")
	if err := e.ForceFlush(soon(t)); err == nil || !strings.Contains(err.Error(), "rotate: ") {
		t.Errorf("ForceFlush = %v, want that rotating failed", err)
	}
	wantSpans(t, path, "1", "2")
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	write("4", "5", "6") // 1 and 2 become the old part, and then go with it
	wantSpans(t, path, "6")
	wantStats(t, e, jsonlexport.Stats{Ended: 6, Exported: 5, Failed: 1, Discarded: 2})
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Geteuid() == 0 { // root writes everywhere but on a read-only disk
		dir = mountTmpfs(t, syscall.MS_RDONLY, "")
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "spans.jsonl"), filepath.Join(dir, "traces", "spans.jsonl")} {
		e, err := jsonlexport.New(path)
		if e != nil || (!errors.Is(err, syscall.EROFS) && !errors.Is(err, os.ErrPermission)) {
			t.Errorf("New(%q) = %v, %v, want the system's error", path, e, err)
		}
	}
}

func TestDevFull(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is always full: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	e := jsonlexport.NewWriter(f)
	end(e, "lost")
	if err := e.Shutdown(soon(t)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Shutdown = %v, want ENOSPC", err)
	}
	if got := (jsonlexport.Stats{Ended: 1, Failed: 1}); e.Stats() != got {
		t.Errorf("Stats = %+v, want %+v", e.Stats(), got)
	}
}
