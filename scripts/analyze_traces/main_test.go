package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces"
)

// stateHome is a state home in which the App shop has written spans.
func stateHome(t *testing.T) (home, dir string) {
	t.Helper()
	home = t.TempDir()
	dir = filepath.Join(home, "shop", "traces")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeSpans(t, dir, testspans.Shop())
	return home, dir
}

func writeSpans(t *testing.T, dir string, stubs tracetest.SpanStubs) {
	t.Helper()
	var b bytes.Buffer
	if err := testspans.Write(&b, stubs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spans.jsonl"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNoArguments(t *testing.T) {
	t.Parallel()
	home, dir := stateHome(t)
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), nil, nil, &stdout, &stderr, env.Map{"XDG_STATE_HOME": home}); got != 0 {
		t.Fatalf("status %d: %s", got, &stderr)
	}
	report := filepath.Join(dir, "report.html")
	for _, want := range []string{
		"6 spans in 3 traces of 2 services, 2 errors\n", "total duration 300.40 ms, ", "spans by depth", "\nreport: " + report + "\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("stdout lacks %q:\n%s", want, &stdout)
		}
	}
	if want := "analyze_traces: reading " + dir + " (written last)\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", &stderr, want)
	}
	html, err := os.ReadFile(report)
	if err != nil || !bytes.Contains(reportData(t, html), []byte("POST /checkout")) {
		t.Errorf("the report: %d bytes, %v", len(html), err)
	}
	if info, err := os.Stat(report); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the report's mode is %v", info.Mode())
	}
	// The report does not count as spans of the App.
	stdout.Reset()
	if got := run(t.Context(), []string{"-app", "shop"}, nil, &stdout, &stderr, env.Map{"XDG_STATE_HOME": home}); got != 0 {
		t.Errorf("again: status %d: %s", got, &stderr)
	}
}

// reportData unpacks the data in an HTML report.
func reportData(t *testing.T, html []byte) []byte {
	t.Helper()
	_, data, _ := bytes.Cut(html, []byte(`id="data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestLastSpans holds a report to the last spans of the files, in their order.
func TestLastSpans(t *testing.T) {
	t.Parallel()
	var last lastSpans
	for i := range uint64(maxReportSpans + 3) {
		last.add(&traces.Span{StartUnixNano: i})
	}
	list := last.list()
	if len(list) != maxReportSpans {
		t.Fatalf("%d spans are kept, want %d", len(list), maxReportSpans)
	}
	for i, span := range list {
		if span.StartUnixNano != uint64(i+3) {
			t.Fatalf("span %d of the report was read as the %dth, want %d", i, span.StartUnixNano, i+3)
		}
	}
	few := lastSpans{}
	few.add(&traces.Span{})
	if got := len(few.list()); got != 1 {
		t.Errorf("of one span %d are kept", got)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		{[]string{"-h"}, 0, usage, ""},
		{[]string{"-frob"}, 2, "", "analyze_traces: usage: flag provided but not defined: -frob (-h explains)\n"},
		{[]string{"-watch", "3s"}, 2, "", "analyze_traces: usage: invalid boolean value \"3s\" for -watch: want 2s, 5s or 10s (-h explains)\n"},
		{[]string{"-app", "a", "f"}, 2, "", "analyze_traces: usage: either files or -app, not both (-h explains)\n"},
		{[]string{"missing.jsonl"}, 1, "", "analyze_traces: stat missing.jsonl: no such file or directory\n"},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), c.args, nil, &stdout, &stderr, env.Map{}); got != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%q: status %d, stdout %q, stderr %q", c.args, got, &stdout, &stderr)
		}
	}
}

func TestWatchFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		watch time.Duration
		files int
	}{
		{nil, 0, 0},
		{[]string{"-watch"}, 5 * time.Second, 0},
		{[]string{"-watch", "2s"}, 2 * time.Second, 0},
		{[]string{"-watch=10s", "f"}, 10 * time.Second, 1},
		{[]string{"-watch", "f"}, 5 * time.Second, 1},
	} {
		o, err := parse(c.args)
		if err != nil || o.watch != c.watch || len(o.files) != c.files {
			t.Errorf("parse(%q) = %+v, %v", c.args, o, err)
		}
	}
}

// printed is what has been written and not yet looked at. In a bubble, looking does not come before what a later
// tick of the clock writes, as far as the race detector knows: a buffer would need a lock.
type printed chan string

func (p printed) Write(b []byte) (int, error) {
	p <- string(b)
	return len(b), nil
}

func (p printed) take() string {
	var text strings.Builder
	for range len(p) {
		text.WriteString(<-p)
	}
	return text.String()
}

func TestWatch(t *testing.T) {
	t.Parallel()
	home, dir := stateHome(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stdout := make(printed, 100)
		done := make(chan int)
		go func() {
			done <- run(ctx, []string{"-watch", "2s", "-app", "shop"}, nil, stdout, io.Discard, env.Map{"XDG_STATE_HOME": home})
		}()
		synctest.Wait()
		if got := stdout.take(); strings.Count(got, "total duration") != 1 {
			t.Fatalf("at the start, want one summary:\n%s", got)
		}
		time.Sleep(3 * time.Second) // one look, which finds nothing new
		synctest.Wait()
		if got := stdout.take(); got != "" {
			t.Fatalf("nothing has changed:\n%s", got)
		}
		writeSpans(t, dir, testspans.Bad()) // the App starts again and clears its file
		time.Sleep(2 * time.Second)         // of the bubble: the next look
		synctest.Wait()
		if got := stdout.take(); strings.Count(got, "total duration") != 1 || !strings.Contains(got, "33 spans in 3 traces") {
			t.Fatalf("after the restart:\n%s", got)
		}
		stop()
		if got := <-done; got != 0 {
			t.Errorf("status %d", got)
		}
	})
}
