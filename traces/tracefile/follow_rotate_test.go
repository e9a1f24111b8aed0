package tracefile_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// rotating is a program that writes spans named 0, 1, 2 … and rotates all the time.
type rotating struct {
	exporter *jsonlexport.Exporter
	provider *sdktrace.TracerProvider
	made     int
}

func newRotating(t *testing.T, path string) *rotating {
	t.Helper()
	e, err := jsonlexport.New(path, jsonlexport.WithMaxFileBytes(5000), jsonlexport.WithErrorHandler(func(err error) { t.Error(err) }))
	if err != nil {
		t.Fatal(err)
	}
	w := &rotating{exporter: e, provider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e))}
	t.Cleanup(func() {
		if err := w.provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// burst ends n spans and has them written: a line, which is over the limit with
// another one, so each burst is a file.
func (w *rotating) burst(t *testing.T, n int) {
	t.Helper()
	tracer := w.provider.Tracer("rotating")
	for range n {
		_, span := tracer.Start(t.Context(), strconv.Itoa(w.made))
		span.End()
		w.made++
	}
	if err := w.exporter.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFollowRotation follows a real span file that is rotated hundreds of times
// while the reader is at most two rotations behind: every span comes once, in order.
func TestFollowRotation(t *testing.T) {
	t.Parallel()
	const rounds, each = 150, 7
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	w := newRotating(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var read atomic.Int64
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range rounds {
			w.burst(t, each)
			// What is not read yet is at most in the two files that are there.
			for read.Load() < int64(w.made-each) && ctx.Err() == nil {
				time.Sleep(50 * time.Microsecond)
			}
		}
	}()
	r := tracefile.Follow(ctx, path, tracefile.WithPollInterval(time.Millisecond))
	next := 0
	for sp, err := range r.Spans() {
		if err != nil {
			t.Fatal(err)
		}
		if want := strconv.Itoa(next); sp.Name != want {
			t.Fatalf("span %s, want %s", sp.Name, want)
		}
		next++
		if read.Add(1) == rounds*each {
			cancel()
		}
	}
	cancel()
	<-written
	if next != rounds*each {
		t.Errorf("%d spans, want %d", next, rounds*each)
	}
	onlyGaps(t, r.Report())
	if n := w.exporter.Stats().Discarded; n < rounds*each/2 {
		t.Errorf("%d spans went with older parts: it hardly rotated", n)
	}
}

// TestFollowOutrun rotates faster than anyone reads: what is gone from the disk is
// not read, and the report says so; what is read is whole, in order and once.
func TestFollowOutrun(t *testing.T) {
	t.Parallel()
	const rounds, each = 150, 7
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	w := newRotating(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range rounds {
			w.burst(t, each)
		}
	}()
	r := tracefile.Follow(ctx, path, tracefile.WithPollInterval(5*time.Millisecond))
	last, n := -1, 0
	for sp, err := range r.Spans() {
		if err != nil {
			t.Fatal(err)
		}
		var at int
		if _, err := fmt.Sscan(sp.Name, &at); err != nil || at <= last {
			t.Fatalf("span %q after %d", sp.Name, last)
		}
		last = at
		if n++; at == rounds*each-1 {
			cancel()
		}
	}
	<-written
	missing, report := rounds*each-n, r.Report()
	t.Logf("%d of %d spans read, %d gaps reported", n, rounds*each, report.Total)
	if last != rounds*each-1 || missing > 0 && report.Total == 0 {
		t.Errorf("%d spans are missing, the last is %d; the report says:\n%s", missing, last, skipped(report))
	}
	onlyGaps(t, report)
}

// onlyGaps holds that nothing but rotations was reported.
func onlyGaps(t *testing.T, r tracefile.Report) {
	t.Helper()
	for _, s := range r.Skipped {
		if s.What != "rotated more than once between two looks: spans may be missing" {
			t.Errorf("skipped %s", s)
		}
	}
}
