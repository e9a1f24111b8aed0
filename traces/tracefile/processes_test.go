package tracefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// namesIn are the names of the spans in their order.
func namesIn(t *testing.T, path string, opts ...tracefile.Option) string {
	t.Helper()
	spans, _, err := tracefile.ReadAll(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sp := range spans {
		names = append(names, sp.Name)
	}
	return strings.Join(names, " ")
}

// A span file of any name has the same files beside it as an App's folder has.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "my.log.jsonl")
	for _, name := range []string{
		"my.log.jsonl", "my.log.1.jsonl", "my.log-12-1.jsonl", "my.log-12-1.1.jsonl", "my.log-7-1.jsonl", "my.log.prev.jsonl",
		"my.jsonl", "spans.jsonl", "my.log-x.jsonl",
	} {
		write(t, filepath.Join(dir, name), spanLine(strings.TrimSuffix(name, ".jsonl")), 0)
	}
	const all = "my.log.1 my.log my.log-7-1 my.log-12-1.1 my.log-12-1"
	for _, c := range []struct {
		name string
		opts []tracefile.Option
		want string
	}{
		{"the file alone", nil, "my.log"},
		{"all processes", []tracefile.Option{tracefile.WithProcesses()}, all},
		{"and the previous run", []tracefile.Option{tracefile.WithProcesses(), tracefile.WithPrevious()}, "my.log.prev " + all},
	} {
		if got := namesIn(t, mine, c.opts...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if got, want := namesIn(t, mine, tracefile.WithProcesses()), strings.Replace(all, "my.log my", "my", 1); got != want {
		t.Errorf("without the owner's file: %q, want %q", got, want)
	}
	if _, err := tracefile.Open(filepath.Join(dir, "none.jsonl"), tracefile.WithProcesses()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file at all: %v, want fs.ErrNotExist", err)
	}
}
