//go:build !race

package tracefile_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// repeat gives out lines again and again until size bytes are reached.
type repeat struct {
	lines [][]byte
	size  int64
	line  int
	rest  []byte
}

func (r *repeat) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.size <= 0 {
			return 0, io.EOF
		}
		r.rest = r.lines[r.line%len(r.lines)]
		r.line++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.size -= int64(n)
	return n, nil
}

// resident is the memory that the Go runtime holds and has not given back.
func resident() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// TestBigFile reads 300 MB in at most 32 MB (P7). With every attribute decoded
// the garbage of the spans adds to that, but no more with a larger file.
func TestBigFile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 400 MB")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var lines [][]byte
	for range 4 {
		lines = append(lines, sampleLine(t, rnd, benchSpans))
	}
	for _, tt := range []struct {
		name string
		size int64
		most int64
		opts []tracefile.Option
	}{
		{"fields, one worker", 50 << 20, 32 << 20, []tracefile.Option{tracefile.WithWorkers(1), tracefile.WithAttributes()}},
		{"fields, two workers", 300 << 20, 32 << 20, []tracefile.Option{tracefile.WithWorkers(2), tracefile.WithAttributes()}},
		{"whole, two workers", 50 << 20, 64 << 20, []tracefile.Option{tracefile.WithWorkers(2)}},
	} {
		runtime.GC()
		debug.FreeOSMemory()
		before, peak := resident(), int64(0)
		in := &repeat{lines: lines, size: tt.size}
		n := 0
		for _, err := range tracefile.NewReader(in, tt.opts...).Spans() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n%4096 == 0 {
				peak = max(peak, resident()-before)
			}
		}
		if n != in.line*benchSpans {
			t.Errorf("%s: %d spans, want %d", tt.name, n, in.line*benchSpans)
		}
		t.Logf("%s: %d spans, peak %.1f MB", tt.name, n, float64(peak)/1e6)
		if peak > tt.most {
			t.Errorf("%s: peak %d bytes above the start, want at most %d", tt.name, peak, tt.most)
		}
	}
}

// TestAllocationsPerSpan holds that a span costs a fraction of an allocation.
func TestAllocationsPerSpan(t *testing.T) {
	data := benchFile()
	const spans = 32 * benchSpans
	for _, tt := range []struct {
		name string
		most float64
		opts []tracefile.Option
	}{
		{"fields", 0.1, []tracefile.Option{tracefile.WithAttributes()}},
		{"whole", 0.5, nil},
	} {
		got := testing.AllocsPerRun(1, func() {
			for _, err := range tracefile.NewReader(&repeat{lines: [][]byte{data}, size: 1}, append(tt.opts, tracefile.WithWorkers(1))...).Spans() {
				if err != nil {
					t.Error(err)
				}
			}
		}) / spans
		if got > tt.most {
			t.Errorf("%s: %s allocations a span, want at most %v", tt.name, fmt.Sprintf("%.3f", got), tt.most)
		}
	}
}
