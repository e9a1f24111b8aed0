package jsonlexport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// gate is a writer that blocks while it is shut, as a disk that stalls does.
type gate struct {
	mu   sync.Mutex
	open chan struct{}
	out  bytes.Buffer
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

func (g *gate) bytes() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return bytes.Clone(g.out.Bytes())
}

// A bubble fails when a goroutine is left at its end.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			e, err := jsonlexport.New(path)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 50 {
						end(e, "span")
						_ = e.Stats()
					}
					if err := e.ExportSpans(t.Context(), tracetest.SpanStubs{stub("batch")}.Snapshots()); err != nil {
						t.Error(err)
					}
					if err := e.ForceFlush(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for range 2 {
				if err := e.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			}
			end(e, "late")
			if err := e.ExportSpans(t.Context(), tracetest.SpanStubs{stub("late")}.Snapshots()); !errors.Is(err, jsonlexport.ErrClosed) {
				t.Errorf("ExportSpans after Shutdown = %v, want ErrClosed", err)
			}
			if err := e.ForceFlush(t.Context()); err != nil {
				t.Errorf("ForceFlush after Shutdown = %v, want nil", err)
			}
			want := jsonlexport.Stats{Ended: 206, Exported: 204, Dropped: 2}
			if diff := cmp.Diff(want, e.Stats()); diff != "" {
				t.Errorf("Stats (-want +got):\n%s", diff)
			}
		}
	})
	if got := spansIn(t, path); got != 204 {
		t.Errorf("%d spans in the file, want the 204 of the second run", got)
	}
}

func TestShutdownWhileSpansEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := jsonlexport.NewWriter(&out)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				end(e, "span")
			}
		})
		wg.Go(func() { _ = e.Shutdown(soon(t)) })
	}
	wg.Wait()
	s := e.Stats()
	checkBalance(t, s)
	if s.Ended != 8000 || s.Queued != 0 || s.Failed != 0 {
		t.Errorf("Stats %+v, want 8000 ended, none queued or failed", s)
	}
	if got := uint64(len(pdataModels(t, out.Bytes()))); got != s.Exported {
		t.Errorf("%d spans written, %d exported", got, s.Exported)
	}
}

// A program that starts traced children all its life keeps the files of the
// newest thousand.
func TestFilesOfChildrenAreBounded(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	beside := func(pid int, suffix string) string {
		return filepath.Join(filepath.Dir(path), fmt.Sprintf("spans-%d-1%s.jsonl", 1_000_000_000+pid, suffix))
	}
	synctest.Test(t, func(t *testing.T) {
		e, err := jsonlexport.New(path)
		if err != nil {
			t.Fatal(err)
		}
		living, err := jsonlexport.New(path)
		if err != nil {
			t.Fatal(err)
		}
		for pid := 1; pid <= 1002; pid++ {
			writeFile(t, beside(pid, ""), `{"resourceSpans":[]}`+"\n")
			if err := os.Chtimes(beside(pid, ""), time.Time{}, time.Unix(int64(pid), 0)); err != nil {
				t.Fatal(err)
			}
		}
		writeFile(t, beside(1, ".1"), `{"resourceSpans":[]}`+"\n")
		if err := os.Chtimes(living.Path(), time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		end(e, "now it looks")
		if err := errors.Join(e.ForceFlush(t.Context()), living.Shutdown(t.Context()), e.Shutdown(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
	for name, want := range map[string]bool{beside(1, ""): false, beside(1, ".1"): false, beside(2, ""): false, beside(3, ""): true, beside(1002, ""): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t (%v)", name, err == nil, want, err)
		}
	}
	if n := reported(filepath.Dir(path), "the files of 2 processes"); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
}

func TestWrittenAfterTheInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		close(g.open)
		e := jsonlexport.NewWriter(g)
		defer func() { _ = e.Shutdown(t.Context()) }()
		for range 3 { // also after an idle time
			before := len(g.bytes())
			end(e, "1")
			time.Sleep(150 * time.Millisecond)
			end(e, "2")
			time.Sleep(49 * time.Millisecond)
			synctest.Wait()
			if got := len(g.bytes()); got != before {
				t.Fatalf("%d bytes written after 199 ms", got-before)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if got := len(pdataModels(t, g.bytes()[before:])); got != 2 {
				t.Errorf("%d spans written after 200 ms, want 2", got)
			}
			time.Sleep(time.Hour)
		}
	})
}

// While the disk stalls, spans end without waiting, up to the bound; what does
// not fit is counted, and what does is written when the disk comes back.
func TestStalledDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		// A bound that no other test has: the reports of all of them are in one place.
		const full = "buffers hold 1000000 bytes"
		before := reported(full)
		e := jsonlexport.NewWriter(g, jsonlexport.WithMaxBufferBytes(1_000_000))
		for range 3000 {
			end(e, "stalled disk")
		}
		time.Sleep(time.Minute)
		s := e.Stats()
		checkBalance(t, s)
		if s.Ended != 3000 || s.Exported != 0 || s.Dropped == 0 || s.Queued < 500 {
			t.Errorf("while it stalls: %+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		if err := e.ForceFlush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ForceFlush = %v, want the deadline", err)
		}
		if err := e.ExportSpans(ctx, tracetest.SpanStubs{stub("batch")}.Snapshots()); err == nil {
			t.Error("ExportSpans: no error while the disk stalls")
		}
		if waited := time.Since(started); waited != time.Second {
			t.Errorf("waited %v, want the second of the deadline", waited)
		}
		queued := e.Stats().Queued
		close(g.open)
		if err := e.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "dropped") {
			t.Errorf("Shutdown = %v, want an error about the dropped spans", err)
		}
		s = e.Stats()
		checkBalance(t, s)
		if s.Exported != queued || s.Queued != 0 {
			t.Errorf("after it came back: %+v, want %d exported", s, queued)
		}
		if got := uint64(len(pdataModels(t, g.bytes()))); got != s.Exported {
			t.Errorf("%d spans written, %d exported", got, s.Exported)
		}
		if got := reported(full) - before; got != 1 {
			t.Errorf("%d reports of dropped spans, want 1", got)
		}
	})
}

func TestShutdownObeysTheDeadlineOfAHangingDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := jsonlexport.NewWriter(g)
		end(e, "1")
		time.Sleep(time.Second) // the writer hangs
		end(e, "2", "3")
		exported := make(chan error)
		go func() {
			exported <- e.ExportSpans(context.Background(), tracetest.SpanStubs{stub("4")}.Snapshots())
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		started := time.Now()
		err := e.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "4 of 4 spans lost") {
			t.Errorf("Shutdown = %v, want the deadline and 4 of 4 spans lost", err)
		}
		if waited := time.Since(started); waited != 2*time.Second {
			t.Errorf("waited %v, want 2 s", waited)
		}
		if err := <-exported; !errors.Is(err, jsonlexport.ErrClosed) {
			t.Errorf("the waiting ExportSpans = %v, want ErrClosed", err)
		}
		want := jsonlexport.Stats{Ended: 4, Failed: 4}
		if diff := cmp.Diff(want, e.Stats()); diff != "" {
			t.Errorf("Stats (-want +got):\n%s", diff)
		}
		close(g.open) // what hung comes back: the account stays
		synctest.Wait()
		if diff := cmp.Diff(want, e.Stats()); diff != "" {
			t.Errorf("Stats later (-want +got):\n%s", diff)
		}
	})
}

// An ExportSpans that may wait without an end writes itself. When that hangs, only it does.
func TestExportSpansHangsAlone(t *testing.T) {
	t.Parallel()
	for _, comesBack := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			e := jsonlexport.NewWriter(g)
			exported := make(chan error)
			go func() {
				exported <- e.ExportSpans(context.Background(), tracetest.SpanStubs{stub("1")}.Snapshots())
			}()
			synctest.Wait()
			end(e, "2")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			started := time.Now()
			if err := e.ExportSpans(ctx, tracetest.SpanStubs{stub("3")}.Snapshots()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ExportSpans = %v, want the deadline", err)
			}
			if err := e.ForceFlush(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ForceFlush = %v, want the deadline", err)
			}
			want, wantErr := jsonlexport.Stats{Ended: 3, Exported: 3}, error(nil)
			if comesBack {
				close(g.open)
				if err := e.Shutdown(t.Context()); err != nil {
					t.Errorf("Shutdown = %v", err)
				}
			} else {
				want, wantErr = jsonlexport.Stats{Ended: 3, Failed: 3}, jsonlexport.ErrClosed
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 of 3 spans lost") {
					t.Errorf("Shutdown = %v, want the deadline and 3 of 3 spans lost", err)
				}
				close(g.open) // or the test's end would wait for it
			}
			if waited := time.Since(started); waited > 2*time.Second {
				t.Errorf("waited %v, want two seconds at most", waited)
			}
			if err := <-exported; !errors.Is(err, wantErr) {
				t.Errorf("the first ExportSpans = %v, want %v", err, wantErr)
			}
			synctest.Wait()
			if diff := cmp.Diff(want, e.Stats()); diff != "" {
				t.Errorf("it comes back: %v: Stats (-want +got):\n%s", comesBack, diff)
			}
		})
	}
}

// Whoever writes, each span is written once: batches with a deadline, batches without, and spans that end.
func TestAllWaysAtOnce(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	const each = 300
	var wg sync.WaitGroup
	batch := tracetest.SpanStubs{stub("a"), stub("b")}.Snapshots()
	for _, ctx := range []context.Context{context.Background(), t.Context(), context.Background(), t.Context()} {
		wg.Go(func() {
			for range each {
				if err := e.ExportSpans(ctx, batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range each {
			end(e, "c")
			if err := e.ForceFlush(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if err := e.Shutdown(soon(t)); err != nil {
		t.Error(err)
	}
	const all = 4*2*each + each
	if diff := cmp.Diff(jsonlexport.Stats{Ended: all, Exported: all}, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	if got := spansIn(t, path); got != all {
		t.Errorf("%d spans in the file, want %d", got, all)
	}
}

// brokenWriter fails, falls short or panics as told, then works.
type brokenWriter struct {
	bytes.Buffer
	faults []func(p []byte, out *bytes.Buffer) (int, error)
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if len(w.faults) > 0 {
		fault := w.faults[0]
		w.faults = w.faults[1:]
		return fault(p, &w.Buffer)
	}
	return w.Buffer.Write(p)
}

func TestWriterThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := &brokenWriter{faults: []func([]byte, *bytes.Buffer) (int, error){
		func([]byte, *bytes.Buffer) (int, error) { return 0, broken },
		func(p []byte, out *bytes.Buffer) (int, error) { return out.Write(p[:10]) },
		func([]byte, *bytes.Buffer) (int, error) { return 0, broken }, // ending the torn line
		func([]byte, *bytes.Buffer) (int, error) { panic("writer") },
	}}
	e := jsonlexport.NewWriter(w)
	export := func() error {
		return e.ExportSpans(context.Background(), tracetest.SpanStubs{stub("s")}.Snapshots())
	}
	for i, want := range []error{broken, io.ErrShortWrite, broken} {
		if err := export(); !errors.Is(err, want) {
			t.Errorf("export %d: %v, want %v", i, err, want)
		}
	}
	if err := export(); err == nil || !strings.Contains(err.Error(), "panic: writer") {
		t.Errorf("export 3: %v, want the panic as an error", err)
	}
	for range 2 {
		if err := export(); err != nil {
			t.Error(err)
		}
	}
	_ = e.Shutdown(soon(t))
	want := jsonlexport.Stats{Ended: 6, Exported: 2, Failed: 4}
	if diff := cmp.Diff(want, e.Stats()); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	torn, rest, _ := strings.Cut(w.String(), "\n")
	if len(torn) != 10 || len(pdataModels(t, []byte(rest))) != 2 {
		t.Errorf("want one torn line and two whole ones: %.60q", w.String())
	}
}

func TestBatchProcessorInFront(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(e))
	for range 1000 {
		_, s := provider.Tracer("t").Start(context.Background(), "s")
		s.End()
	}
	if err := provider.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	if got := spansIn(t, path); got != 1000 {
		t.Errorf("%d spans in the file, want 1000", got)
	}
}

func TestErrorHandler(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	e := mustNew(t, spanPath(t), jsonlexport.WithMaxBufferBytes(1), jsonlexport.WithErrorHandler(func(error) {
		told.Add(1)
		panic("a bug in the handler")
	}))
	for range 3 {
		e.OnEnd(stub("dropped").Snapshot())
	}
	if got := told.Load(); got != 1 {
		t.Errorf("told %d times, want once", got)
	}
	if got := e.Stats().Dropped; got != 3 {
		t.Errorf("dropped %d, want 3", got)
	}
}
