package jsonlexport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

func TestEncodeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	var e sdkotlp.JSON
	var keys otlpjson.Keys
	s := scalarSpan()
	buf := make([]byte, 0, 4096)
	if got := testing.AllocsPerRun(200, func() { buf = e.AppendSpan(&keys, buf[:0], s) }); got != 0 {
		t.Errorf("%v allocations a span, want 0", got)
	}
}

// A line costs an allocation or two; over its spans that is none.
func TestOnEndAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	e := NewWriter(io.Discard)
	defer func() { _ = e.Shutdown(context.Background()) }()
	s := scalarSpan()
	const spans = 1000
	perRun := testing.AllocsPerRun(20, func() {
		for range spans {
			e.OnEnd(s)
		}
	})
	if got := perRun / spans; got > 0.05 {
		t.Errorf("%v allocations a span, want none but those of a line", got)
	}
}

func TestExportSpansAllocatesPerBatchOnly(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	e := NewWriter(io.Discard)
	defer func() { _ = e.Shutdown(context.Background()) }()
	spans := make([]sdktrace.ReadOnlySpan, 512)
	for i := range spans {
		spans[i] = scalarSpan()
	}
	perBatch := testing.AllocsPerRun(50, func() {
		if err := e.ExportSpans(context.Background(), spans); err != nil {
			t.Error(err)
		}
	})
	if perBatch > 20 {
		t.Errorf("%v allocations a batch of 512 spans, want at most 20", perBatch)
	}
}

// usage reads what the buffers hold on to.
func usage(e *Exporter) (used, spare, groups int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buf.used, len(e.buf.spare), len(e.buf.groups)
}

func TestMemoryComesBackAfterABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := NewWriter(io.Discard)
		defer func() { _ = e.Shutdown(context.Background()) }()
		s := scalarSpan()
		for range 20_000 {
			e.OnEnd(s)
		}
		if used, _, _ := usage(e); used > int(DefaultMaxBufferBytes) {
			t.Errorf("%d bytes used in a burst, bound %d", used, DefaultMaxBufferBytes)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if used, spare, _ := usage(e); used != 0 || spare != 0 {
			t.Errorf("a second after a burst %d bytes and %d spare chunks are kept, want none", used, spare)
		}
	})
}

// A program that goes on with a little does not keep what a burst has left.
func TestMemoryComesBackWhileALittleGoesOn(t *testing.T) {
	t.Parallel()
	e := NewWriter(io.Discard)
	defer func() { _ = e.Shutdown(context.Background()) }()
	e.mu.Lock()
	e.buf.spare = []*chunk{{buf: make([]byte, 0, e.buf.line)}}
	e.buf.used = e.buf.line
	e.mu.Unlock()
	e.OnEnd(scalarSpan())
	if err := e.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if used, spare, _ := usage(e); used != 0 || spare != 0 {
		t.Errorf("%d bytes and %d spare chunks are kept, want none", used, spare)
	}
}

// Many lines that are not full are written before they fill the buffers.
func TestOpenLinesAreDueTogether(t *testing.T) {
	t.Parallel()
	b := newBuffers(64<<10, 1<<30)
	for i := 0; !b.due(); i++ {
		if i == 100 {
			t.Fatalf("%d bytes in %d lines are not due, of a bound of %d", b.opened, i, b.limit)
		}
		g := b.insert(&group{key: groupKey{name: strconv.Itoa(i)}})
		if !b.append(g, make([]byte, 1000)) {
			t.Fatalf("no room for line %d, and nothing is due", i)
		}
	}
	if len(b.ready) > 0 || b.opened > b.limit/2 {
		t.Errorf("%d lines are full, %d bytes in others", len(b.ready), b.opened)
	}
}

// A line that would get as much room as the one before, which there is not, gets
// as much as it needs.
func TestRoomForASmallLine(t *testing.T) {
	t.Parallel()
	b := newBuffers(64<<10, 1<<30)
	b.used = b.limit - 2000
	g := b.insert(&group{key: groupKey{name: "g"}})
	g.hint = 10_000
	if !b.append(g, make([]byte, 1000)) {
		t.Error("no room for a span that fits")
	}
}

func TestScratchIsBounded(t *testing.T) {
	t.Parallel()
	e := NewWriter(io.Discard)
	defer func() { _ = e.Shutdown(context.Background()) }()
	for size, kept := range map[int]bool{maxScratch: true, maxScratch + 1: false} {
		sc := &scratch{buf: make([]byte, 0, size)}
		e.putScratch(sc)
		if (sc.buf != nil) != kept {
			t.Errorf("a scratch of %d bytes is kept: %t, want %t", size, !kept, kept)
		}
	}
}

// A lock file that was removed between opening and locking is nobody's.
func TestLockRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(path); err != nil {
		t.Skipf("this system does not delete open files: %v", err)
	}
	if held, err := lockOpened(path, f); held || err != nil {
		t.Errorf("lockOpened = %t, %v, want false", held, err)
	}
}

func TestManyScopesAndResourcesStayBounded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var out bytes.Buffer
	e := NewWriter(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	}), WithMaxBufferBytes(8<<20))
	const n = 3 * maxGroups
	for i := range n {
		stub := tracetest.SpanStubFromReadOnlySpan(scalarSpan())
		stub.InstrumentationScope.Name = fmt.Sprint("scope ", i)
		stub.Resource = resource.NewSchemaless(attribute.Int("i", i))
		e.OnEnd(stub.Snapshot())
		if used, _, groups := usage(e); groups > maxGroups || used > 8<<20 {
			t.Fatalf("%d groups and %d bytes after %d scopes", groups, used, i)
		}
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != n {
		t.Errorf("%d lines, want one for each of %d scopes", got, n)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// The bound holds for every size of span and of bound, and nothing is lost
// uncounted.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{1, 1000, 5000, 100_000, 1 << 20} {
		for _, size := range []int{0, 100, 3000, 70_000, 600_000} {
			block := make(chan struct{})
			e := NewWriter(writerFunc(func(p []byte) (int, error) {
				<-block
				return len(p), nil
			}), WithMaxBufferBytes(limit))
			stub := tracetest.SpanStub{
				Name:        string(bytes.Repeat([]byte("n"), size)),
				SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: 1}),
			}
			for range 20 {
				e.OnEnd(stub.Snapshot())
				if used, _, _ := usage(e); used > int(limit) {
					t.Errorf("limit %d, span %d: %d bytes used", limit, size, used)
				}
			}
			close(block)
			_ = e.Shutdown(context.Background())
			s := e.Stats()
			if s.Ended != 20 || s.Exported+s.Dropped != 20 {
				t.Errorf("limit %d, span %d: %+v", limit, size, s)
			}
			if int64(size+1000) < limit/4 && s.Exported == 0 {
				t.Errorf("limit %d, span %d: nothing got through", limit, size)
			}
		}
	}
}

// After Shutdown has given up, its account stays as it was told.
func TestGoneAfterTheEnd(t *testing.T) {
	t.Parallel()
	e := NewWriter(io.Discard, WithErrorHandler(func(error) {}))
	e.stats = Stats{Ended: 3, Exported: 3}
	e.gone(gone{discarded: 1, lost: 1, why: io.ErrClosedPipe})
	want := Stats{Ended: 3, Exported: 2, Failed: 1, Discarded: 1}
	if got := e.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	e.abandon()
	e.gone(gone{discarded: 1, lost: 1, why: io.ErrClosedPipe})
	if got := e.Stats(); got != want {
		t.Errorf("Stats after the end = %+v, want %+v", got, want)
	}
	_ = e.Shutdown(t.Context()) // ends the goroutine
}
