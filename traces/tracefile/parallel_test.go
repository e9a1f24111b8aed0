package tracefile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// In a regular file the loop over the spans is a worker too, and in a pipe it
// is not: either way the spans come in the order of the file, and the loop can
// be left anywhere.
func TestWorkersKeepTheOrder(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	var text []byte
	for i := range 40 {
		text = append(text, sampleLine(t, rnd, 1+i*i%97)...)
	}
	text = bytes.Repeat(text, 3)
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ids := func(r *tracefile.Reader, most int) (list []traces.SpanID) {
		for sp, err := range r.Spans() {
			if err != nil {
				t.Fatal(err)
			}
			if list = append(list, sp.SpanID); len(list) == most {
				break
			}
		}
		return list
	}
	want := ids(tracefile.NewReader(bytes.NewReader(text), tracefile.WithWorkers(1)), -1)
	for _, workers := range []int{1, 2, 3, 8} {
		for _, most := range []int{-1, 1, len(want) / 2, len(want) - 1} {
			t.Run(fmt.Sprintf("%d workers, %d spans", workers, most), func(t *testing.T) {
				t.Parallel()
				r, err := tracefile.Open(path, tracefile.WithWorkers(workers))
				if err != nil {
					t.Fatal(err)
				}
				want := want[:(most+len(want)+1)%(len(want)+1)]
				if diff := cmp.Diff(want, ids(r, most)); diff != "" {
					t.Errorf("file (-want +got):\n%.1000s", diff)
				}
				r = tracefile.NewReader(bytes.NewReader(text), tracefile.WithWorkers(workers))
				if diff := cmp.Diff(want, ids(r, most)); diff != "" {
					t.Errorf("stream (-want +got):\n%.1000s", diff)
				}
			})
		}
	}
}
