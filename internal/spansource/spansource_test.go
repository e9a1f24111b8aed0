package spansource_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// home is a state home with spans of the named Apps, the last one written last.
func home(t *testing.T, apps ...string) string {
	t.Helper()
	home := t.TempDir()
	for _, app := range apps {
		put(t, filepath.Join(home, app, "traces", "spans.jsonl"))
	}
	return home
}

func put(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	if err := testspans.Write(&b, testspans.Shop()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	state := home(t, "shop")
	mine := filepath.Join(t.TempDir(), "mine.jsonl")
	put(t, mine)
	shop := filepath.Join(state, "shop", "traces")
	old := strings.TrimSuffix(mine, ".jsonl") + ".1.jsonl"
	vars := env.Map{"XDG_STATE_HOME": state}
	named := env.Map{"XDG_STATE_HOME": state, "WAYMARK_APP": " shop "}
	empty := env.Map{"XDG_STATE_HOME": t.TempDir()}
	isMine := func(string) string { return mine }
	for _, c := range []struct {
		name  string
		query spansource.Query
		want  []string
		note  string
		err   error
	}{
		{"paths", spansource.Query{Paths: []string{"a", "-"}, Lookup: named.Lookup}, []string{"a", "-"}, "", nil},
		{"both", spansource.Query{Paths: []string{"a"}, App: "shop", Lookup: vars.Lookup}, nil, "", spansource.ErrBoth},
		{"app", spansource.Query{App: "shop", Lookup: vars.Lookup}, []string{shop}, "reading " + shop + " (-app shop)", nil},
		{"variable", spansource.Query{Lookup: named.Lookup}, []string{shop}, "reading " + shop + " (WAYMARK_APP shop)", nil},
		{"newest", spansource.Query{Lookup: vars.Lookup}, []string{shop}, "reading " + shop + " (written last)", nil},
		{"nothing", spansource.Query{Lookup: empty.Lookup}, nil, "", fs.ErrNotExist},
		{"no such app", spansource.Query{App: "other", Lookup: vars.Lookup}, nil, "", fs.ErrNotExist},
		{"app to wait for", spansource.Query{App: "other", Lookup: vars.Lookup, Wait: true}, []string{filepath.Join(state, "other", "traces")}, "reading " + filepath.Join(state, "other", "traces") + " (-app other)", nil},
		{"its own file", spansource.Query{App: "x", Lookup: vars.Lookup, File: isMine}, []string{mine}, "reading " + mine + " (-app x)", nil},
	} {
		src, err := spansource.Find(c.query)
		if c.err != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, src.Paths()); diff != "" || src.Note() != c.note {
			t.Errorf("%s: note %q, want %q; paths -want +got\n%s", c.name, src.Note(), c.note, diff)
		}
	}
	put(t, old)
	src, err := spansource.Find(spansource.Query{App: "x", Lookup: vars.Lookup, File: isMine})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{old, mine}, src.Paths()); diff != "" {
		t.Errorf("with an old part: -want +got\n%s", diff)
	}
	// Those of other processes come and go.
	beside := strings.TrimSuffix(mine, ".jsonl") + "-7-1.jsonl"
	put(t, beside)
	put(t, filepath.Join(filepath.Dir(mine), "other.jsonl"))
	if diff := cmp.Diff([]string{old, mine, beside}, src.Paths()); diff != "" {
		t.Errorf("with another process: -want +got\n%s", diff)
	}
	if n := count(t, src.Spans(t.Context())); n != 18 {
		t.Errorf("%d spans, want the 6 of each of three files", n)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if src, err = spansource.Find(spansource.Query{App: "x", Lookup: vars.Lookup, File: isMine}); err != nil {
		t.Fatalf("without the owner's file: %v", err)
	}
	if n := count(t, src.Spans(t.Context())); n != 12 {
		t.Errorf("%d spans without the owner's file, want 12", n)
	}
}

func count(t *testing.T, spans iter.Seq2[*traces.Span, error]) (n int) {
	t.Helper()
	for _, err := range spans {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// An App's own file is followed with those of its processes, now and later.
func TestFollow(t *testing.T) {
	t.Parallel()
	mine := filepath.Join(t.TempDir(), "mine.jsonl")
	src, err := spansource.Find(spansource.Query{App: "x", Wait: true, File: func(string) string { return mine }})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(filepath.Dir(mine), "mine-7-1.jsonl"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range src.Follow(ctx, tracefile.WithPollInterval(time.Millisecond)).Spans() {
		if err != nil {
			t.Fatal(err)
		}
		switch n++; n {
		case 6:
			put(t, mine)
		case 12:
			put(t, filepath.Join(filepath.Dir(mine), "mine-9-2.jsonl"))
		case 18:
			cancel()
		}
	}
	if n != 18 {
		t.Errorf("%d spans, want the 6 of each of three files", n)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	state := home(t, "a", "b")
	var in bytes.Buffer
	if err := testspans.Write(&in, testspans.Shop()); err != nil {
		t.Fatal(err)
	}
	src, err := spansource.Find(spansource.Query{
		Paths: []string{filepath.Join(state, "a", "traces"), "-", filepath.Join(state, "b", "traces", "spans.jsonl")}, Stdin: &in, Lookup: env.Map{}.Lookup,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range src.Spans(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if r := src.Report(); n != 18 || r.Spans != 18 || len(r.Files) != 3 || r.Files[1].Name != "standard input" || src.Again() {
		t.Errorf("%d spans, report %+v", n, r)
	}
}

func TestSpansStop(t *testing.T) {
	t.Parallel()
	state := home(t, "a")
	src, err := spansource.Find(spansource.Query{Paths: []string{filepath.Join(state, "a", "traces"), "missing"}, Lookup: env.Map{}.Lookup})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for span, err := range src.Spans(ctx) {
		if last = err; err == nil && span != nil {
			n++
		}
	}
	if n != 6 || !errors.Is(last, fs.ErrNotExist) {
		t.Errorf("%d spans, %v: want those of the first file, then the error of the second", n, last)
	}
	for _, err := range src.Spans(ctx) { // may be left early
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		break
	}
	for span, err := range src.Spans(ctx) {
		if span != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %v, %v", span, err)
		}
	}
}
