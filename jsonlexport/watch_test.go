package jsonlexport_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/jsonlexport"
)

func TestFolderDeletedWhileOpen(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	end(e, "1")
	flush(t, e)
	for _, name := range []string{"2", "3"} {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Skipf("this system does not delete open files: %v", err)
		}
		end(e, name)
		flush(t, e)
		if got := spanNames(t, path); !slices.Equal(got, []string{name}) {
			t.Errorf("after the deletion the file has %q, want %q", got, name)
		}
	}
	if got := reported(path, "deleted", "1 spans that had been written are gone"); got != 1 {
		t.Errorf("%d reports of the loss, want 1", got)
	}
	second := mustNew(t, path)
	if second.Path() == path {
		t.Error("the file made anew is not locked")
	}
	// The lock is gone too: whoever it was may have been another process.
	wantStats(t, e, jsonlexport.Stats{Ended: 3, Exported: 1, Failed: 2})
}

// While we have the lock, what somebody does to the file is their business: it
// is counted, and is no loss.
func TestFileDeletedWhileOpen(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name      string
		do        func(path string) error
		discarded uint64
		report    string
	}{
		{"deleted", os.Remove, 2, "was deleted or moved"},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, 2, "was emptied"},
		{"moved", func(path string) error { return os.Rename(path, path+".moved") }, 0, "was deleted or moved"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := spanPath(t)
			e := mustNew(t, path)
			end(e, "1", "2")
			flush(t, e)
			if err := c.do(path); err != nil {
				t.Skipf("this system does not delete open files: %v", err)
			}
			end(e, "3")
			flush(t, e)
			wantSpans(t, path, "3")
			end(e, "4")
			shutdown(t, e)
			wantSpans(t, path, "3", "4")
			wantStats(t, e, jsonlexport.Stats{Ended: 4, Exported: 4, Discarded: c.discarded})
			if n := reported(path+" ", c.report); n != 1 {
				t.Errorf("%d reports, want 1", n)
			}
		})
	}
}

// When the folder was deleted and somebody else has made it again, theirs stays.
func TestFolderDeletedAndClaimedByAnother(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Skipf("this system does not delete open files: %v", err)
	}
	other := mustNew(t, path)
	end(e, "ours")
	end(other, "other")
	flush(t, other)
	flush(t, e)
	if other.Path() != path || e.Path() == path {
		t.Errorf("paths %q and %q, want that only the other has %q", other.Path(), e.Path(), path)
	}
	if got := spanNames(t, path); !slices.Equal(got, []string{"other"}) {
		t.Errorf("the other's file has %q", got)
	}
	if got := spanNames(t, e.Path()); !slices.Equal(got, []string{"ours"}) {
		t.Errorf("our file has %q", got)
	}
}

func TestFileReplacedWhileOpen(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	end(e, "1")
	flush(t, e)
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Skipf("this system does not rename open files: %v", err)
	}
	writeFile(t, path, "precious\n")
	end(e, "2")
	if err := e.ForceFlush(soon(t)); !errors.Is(err, jsonlexport.ErrNotOurs) {
		t.Errorf("ForceFlush over a file that is not ours: %v, want ErrNotOurs", err)
	}
	if got := readFile(t, path); got != "precious\n" {
		t.Errorf("the file that replaced ours was written: %q", got)
	}
	// With an empty file in its place, as log rotation leaves, it goes on.
	writeFile(t, path, "")
	end(e, "3")
	flush(t, e)
	if got := spanNames(t, path); !slices.Equal(got, []string{"3"}) {
		t.Errorf("after the replacement the file has %q, want 3", got)
	}
	if diff := cmp.Diff(jsonlexport.Stats{Ended: 3, Exported: 2, Failed: 1}, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
}

// The old part is not given up for a file that has become empty.
func TestOldPartStaysBesideAnEmptiedFile(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(line-1))
	for _, name := range []string{"1", "2"} {
		end(e, name)
		flush(t, e)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	end(e, "3")
	shutdown(t, e)
	want := map[string][]string{"spans.1.jsonl": {"1"}, "spans.jsonl": {"3"}, "spans.lock": nil}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantStats(t, e, jsonlexport.Stats{Ended: 3, Exported: 3, Discarded: 1})
}
