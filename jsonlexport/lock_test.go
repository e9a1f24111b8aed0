package jsonlexport_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/jsonlexport"
)

func lockOf(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".lock" }

// removeLock does what a cleaner does that removes old files.
func removeLock(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(lockOf(path)); err != nil {
		t.Skipf("this system does not delete open files: %v", err)
	}
}

func wantStats(t *testing.T, e *jsonlexport.Exporter, want jsonlexport.Stats) {
	t.Helper()
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
}

func wantSpans(t *testing.T, path string, want ...string) {
	t.Helper()
	if got := spanNames(t, path); !slices.Equal(got, want) {
		t.Errorf("%s has the spans %q, want %q", filepath.Base(path), got, want)
	}
}

func shutdown(t *testing.T, e *jsonlexport.Exporter) {
	t.Helper()
	if err := e.Shutdown(soon(t)); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

// wantLoss shuts down and wants the error to say what was lost, and why.
func wantLoss(t *testing.T, e *jsonlexport.Exporter, texts ...string) {
	t.Helper()
	err := e.Shutdown(soon(t))
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("Shutdown = %v, want %q in it", err, text)
		}
	}
}

func TestLockDeletedIsTakenAgain(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	end(e, "1")
	flush(t, e)
	removeLock(t, path)
	end(e, "2")
	flush(t, e)
	if other := mustNew(t, path); other.Path() == path {
		t.Error("the lock was not taken again: another got the file")
	}
	shutdown(t, e)
	wantSpans(t, path, "1", "2")
	wantStats(t, e, jsonlexport.Stats{Ended: 2, Exported: 2})
	if n := reported(lockOf(path), "deleted or replaced"); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
}

// Another process starts before that is noticed: it clears the file.
func TestLockDeletedAndFileTaken(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(line))
	for _, name := range []string{"0", "1", "2"} { // 0 is discarded, 1 in the old part
		end(e, name)
		flush(t, e)
	}
	removeLock(t, path)
	other := mustNew(t, path)
	end(other, "other")
	flush(t, other)
	end(e, "3")
	flush(t, e) // it is written, whatever happened to others
	if e.Path() == path || other.Path() != path {
		t.Fatalf("paths %q and %q, want that the other alone has the file", e.Path(), other.Path())
	}
	wantStats(t, e, jsonlexport.Stats{Ended: 4, Exported: 2, Failed: 2, Discarded: 1})
	wantLoss(t, e, "2 of 4 spans lost", "another process", path)
	shutdown(t, other)
	wantSpans(t, path, "other")
	wantSpans(t, e.Path(), "3")
	if n := reported(path, "2 spans"); n != 1 {
		t.Errorf("%d reports of the loss, want 1", n)
	}
}

// The other has come and gone, and its file is as long as ours.
func TestLockDeletedAndFileWrittenAnew(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(4*line))
	for _, name := range []string{"1", "2", "3", "4", "5"} { // 1 to 4 in the old part
		end(e, name)
		flush(t, e)
	}
	removeLock(t, path)
	other := mustNew(t, path)
	end(other, "other")
	flush(t, other)
	end(other, "longer")
	shutdown(t, other)
	end(e, "6")
	flush(t, e)
	if e.Path() != path {
		t.Errorf("Path() = %q, want %q, which is free", e.Path(), path)
	}
	wantStats(t, e, jsonlexport.Stats{Ended: 6, Exported: 1, Failed: 5})
	wantSpans(t, path, "other", "longer", "6")
	removeLock(t, path) // again, and this time nobody comes
	end(e, "7")
	wantLoss(t, e, "5 of 7 spans lost", path)
	wantStats(t, e, jsonlexport.Stats{Ended: 7, Exported: 2, Failed: 5})
}

// The other came and went while we wrote nothing until the end.
func TestLockDeletedIsSeenAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]bool{"the other lives": true, "the other has ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := spanPath(t)
			e := mustNew(t, path)
			end(e, "1")
			flush(t, e)
			removeLock(t, path)
			other := mustNew(t, path)
			if !stays {
				shutdown(t, other)
			}
			wantLoss(t, e, "1 of 1 spans lost", path)
			wantStats(t, e, jsonlexport.Stats{Ended: 1, Failed: 1})
			if third := mustNew(t, path); stays != (third.Path() != path) {
				t.Errorf("a third writes %q", third.Path())
			}
		})
	}
}

// Nobody came: the lock is gone, the spans are there.
func TestLockDeletedAndNothingElse(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	end(e, "1")
	flush(t, e)
	removeLock(t, path)
	shutdown(t, e)
	wantStats(t, e, jsonlexport.Stats{Ended: 1, Exported: 1})
}

// The other keeps the previous run: ours.
func TestLockDeletedAndFileKept(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(line))
	for _, name := range []string{"1", "2"} {
		end(e, name)
		flush(t, e)
	}
	removeLock(t, path)
	other := mustNew(t, path, jsonlexport.WithKeepPrevious())
	for _, name := range []string{"3", "4"} {
		end(e, name)
		flush(t, e)
	}
	shutdown(t, e)
	wantStats(t, e, jsonlexport.Stats{Ended: 4, Exported: 4})
	want := map[string][]string{
		"spans.jsonl": nil, "spans.prev.jsonl": {"2"}, "spans.prev.1.jsonl": {"1"}, "spans.lock": nil,
		filepath.Base(e.Path()): {"4"}, strings.TrimSuffix(filepath.Base(e.Path()), ".jsonl") + ".1.jsonl": {"3"},
	}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	shutdown(t, other)
}

// The file beside the owner's: the next owner removes it.
func TestLockOfAChildDeleted(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	owner := mustNew(t, path)
	e := mustNew(t, path)
	end(e, "1")
	flush(t, e)
	removeLock(t, e.Path())
	shutdown(t, owner)
	next := mustNew(t, path)
	end(e, "2")
	flush(t, e)
	wantStats(t, e, jsonlexport.Stats{Ended: 2, Exported: 1, Failed: 1})
	wantSpans(t, e.Path(), "2")
	wantLoss(t, e, "1 of 2 spans lost")
	end(next, "next")
	shutdown(t, next)
	wantSpans(t, path, "next")
}

// With one pid in each of two containers, the name beside the owner's is
// another's by then. Its lock stays, and so does its file.
func TestLockOfAChildTaken(t *testing.T) {
	t.Parallel()
	for name, written := range map[string][]string{"nothing written": nil, "written": {"1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := spanPath(t)
			mustNew(t, path)
			e := mustNew(t, path)
			end(e, written...)
			flush(t, e)
			beside := e.Path()
			removeLock(t, beside)
			other := mustNew(t, path)
			end(other, "other")
			flush(t, other)
			if other.Path() != beside {
				t.Fatalf("the other writes %q, want %q", other.Path(), beside)
			}
			if written == nil {
				shutdown(t, e)
			} else {
				wantLoss(t, e, "1 of 1 spans lost")
			}
			if _, err := os.Stat(lockOf(beside)); err != nil {
				t.Errorf("the other's lock: %v", err)
			}
			if third := mustNew(t, path); third.Path() == beside {
				t.Error("a third has the other's file")
			}
			wantSpans(t, beside, "other")
		})
	}
}

// What cannot be locked again cannot be locked by another either.
func TestLockReplacedByWhatCannotBeLocked(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	removeLock(t, path)
	if err := os.Mkdir(lockOf(path), 0o700); err != nil {
		t.Fatal(err)
	}
	end(e, "1")
	flush(t, e)
	wantSpans(t, path, "1")
	if n := reported(lockOf(path), "folder"); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
	// A file is not made without a lock.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	end(e, "2")
	if err := e.ForceFlush(soon(t)); !errors.Is(err, jsonlexport.ErrNotOurs) {
		t.Errorf("ForceFlush = %v, want ErrNotOurs", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made without a lock: %v", err)
	}
	if err := os.Remove(lockOf(path)); err != nil {
		t.Fatal(err)
	}
	end(e, "3")
	flush(t, e)
	wantSpans(t, path, "3")
	wantStats(t, e, jsonlexport.Stats{Ended: 3, Exported: 2, Failed: 1, Discarded: 1})
}

// A cleaner by age finds a lock as young as the file.
func TestLockIsTouched(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	synctest.Test(t, func(t *testing.T) {
		owner, err := jsonlexport.New(path)
		if err != nil {
			t.Fatal(err)
		}
		child, err := jsonlexport.New(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []*jsonlexport.Exporter{owner, child} {
			time.Sleep(24 * time.Hour)
			end(e, "1")
			if err := e.ForceFlush(t.Context()); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(lockOf(e.Path()))
			if err != nil {
				t.Fatal(err)
			}
			if age := time.Since(info.ModTime()); age.Abs() > time.Minute {
				t.Errorf("the lock of %s is %v old", e.Path(), age)
			}
			if err := e.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
