package jsonlexport_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

func background() context.Context { return context.Background() }

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// run writes the spans in one life of an exporter.
func run(t *testing.T, path string, names []string, opts ...jsonlexport.Option) jsonlexport.Stats {
	t.Helper()
	e := mustNew(t, path, opts...)
	for _, name := range names {
		end(e, name)
		flush(t, e)
	}
	if err := e.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	checkBalance(t, e.Stats())
	return e.Stats()
}

// files lists the folder with the spans of each file.
func files(t *testing.T, dir string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".lock" {
			all[entry.Name()] = nil
			continue
		}
		all[entry.Name()] = spanNames(t, filepath.Join(dir, entry.Name()))
	}
	return all
}

func TestClearedAtEachStart(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	run(t, path, []string{"first"})
	writeFile(t, strings.TrimSuffix(path, ".jsonl")+".1.jsonl", `{"resourceSpans":[]}`+"\n")
	mustNew(t, path)
	want := map[string][]string{"spans.jsonl": nil, "spans.lock": nil}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("after a second start without a span (-want +got):\n%s", diff)
	}
}

func TestSecondExporterOfTheProcessWritesBeside(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	first := mustNew(t, path)
	var log bytes.Buffer
	second := mustNew(t, path, jsonlexport.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	third := mustNew(t, path)
	dir := filepath.Dir(path)
	for i, e := range []*jsonlexport.Exporter{second, third} {
		want := filepath.Join(dir, fmt.Sprintf("spans-%d-%d.jsonl", os.Getpid(), i+1))
		if e.Path() != want {
			t.Errorf("Path() = %q, want %q", e.Path(), want)
		}
	}
	if !strings.Contains(log.String(), second.Path()) || !strings.Contains(log.String(), "in use") {
		t.Errorf("the log does not say so: %s", &log)
	}
	end(first, "1")
	end(second, "2")
	for _, e := range []*jsonlexport.Exporter{first, second, third} {
		if err := e.Shutdown(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	// The third wrote nothing and leaves nothing; no lock but the owner's stays.
	want := map[string][]string{"spans.jsonl": {"1"}, "spans.lock": nil, filepath.Base(second.Path()): {"2"}}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	again := mustNew(t, path)
	if again.Path() != path {
		t.Errorf("after Shutdown the file is still taken: %q", again.Path())
	}
}

func TestSizeLimitKeepsOneOldPart(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	got := run(t, path, []string{"1", "2", "3", "4", "5", "6", "7"}, jsonlexport.WithMaxFileBytes(2*line))
	want := map[string][]string{"spans.1.jsonl": {"5", "6"}, "spans.jsonl": {"7"}, "spans.lock": nil}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(jsonlexport.Stats{Ended: 7, Exported: 7, Discarded: 4}, got); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
}

func TestKeepPrevious(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	keep := []jsonlexport.Option{jsonlexport.WithKeepPrevious(), jsonlexport.WithMaxFileBytes(line)}
	run(t, path, []string{"1", "2"}, keep...)
	run(t, path, []string{"3"}, keep...)
	want := map[string][]string{
		"spans.prev.1.jsonl": {"1"}, "spans.prev.jsonl": {"2"}, "spans.jsonl": {"3"}, "spans.lock": nil,
	}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("after two runs (-want +got):\n%s", diff)
	}
	run(t, path, nil, keep...)
	run(t, path, nil, keep...)
	want = map[string][]string{"spans.prev.jsonl": {"3"}, "spans.jsonl": nil, "spans.lock": nil}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("after two runs without a span (-want +got):\n%s", diff)
	}
}

// Only the owner keeps its previous run.
func TestKeepPreviousBesideTheOwner(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	mustNew(t, path)
	left := filepath.Join(filepath.Dir(path), fmt.Sprintf("spans-%d-1.jsonl", os.Getpid()))
	writeFile(t, left, `{"resourceSpans":[]}`+"\n") // of a process that had our pid
	e := mustNew(t, path, jsonlexport.WithKeepPrevious())
	if e.Path() != left {
		t.Fatalf("Path() = %q, want %q", e.Path(), left)
	}
	want := map[string][]string{"spans.jsonl": nil, "spans.lock": nil, filepath.Base(left): nil, filepath.Base(lockOf(left)): nil}
	if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAnyName(t *testing.T) {
	t.Parallel()
	names := []string{"foo.jsonl", "foo", "a.b.json", "x.lock", "with space.jsonl", "[a].jsonl"}
	if runtime.GOOS != "windows" { // where no name has an asterisk
		names = append(names, "[a]*.jsonl")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			ext := filepath.Ext(name)
			stem := strings.TrimSuffix(name, ext)
			line := int64(len(encoded(t, oneStub("0"))))
			e := mustNew(t, path, jsonlexport.WithMaxFileBytes(line))
			beside := mustNew(t, path)
			end(beside, "b")
			for _, s := range []string{"1", "2"} {
				end(e, s)
				flush(t, e)
			}
			flush(t, beside)
			if got := spansIn(t, path, filepath.Join(filepath.Dir(path), stem+".1"+ext)); got != 2 {
				t.Errorf("%d spans in the file and its old part, want 2", got)
			}
			want := filepath.Join(filepath.Dir(path), fmt.Sprintf("%s-%d-1%s", stem, os.Getpid(), ext))
			if got := beside.Path(); got != want || spansIn(t, want) != 1 {
				t.Errorf("beside it: %q, want %q", got, want)
			}
		})
	}
}

func TestNotOurs(t *testing.T) {
	t.Parallel()
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); writeFile(t, path, s) }
	}
	cases := []struct {
		name, file string // file: what is not ours, beside spans.jsonl
		make       func(*testing.T, string)
		reason     string
	}{
		{"text", "spans.jsonl", text("precious notes\n"), "first line is not OTLP/JSON"},
		{"json", "spans.jsonl", text(`{"name":"span"}` + "\n"), "first line is not OTLP/JSON"},
		{"later line", "spans.jsonl", text("\n" + `{"resourceSpans":[]}`), "first line is not OTLP/JSON"},
		{"nested key", "spans.jsonl", text(`{"x":{"resourceSpans":[]}}`), "first line is not OTLP/JSON"},
		{"brace", "spans.jsonl", text("{"), "first line is not OTLP/JSON"},
		{"folder", "spans.jsonl", func(t *testing.T, path string) {
			t.Helper()
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "folder"},
		{"old part", "spans.1.jsonl", text("precious"), "first line is not OTLP/JSON"},
		{"previous", "spans.prev.jsonl", text("precious"), "first line is not OTLP/JSON"},
		{"link", "spans.jsonl", symlink, "symbolic link"},
		{"dangling link", "spans.jsonl", func(t *testing.T, path string) {
			t.Helper()
			symlink(t, path)
			if err := os.Remove(path + ".target"); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link"},
		{"lock is a link", "spans.lock", symlink, "symbolic link"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bad := filepath.Join(dir, c.file)
			c.make(t, bad)
			before := snapshot(t, dir)
			e, err := jsonlexport.New(filepath.Join(dir, "spans.jsonl"), jsonlexport.WithKeepPrevious())
			if !errors.Is(err, jsonlexport.ErrNotOurs) || e != nil {
				t.Fatalf("New = %v, %v, want ErrNotOurs", e, err)
			}
			if !strings.HasPrefix(err.Error(), "jsonlexport: ") || !strings.Contains(err.Error(), c.reason) || !strings.Contains(err.Error(), bad) {
				t.Errorf("error %q does not name %q and %q", err, bad, c.reason)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("something was touched (-before +after):\n%s", diff)
			}
		})
	}
}

func symlink(t *testing.T, path string) {
	t.Helper()
	writeFile(t, path+".target", "")
	if err := os.Symlink(path+".target", path); err != nil {
		t.Skipf("this system or user cannot make symbolic links: %v", err)
	}
}

// snapshot is what the folder holds.
func snapshot(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(entry.Name(), info.Mode(), info.Size(), info.ModTime()))
	}
	return all
}

func TestNewSaysWhatIsWrongWithThePath(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "x")
	for path, want := range map[string]string{"": "path", filepath.Join(file, "spans.jsonl"): file} {
		e, err := jsonlexport.New(path)
		if err == nil || e != nil || !strings.HasPrefix(err.Error(), "jsonlexport: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%q) = %v, %v, want an error with %q", path, e, err, want)
		}
	}
}

// A file that another OTLP tool wrote is a span file too, however it is spaced.
func TestFileOfAnotherToolIsCleared(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	writeFile(t, path, "{ \"resourceSpans\" :\t[ ] }\n")
	mustNew(t, path)
	if got := readFile(t, path); got != "" {
		t.Errorf("the file has %q, want that it is cleared", got)
	}
}

// Programs that follow files know them by their first bytes, the Collector by
// 1000: those of two parts must differ, however long the resource and the scope.
func TestPartsBeginWithTheirOwnBytes(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(64<<10))
	s := stub("GET /")
	s.Resource = resource.NewSchemaless(attribute.String("team", strings.Repeat("blue", 500)))
	s.InstrumentationScope.Name = strings.Repeat("example.com/", 100)
	old := strings.TrimSuffix(path, ".jsonl") + ".1.jsonl"
	for n := uint64(1); ; n++ {
		id := trace.SpanID{}
		binary.BigEndian.PutUint64(id[:], n)
		s.SpanContext = s.SpanContext.WithSpanID(id)
		e.OnEnd(s.Snapshot())
		if err := e.ForceFlush(soon(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(old); err == nil {
			break
		}
	}
	var heads [2][]byte
	for i, name := range []string{old, path} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		heads[i] = data[:min(256, len(data))]
	}
	if bytes.Equal(heads[0], heads[1]) {
		t.Errorf("both parts begin with %s", heads[0])
	}
}
