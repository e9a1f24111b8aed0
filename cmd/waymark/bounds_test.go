package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

func newTailing(stdout io.Writer) *tailing {
	return &tailing{call: newCall(verb{name: "tail"}, nil, stdout, io.Discard, env.Map{})}
}

// TestTailTreeIsPutOffByALaterRoot: the file may hold a second root of the trace.
func TestTailTreeIsPutOffByALaterRoot(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tail := newTailing(&out)
	id := traces.TraceID{1}
	for _, name := range []string{"first", "second"} {
		if err := tail.tree(&traces.Span{TraceID: id, Name: name}); err != nil {
			t.Fatal(err)
		}
		last := len(tail.ended) - 1
		tail.ended[last].due = tail.ended[last].due.Add(time.Duration(last) * time.Hour)
		tail.waiting[id].due = tail.ended[last].due
	}
	if err := tail.drawEnded(); err != nil || out.Len() > 0 {
		t.Errorf("drawn when the first root was due: %v\n%s", err, &out)
	}
	if err := tail.drawEnded(); err != nil || !strings.Contains(out.String(), "first") || !strings.Contains(out.String(), "second") {
		t.Errorf("drawn when the second root was due: %v\n%s", err, &out)
	}
	if len(tail.waiting)+len(tail.order)+tail.spans+len(tail.ended) != 0 {
		t.Errorf("%+v is left of a trace that was drawn", tail)
	}
}

// TestTailTreeIsBounded draws the trace that has waited longest, when too many
// spans wait for roots that do not come.
func TestTailTreeIsBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tail := newTailing(&out)
	for i := range uint64(maxWaiting + 500) {
		span := &traces.Span{Name: fmt.Sprint("span ", i/2), ParentID: traces.SpanID{1}, Flags: 1 << 8}
		binary.BigEndian.PutUint64(span.TraceID[:], i/2+1)
		binary.BigEndian.PutUint64(span.SpanID[:], i+1)
		if err := tail.tree(span); err != nil {
			t.Fatal(err)
		}
		if tail.spans > maxWaiting {
			t.Fatalf("%d spans wait", tail.spans)
		}
	}
	if got := strings.Count(out.String(), "└── span 0 (") + strings.Count(out.String(), "└── span 249 ("); got != 4 {
		t.Errorf("%d of the oldest four spans were drawn, in %d lines", got, strings.Count(out.String(), "\n"))
	}
	if strings.Contains(out.String(), "span 300 ") {
		t.Error("a trace was drawn that could have waited")
	}
}

func TestLossKindsAreBounded(t *testing.T) {
	t.Parallel()
	lost := func(yield func(render.Loss) bool) {
		for i := range 3 * maxLossKinds {
			if !yield(render.Loss{Key: fmt.Sprint("key ", i/2), What: "lost"}) {
				return
			}
		}
	}
	got := countLosses(lost, 7)
	if got.Total != 3*maxLossKinds || len(got.Counts) != maxLossKinds || len(got.List) != maxLossKinds || got.Counts[0].Count != 2 || got.Spans != 7 {
		t.Errorf("total %d, %d kinds, %d examples, first %+v", got.Total, len(got.Counts), len(got.List), got.Counts[0])
	}
}

// TestAccountCountsTheRest of what is not listed.
func TestAccountCountsTheRest(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	c := newCall(verb{}, nil, io.Discard, &stderr, env.Map{})
	r := tracefile.Report{Spans: 1, Total: 20}
	for i := range 12 {
		r.Skipped = append(r.Skipped, tracefile.Skip{File: fmt.Sprint("f", i), What: "torn"}) // one each, without a count
	}
	c.account(r)
	if lines := strings.Split(stderr.String(), "\n"); len(lines) != 12 || lines[10] != "waymark: and 10 more that were passed over" {
		t.Errorf("stderr\n%s", &stderr)
	}
}

// TestNumbersThatJSONLacks are text.
func TestNumbersThatJSONLacks(t *testing.T) {
	t.Parallel()
	path := spansFile(t, testspans.Span{Trace: 1, ID: 1, Name: "x", Service: "web", End: ms, Attributes: []attribute.KeyValue{
		attribute.Float64("nan", math.NaN()), attribute.Float64("inf", math.Inf(1)), attribute.Float64("low", math.Inf(-1)), attribute.Float64("half", 0.5),
	}})
	stdout, _ := ran(t, 0, "tree", "-json", path)
	if want := `"attributes":{"half":0.5,"inf":"+Inf","low":"-Inf","nan":"NaN"}`; !strings.Contains(stdout, want) {
		t.Errorf("stdout\n%s\nwithout %s", stdout, want)
	}
}

// TestResumeWithFewerSpans is no success: the state is about other files.
func TestResumeWithFewerSpans(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	state := filepath.Join(t.TempDir(), "state")
	write(t, state, []byte(`{"schema":"waymark.send-state/v1","endpoint":"http://127.0.0.1:1/v1/traces","done":7,"mark":"00"}`))
	_, stderr := ran(t, 1, "send", "-endpoint", "http://127.0.0.1:1", "-resume", state, path)
	if want := "is about other spans than these"; !strings.Contains(stderr, want) {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}
