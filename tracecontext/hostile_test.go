package tracecontext_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

// Headers that want to hurt cost little, and what goes on is short and valid.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	many := func(n int, value string) []string {
		values := make([]string, n)
		for i := range values {
			values[i] = value
		}
		return values
	}
	long := strings.Repeat("v", 256)
	for _, c := range []struct {
		name    string
		parents []string
		states  []string
		valid   bool
		next    string // the tracestate that goes on
	}{
		{name: "a megabyte of commas", parents: []string{parent}, states: []string{strings.Repeat(",", 1<<20)}, valid: true},
		{name: "a megabyte of blanks", parents: []string{parent}, states: []string{strings.Repeat(" ", 1<<20) + "a=1"}, valid: true, next: "a=1"},
		{name: "a megabyte of one member", parents: []string{parent}, states: []string{"a=" + strings.Repeat("v", 1<<20)}, valid: true},
		{name: "a megabyte of members", parents: []string{parent}, states: []string{strings.Repeat("a=1,", 1<<18)}, valid: true},
		{name: "ten thousand headers", parents: []string{parent}, states: many(10_000, "a=1"), valid: true},
		{name: "ten thousand empty headers", parents: []string{parent}, states: append(many(10_000, ""), "a=1"), valid: true, next: "a=1"},
		{name: "ten thousand parents", parents: many(10_000, parent)},
		{name: "a megabyte of parent", parents: []string{parent + strings.Repeat("-", 1<<20)}},
		{name: "a megabyte of a later version", parents: []string{"01" + parent[2:] + strings.Repeat("-x", 1<<19)}, valid: true},
		{name: "a parent in blanks", parents: []string{strings.Repeat(" ", 1<<20) + parent}, valid: true},
		{name: "longest members", parents: []string{parent}, states: many(32, strings.Repeat("k", 256)+"="+long), valid: true, next: strings.TrimSuffix(strings.Repeat(strings.Repeat("k", 256)+"="+long+",", 7), ",")},
		{name: "invalid UTF-8", parents: []string{parent}, states: []string{"a=\xff\xfe"}, valid: true},
		{name: "invalid UTF-8 in a key", parents: []string{parent}, states: []string{"\xc3\x28=1"}, valid: true},
		{name: "control characters", parents: []string{parent}, states: []string{"a=1\r\nSet-Cookie: x"}, valid: true},
		{name: "a null", parents: []string{parent}, states: []string{"a=\x00"}, valid: true},
		{name: "a tab in a value", parents: []string{parent}, states: []string{"a=1\t2"}, valid: true},
		{name: "a null in the parent", parents: []string{parent[:54] + "\x00"}},
		{name: "a line's end in the parent", parents: []string{parent + "\r\nX: y"}},
		{name: "digits of another script", parents: []string{"00-4bf92f3577b34da6a3ce929d0e0e47٣-00f067aa0ba902b7-01"}},
	} {
		header := http.Header{"Traceparent": c.parents, "Tracestate": c.states}
		began := time.Now()
		ctx := tracecontext.New().Extract(context.Background(), propagation.HeaderCarrier(header))
		out := http.Header{}
		tracecontext.New().Inject(ctx, propagation.HeaderCarrier(out))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
		if got := trace.SpanContextFromContext(ctx).IsValid(); got != c.valid {
			t.Errorf("%s: a parent was read: %t, want %t", c.name, got, c.valid)
		}
		if got := out.Get("tracestate"); got != c.next {
			t.Errorf("%s: tracestate %.200q of %d bytes goes on, want %.200q", c.name, got, len(got), c.next)
		}
		if got := out.Get("traceparent"); c.valid && got != parent {
			t.Errorf("%s: traceparent %q goes on", c.name, got)
		}
	}
}

// A list that OpenTelemetry cannot hold goes on by the context, which may live long: it keeps what is passed on, not the
// header that it came in.
func TestCarriedListIsNoPartOfTheHeader(t *testing.T) { //nolint:paralleltest // it measures the heap
	const contexts, most = 20, 8 << 10
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p := tracecontext.New()
	kept := make([]context.Context, 0, contexts)
	before := live()
	for range contexts {
		h := propagation.HeaderCarrier{"Traceparent": {parent}, "Tracestate": {"1st=x" + strings.Repeat(" ", 900_000) + ",b=2"}}
		kept = append(kept, p.Extract(context.Background(), h))
	}
	if each := (live() - before) / contexts; each > most {
		t.Errorf("%d bytes are kept with each context, want at most %d", each, most)
	}
	if got := sent(kept[0]); got != "1st=x,b=2" {
		t.Errorf("tracestate %q is sent on", got)
	}
}
