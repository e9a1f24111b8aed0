package spanfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/spanfile"
)

var parts = []spanfile.Part{spanfile.PreviousOld, spanfile.Previous, spanfile.Old, spanfile.Data, spanfile.Lock}

func TestNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"spans.jsonl":     "spans.prev.1.jsonl spans.prev.jsonl spans.1.jsonl spans.jsonl spans.lock spans-7-2.1.jsonl spans-7-2.jsonl spans-7-2.lock",
		"my":              "my.prev.1 my.prev my.1 my my.lock my-7-2.1 my-7-2 my-7-2.lock",
		"a.b.json":        "a.b.prev.1.json a.b.prev.json a.b.1.json a.b.json a.b.lock a.b-7-2.1.json a.b-7-2.json a.b-7-2.lock",
		"x.lock":          "x.prev.1.lock x.prev.lock x.1.lock x.lock x.lock.lock x-7-2.1.lock x-7-2.lock x-7-2.lock.lock",
		"with space.json": "with space.prev.1.json with space.prev.json with space.1.json with space.json with space.lock with space-7-2.1.json with space-7-2.json with space-7-2.lock",
	} {
		n := spanfile.Of(filepath.Join("dir", path))
		var got []string
		for _, p := range parts {
			got = append(got, n.Path(p))
		}
		for _, p := range parts[2:] {
			got = append(got, n.Beside(7, 2).Path(p))
		}
		for i, g := range got {
			rel, err := filepath.Rel("dir", g)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = rel
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got, want := spanfile.InFolder("dir"), spanfile.Of(filepath.Join("dir", "spans.jsonl")); got != want || got.Dir() != "dir" {
		t.Errorf("InFolder = %v, want %v", got, want)
	}
}

func TestFindStrangers(t *testing.T) {
	t.Parallel()
	n := spanfile.InFolder("dir")
	for _, name := range []string{
		"", ".", "spans", "spans.json", "xspans.jsonl", "spans.2.jsonl", "spans.1", "spans.prev.2.jsonl", "Spans.jsonl", "spans.jsonl.lock", "spans.jsonl~",
		"spans-.jsonl", "spans-7.jsonl", "spans-7-.jsonl", "spans--7-1.jsonl", "spans-7-1", "spans-7-1x.jsonl", "spans-7-1.2.jsonl", "spans-7-1-2.jsonl",
		"spans-07-1.jsonl", "spans-7-01.jsonl", "spans-+7-1.jsonl", "spans-99999999999999999999-1.jsonl", "spans-7-99999999999999999999.jsonl",
		"spans-7-1.prev.jsonl", "spans-7-1.prev.1.jsonl", "spansdir.jsonl",
	} {
		if f, ok := n.Find(name); ok {
			t.Errorf("Find(%q) = %+v, want that it is a stranger", name, f)
		}
	}
}

// Every name that is made is found again as what it is, and nothing else is.
func FuzzFind(f *testing.F) {
	for _, path := range []string{"spans.jsonl", "spans", "a.b.json", ".jsonl", ".lock", "x.lock", "x.1", "x.prev", "x-7-1.jsonl", "-", "é.\xff"} {
		f.Add(path, "spans-7-1.jsonl", uint16(7), uint16(1))
	}
	f.Fuzz(func(t *testing.T, path, name string, pid, i uint16) {
		path = filepath.Base(path)
		n := spanfile.Of(path)
		names := map[string]bool{}
		check := func(of spanfile.Names, p spanfile.Part, pid, i int) {
			made := filepath.Base(of.Path(p))
			if names[made] {
				t.Errorf("of %q: two files are %q", path, made)
			}
			names[made] = true
			want := spanfile.File{Names: of, Part: p, PID: pid, N: i}
			if got, ok := n.Find(made); !ok || got != want {
				t.Errorf("of %q: Find(%q) = %+v, %t, want %+v", path, made, got, ok, want)
			}
		}
		for _, p := range parts {
			check(n, p, 0, 0)
		}
		for _, p := range parts[2:] {
			check(n.Beside(int(pid), int(i)), p, int(pid), int(i))
		}
		if got, ok := n.Find(name); ok && filepath.Base(got.Path()) != name {
			t.Errorf("of %q: Find(%q) = %q", path, name, got.Path())
		}
		if n.Path(spanfile.Data) != path {
			t.Errorf("Of(%q) is of %q", path, n.Path(spanfile.Data))
		}
	})
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := spanfile.Of(filepath.Join(dir, "my.jsonl"))
	if got, err := n.Spans(true); err != nil || len(got) != 0 {
		t.Errorf("of an empty folder: %q, %v", got, err)
	}
	for _, name := range []string{
		"my.jsonl", "my.1.jsonl", "my.prev.jsonl", "my.prev.1.jsonl", "my.lock", "my-12-1.jsonl", "my-12-1.lock", "my-7-2.1.jsonl", "my-7-10.jsonl", "my-7-2.jsonl",
		"spans.jsonl", "my.json",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "my-9-9.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := func(previous bool) (names []string) {
		t.Helper()
		paths, err := n.Spans(previous)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if filepath.Dir(p) != dir {
				t.Errorf("%s is in another folder", p)
			}
			names = append(names, filepath.Base(p))
		}
		return names
	}
	want := []string{"my.1.jsonl", "my.jsonl", "my-7-2.1.jsonl", "my-7-2.jsonl", "my-7-10.jsonl", "my-12-1.jsonl"}
	if diff := cmp.Diff(want, list(false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = append([]string{"my.prev.1.jsonl", "my.prev.jsonl"}, want...)
	if diff := cmp.Diff(want, list(true)); diff != "" {
		t.Errorf("with the previous run (-want +got):\n%s", diff)
	}
	if _, err := spanfile.InFolder(filepath.Join(dir, "none")).Files(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a missing folder: %v, want fs.ErrNotExist", err)
	}
}
