package jsonlexport_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

func TestProcessorWritesSampledSpans(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	if got := e.Path(); got != path {
		t.Errorf("Path() = %q, want %q", got, path)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Fatalf("before the first span: %v, %v, want an empty file", info, err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e), sdktrace.WithResource(testResource))
	ctx, parent := provider.Tracer("a").Start(context.Background(), "parent")
	_, child := provider.Tracer("b").Start(ctx, "child", trace.WithSpanKind(trace.SpanKindClient))
	child.End()
	parent.End()
	unsampled := stub("unsampled")
	unsampled.SpanContext = unsampled.SpanContext.WithTraceFlags(0)
	e.OnEnd(unsampled.Snapshot())

	if err := provider.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	names := strings.Join(spanNames(t, path), " ")
	if names != "parent child" && names != "child parent" {
		t.Errorf("spans in the file: %q, want parent and child", names)
	}
	want := jsonlexport.Stats{Ended: 2, Exported: 2}
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
}

func TestFileIsTheUsersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists, which the user's folder hands down, in place of mode bits")
	}
	path := spanPath(t)
	mustNew(t, path)
	for name, want := range map[string]fs.FileMode{
		path:               0o600,
		filepath.Dir(path): 0o700,
		strings.TrimSuffix(path, ".jsonl") + ".lock": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
}

// Two goroutines that do nothing but end spans lose none.
func TestNothingIsLostFlatOut(t *testing.T) {
	t.Parallel()
	const goroutines, each = 2, 10_000
	path := spanPath(t)
	e := mustNew(t, path)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			s := stub(fmt.Sprint("span ", g)).Snapshot()
			for range each {
				e.OnEnd(s)
			}
		})
	}
	wg.Wait()
	if err := e.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	want := jsonlexport.Stats{Ended: goroutines * each, Exported: goroutines * each}
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	if got := spansIn(t, path); got != want.Exported {
		t.Errorf("%d spans in the file, want %d", got, want.Exported)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for line := range strings.Lines(string(data)) {
		longest = max(longest, len(line))
	}
	if longest > 512<<10 {
		t.Errorf("longest line has %d bytes, want at most 512 KiB", longest)
	}
	if longest < 256<<10 {
		t.Errorf("longest line has %d bytes: lines are not filled", longest)
	}
}

func TestExportSpansReturnsWhenWritten(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	other := stub("other scope")
	other.InstrumentationScope.Name = "elsewhere"
	spans := tracetest.SpanStubs{stub("one"), other, stub("two")}.Snapshots()
	if err := e.ExportSpans(context.Background(), spans); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "other scope"}, spanNames(t, path)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	want := jsonlexport.Stats{Ended: 3, Exported: 3}
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
}

// bothWays are the two ways in which spans reach an exporter.
func bothWays(t *testing.T, spans []sdktrace.ReadOnlySpan) map[string]func(*jsonlexport.Exporter) error {
	t.Helper()
	return map[string]func(*jsonlexport.Exporter) error{
		"processor": func(e *jsonlexport.Exporter) error {
			for _, s := range spans {
				e.OnEnd(s)
			}
			return e.ForceFlush(soon(t))
		},
		"exporter": func(e *jsonlexport.Exporter) error { return e.ExportSpans(soon(t), spans) },
	}
}

// What a line has after its spans counts too.
func TestLargeResourceIsPartOfTheLine(t *testing.T) {
	t.Parallel()
	s := stub(strings.Repeat("n", 200<<10))
	s.Resource = resource.NewSchemaless(attribute.String("team", strings.Repeat("b", 200<<10)))
	spans := tracetest.SpanStubs{s, s}.Snapshots()
	for name, export := range bothWays(t, spans) {
		path := spanPath(t)
		if err := export(mustNew(t, path)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(readFile(t, path), "\n"); n != 2 || spansIn(t, path) != 2 {
			t.Errorf("%s: %d lines and %d spans, want 2", name, n, spansIn(t, path))
		}
	}
}

// A line stays under the Collector's 1 MiB; a span that is larger than a line
// should be has one of its own.
func TestLargeSpanHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	small, large := stub(strings.Repeat("n", 300<<10)), stub(strings.Repeat("N", 900<<10))
	spans := tracetest.SpanStubs{small, large, small}.Snapshots()
	for name, export := range bothWays(t, spans) {
		path := spanPath(t)
		if err := export(mustNew(t, path)); err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(readFile(t, path)) {
			if n++; len(line) >= 1<<20 {
				t.Errorf("%s: line %d has %d bytes", name, n, len(line))
			}
		}
		if n != 3 || spansIn(t, path) != 3 {
			t.Errorf("%s: %d lines and %d spans, want 3", name, n, spansIn(t, path))
		}
	}
}
