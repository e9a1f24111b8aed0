package tracefile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

func spanLine(name string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":%q}]}]}]}`+"\n", name)
}

// tail follows a file in a bubble and gives the names that have come, with
// their report, once everything that can be read at the moment has been.
func tail(t *testing.T, path string, opts ...tracefile.Option) (names func() string, report func() tracefile.Report) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := tracefile.Follow(ctx, path, append(opts, tracefile.WithPollInterval(time.Second))...)
	got := make(chan string, 100) // a slice would need a lock: a tick of the bubble's clock orders nothing
	done := make(chan error, 1)
	go func() {
		for sp, err := range r.Spans() {
			if err != nil {
				done <- err
				return
			}
			got <- sp.Name
		}
		done <- nil
	}()
	settle := func() {
		time.Sleep(1500 * time.Millisecond) // of the bubble's clock: at least one look
		synctest.Wait()
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follow: %v", err)
		}
	})
	return func() string {
			settle()
			var names []string
			for range len(got) {
				names = append(names, <-got)
			}
			return strings.Join(names, " ")
		}, func() tracefile.Report {
			settle()
			return r.Report()
		}
}

func write(t *testing.T, path, text string, flag int) {
	t.Helper()
	f := must[*os.File](t)(os.OpenFile(path, flag|os.O_WRONLY|os.O_CREATE, 0o600))
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "spans.jsonl")
		names, report := tail(t, path)
		step := func(what, want string) {
			t.Helper()
			if got := names(); got != want {
				t.Errorf("%s: spans %q, want %q", what, got, want)
			}
		}
		step("no file yet", "")
		write(t, path, spanLine("a")+spanLine("b"), 0)
		step("the file appears", "a b")
		half := spanLine("c")
		write(t, path, half[:40], os.O_APPEND)
		step("half a line", "")
		write(t, path, half[40:]+spanLine("d"), os.O_APPEND)
		step("its other half", "c d")

		write(t, path, spanLine("e"), os.O_TRUNC)
		step("truncated, and shorter", "e")
		write(t, path, spanLine("f")+strings.Repeat(spanLine("g"), 3), os.O_TRUNC)
		step("truncated, and longer than before", "f g g g")

		write(t, path, spanLine("h"), os.O_APPEND)
		if err := os.Rename(path, filepath.Join(dir, "spans.1.jsonl")); err != nil {
			t.Fatal(err)
		}
		write(t, path, spanLine("i"), 0)
		step("rotated, with a line before it", "h i")

		write(t, path, `{"resourceSpans":[{"tor`, os.O_APPEND)
		step("a torn line", "")
		other := filepath.Join(dir, "new")
		write(t, other, spanLine("j"), 0)
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		step("replaced", "j")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		step("removed", "")
		write(t, path, spanLine("k"), 0)
		step("there again", "k")

		got := report()
		if want := path + ":2: torn line\n"; skipped(got) != want || got.Spans != 13 {
			t.Errorf("report: %d spans, skipped %q, want 13 and %q", got.Spans, skipped(got), want)
		}
	})
}

func TestFollowFromEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "spans.jsonl")
		half := spanLine("c")
		write(t, filepath.Join(dir, "spans.1.jsonl"), spanLine("old"), 0)
		write(t, path, spanLine("a")+spanLine("b")+half[:50], 0)
		names, _ := tail(t, dir, tracefile.WithFromEnd())
		if got := names(); got != "" {
			t.Errorf("spans %q from before", got)
		}
		write(t, path, half[50:], os.O_APPEND)
		if got := names(); got != "c" {
			t.Errorf("spans %q, want c", got)
		}
	})
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestFollowRotatedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path, old := filepath.Join(dir, "spans.jsonl"), filepath.Join(dir, "spans.1.jsonl")
		write(t, old, spanLine("before"), 0)
		write(t, path, spanLine("a"), 0)
		names, report := tail(t, path)
		if got := names(); got != "a" {
			t.Errorf("spans %q, want a: the old part was not asked for", got)
		}
		write(t, path, spanLine("b"), os.O_APPEND)
		rename(t, path, old)
		write(t, path, spanLine("c"), 0)
		rename(t, path, old)
		write(t, path, spanLine("d"), 0)
		if got := names(); got != "b c d" {
			t.Errorf("spans %q, want b c d", got)
		}
		if got, want := skipped(report()), path+": rotated more than once between two looks: spans may be missing\n"; got != want {
			t.Errorf("skipped %q, want %q", got, want)
		}
		rename(t, path, old)
		write(t, path, spanLine("e"), 0)
		if got := names(); got != "e" {
			t.Errorf("spans %q, want e", got)
		}
	})
}

func TestFollowFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "traces")
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "spans.jsonl")
		beside := filepath.Join(dir, "spans-7-1.jsonl")
		names, report := tail(t, dir, tracefile.WithFromEnd())
		step := func(what, want string) {
			t.Helper()
			if got := names(); got != want {
				t.Errorf("%s: spans %q, want %q", what, got, want)
			}
		}
		step("no folder yet", "")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		step("no file yet", "")
		write(t, path, spanLine("a"), 0)
		write(t, filepath.Join(dir, "spans.prev.jsonl"), spanLine("x"), 0)
		write(t, filepath.Join(dir, "other.jsonl"), spanLine("y"), 0)
		step("the folder's own file", "a")
		write(t, beside, spanLine("b"), 0)
		write(t, path, spanLine("c"), os.O_APPEND)
		step("another process", "c b")
		rename(t, beside, filepath.Join(dir, "spans-7-1.1.jsonl"))
		write(t, beside, spanLine("d")+"{", 0)
		step("rotated", "d")
		if err := os.Remove(beside); err != nil {
			t.Fatal(err)
		}
		write(t, path, spanLine("e"), os.O_APPEND)
		step("cleared", "e")
		got := report()
		if got.Spans != 5 || len(got.Files) != 2 || got.Files[0].Name != beside || got.Files[0].Spans != 2 || got.Files[1].Spans != 3 || skipped(got) != beside+":2: torn line\n" {
			t.Errorf("report %+v", got)
		}
	})
}

func TestFollowFolderFromTheOldPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		write(t, filepath.Join(dir, "spans.1.jsonl"), spanLine("a"), 0)
		names, _ := tail(t, dir)
		if got := names(); got != "a" {
			t.Errorf("spans %q, want a", got)
		}
		write(t, filepath.Join(dir, "spans.jsonl"), spanLine("b"), 0)
		if got := names(); got != "b" {
			t.Errorf("spans %q, want b", got)
		}
	})
}

func TestFollowNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, err := range tracefile.Follow(t.Context(), filepath.Dir(path)).Spans() {
		if want := "tracefile: " + path + " is no regular file"; err == nil || err.Error() != want {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
}

// TestFollowRewrittenInPlace writes a file anew again and again while it is
// read: no half line is taken for one, and nothing is read twice.
func TestFollowRewrittenInPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const rounds, lines = 100, 50
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for round := range rounds {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range lines {
				_, _ = f.WriteString(strings.Replace(spanLine(fmt.Sprintf("%d.%d", round, i)), "5b8efff7", fmt.Sprintf("%08x", round), 1))
			}
			_ = f.Close()
		}
	}()
	r := tracefile.Follow(ctx, path, tracefile.WithPollInterval(time.Millisecond))
	seen := map[string]bool{}
	for sp, err := range r.Spans() {
		if err != nil {
			t.Fatal(err)
		}
		if seen[sp.Name] {
			t.Fatalf("span %s is read twice", sp.Name)
		}
		seen[sp.Name] = true
		if sp.Name == fmt.Sprintf("%d.%d", rounds-1, lines-1) {
			cancel()
		}
	}
	<-stop
	for i := range lines {
		if name := fmt.Sprintf("%d.%d", rounds-1, i); !seen[name] {
			t.Errorf("span %s of the last file is missing", name)
		}
	}
	for _, s := range r.Report().Skipped {
		if s.What != "torn line" { // a write that crosses a page may be seen half
			t.Errorf("skipped %s", s)
		}
	}
	t.Logf("%d of %d spans seen, %d skipped", len(seen), rounds*lines, r.Report().Total)
}
