//go:build !race

package tracefile_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// TestBomb holds that what decompresses to nothing, endlessly, takes neither
// the memory that a large document may take nor the time to read it all.
func TestBomb(t *testing.T) {
	const size = 128 << 20
	piece := func(s string) []byte { return []byte(strings.Repeat(s, (64<<10)/len(s))) }
	doc := []byte(spanLine("a"))
	for _, tt := range []struct {
		name        string
		first, rest []byte
		saw         string // "" is no error, and one span
		readMost    int64
		memory      int64
	}{
		{"zeros", nil, piece("\x00"), "text beginning", 8 << 20, 32 << 20},
		{"spaces", nil, piece(" "), "white space", 8 << 20, 32 << 20},
		{"newlines", nil, piece("\n"), "white space", 8 << 20, 32 << 20},
		{"braces", nil, piece("{"), "invalid JSON", 8 << 20, 32 << 20},
		{"brackets", nil, piece("["), "text beginning", 8 << 20, 32 << 20},
		{"brackets on lines", nil, piece("[\n"), "brackets and white space", 8 << 20, 32 << 20},
		{"nested", nil, piece(`{"a":`), "nested deeper", 8 << 20, 32 << 20},
		{"objects", nil, piece(`{"a":1}`), "JSON object with keys", 8 << 20, 32 << 20},
		{"pretty", []byte("{\n"), piece("{\n"), "JSON ends", 8 << 20, 32 << 20},
		{"string", []byte(`"`), piece("x"), "text beginning", 8 << 20, 32 << 20},
		{"string in an object", []byte(`{"a":"`), piece("x"), "object over the limit", 72 << 20, 100 << 20},
		{"zeros after a document", doc, piece("\x00"), "", size + 1<<20, 32 << 20},
		{"braces after a document", doc, piece("{"), "", size + 1<<20, 32 << 20},
	} {
		for _, workers := range []int{1, 2} {
			debug.FreeOSMemory()
			before, peak := resident(), int64(0)
			in := &repeat{lines: [][]byte{tt.rest}, rest: tt.first, size: size}
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						peak = max(peak, resident()-before)
					}
				}
			}()
			spans, err := tracefile.NewReader(in, tracefile.WithWorkers(workers)).All()
			close(stop)
			<-done
			var refused *tracefile.NotSpansError
			switch {
			case tt.saw == "" && (err != nil || len(spans) != 1):
				t.Errorf("%s: %d spans, %v; want 1", tt.name, len(spans), err)
			case tt.saw != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Saw, tt.saw)):
				t.Errorf("%s: %v, want one that has seen %q", tt.name, err, tt.saw)
			}
			if n := size - in.size; n > tt.readMost || peak > tt.memory {
				t.Errorf("%s, %d workers: read %d bytes and took %d, want at most %d and %d", tt.name, workers, n, peak, tt.readMost, tt.memory)
			}
			runtime.KeepAlive(in)
		}
	}
}
