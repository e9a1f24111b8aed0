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
	var got []string
	done := make(chan error, 1)
	go func() {
		for sp, err := range r.Spans() {
			if err != nil {
				done <- err
				return
			}
			got = append(got, sp.Name)
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
			s := strings.Join(got, " ")
			got = nil
			return s
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
