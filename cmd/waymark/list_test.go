package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces"
)

// spansFile writes spans to a file of their own.
func spansFile(t *testing.T, spans ...testspans.Span) string {
	t.Helper()
	var b bytes.Buffer
	if err := testspans.Write(&b, testspans.Stubs(spans...)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, b.Bytes())
	return path
}

// ran runs a command that is to end with a status, and returns what it printed.
func ran(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &out, &err, env.Map{}); got != status {
		t.Errorf("%q: status %d, want %d: %s", args, got, status, &err)
	}
	return out.String(), err.String()
}

const ms = time.Millisecond

// TestListDuration holds the duration of a trace to its root's, in any order of
// the file: not to that of clocks that differ, or of work after the answer.
func TestListDuration(t *testing.T) {
	t.Parallel()
	root := testspans.Span{Trace: 1, ID: 1, Name: "GET /cart", Service: "web", Kind: trace.SpanKindServer, Start: 100 * ms, End: 212 * ms}
	skewed := testspans.Span{Trace: 1, ID: 3, Parent: 2, Remote: true, Name: "POST /charge", Service: "pay", Kind: trace.SpanKindServer, Start: -100 * ms, End: -50 * ms}
	call := testspans.Span{Trace: 1, ID: 2, Parent: 1, Name: "POST", Service: "web", Start: 110 * ms, End: 190 * ms}
	after := testspans.Span{Trace: 1, ID: 4, Parent: 1, Name: "mail", Service: "web", Start: 212 * ms, End: 246 * ms}
	partial := root
	partial.Parent, partial.Remote = 9, true
	for name, c := range map[string]struct {
		spans                  []testspans.Span
		name, duration, extent string
	}{
		"nothing outside the root":    {[]testspans.Span{call, root}, "GET /cart", "112000000", "112000000"},
		"clocks differ":               {[]testspans.Span{skewed, call, root}, "GET /cart", "112000000", "312000000"},
		"work after the answer":       {[]testspans.Span{call, root, after}, "GET /cart", "112000000", "146000000"},
		"both":                        {[]testspans.Span{skewed, call, root, after}, "GET /cart", "112000000", "346000000"},
		"the caller is in no file":    {[]testspans.Span{call, partial, after}, "GET /cart", "112000000", "146000000"},
		"the same, and clocks differ": {[]testspans.Span{skewed, call, partial}, "GET /cart", "112000000", "312000000"},
		"two requests of a caller, one earlier": {[]testspans.Span{
			call, partial, {Trace: 1, ID: 7, Parent: 9, Remote: true, Name: "earlier", Service: "web", Start: 90 * ms, End: 95 * ms},
		}, "earlier", "5000000", "122000000"},
		"two roots begin together": {[]testspans.Span{
			{Trace: 1, ID: 7, Name: "short", Start: 1 * ms, End: 2 * ms}, {Trace: 1, ID: 8, Name: "long", Start: 1 * ms, End: 4 * ms},
		}, "long", "3000000", "3000000"},
		"parents in a circle": {[]testspans.Span{
			{Trace: 1, ID: 7, Parent: 8, Name: "second", Start: 2 * ms, End: 4 * ms}, {Trace: 1, ID: 8, Parent: 7, Name: "first", Start: 1 * ms, End: 3 * ms},
		}, "first", "2000000", "3000000"},
	} {
		for _, order := range []string{"as written", "the other way"} {
			spans := slices.Clone(c.spans)
			if order != "as written" {
				slices.Reverse(spans)
			}
			stdout, _ := ran(t, 0, "list", "-json", spansFile(t, spans...))
			var doc struct {
				Traces []traceRowJSON `json:"traces"`
			}
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Traces) != 1 {
				t.Fatalf("%s: %v in %s", name, err, stdout)
			}
			got := []string{doc.Traces[0].Name, doc.Traces[0].Duration, doc.Traces[0].Extent}
			if diff := cmp.Diff([]string{c.name, c.duration, c.extent}, got); diff != "" {
				t.Errorf("%s, %s: name, duration, extent: -want +got\n%s", name, order, diff)
			}
		}
	}
}

// TestListExtent has a column for the extent only where one differs.
func TestListExtent(t *testing.T) {
	t.Parallel()
	path := spansFile(t,
		testspans.Span{Trace: 1, ID: 1, Name: "slow", Service: "web", End: 112 * ms},
		testspans.Span{Trace: 2, ID: 1, Name: "quick", Service: "web", Start: 10 * ms, End: 20 * ms},
		testspans.Span{Trace: 2, ID: 2, Parent: 1, Name: "after", Service: "web", Start: 20 * ms, End: 400 * ms},
		testspans.Span{Trace: 3, ID: 1, Name: "same in print", Service: "web", End: 30 * ms},
		testspans.Span{Trace: 3, ID: 2, Parent: 1, Name: "late", Service: "web", End: 30*ms + 300},
	)
	stdout, _ := ran(t, 0, "list", "-sort", "-duration", path)
	want := `TRACE                             NAME           SERVICE  START                     DURATION MS  EXTENT MS  SPANS  ERRORS
abcd0100000000000000000000000001  slow           web      2026-01-31T10:00:00.000Z      112.000          -      1       0
abcd0300000000000000000000000003  same in print  web      2026-01-31T10:00:00.000Z       30.000          -      2       0
abcd0200000000000000000000000002  quick          web      2026-01-31T10:00:00.010Z       10.000    390.000      2       0
`
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if stdout, _ := ran(t, 0, "list", "-sort", "-extent", path); !strings.Contains(strings.SplitAfter(stdout, "\n")[1], "quick") {
		t.Errorf("by extent:\n%s", stdout)
	}
	if stdout, _ := ran(t, 0, "list", "-trace", "abcd01", path); strings.Contains(stdout, "EXTENT") {
		t.Errorf("an extent that differs nowhere:\n%s", stdout)
	}
}

// TestListOpenRoot has no duration for a root that has not ended.
func TestListOpenRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+
		`{"traceId":"abcd0000000000000000000000000001","spanId":"0000000000000001","name":"open","startTimeUnixNano":"1769853600000000000"},`+
		`{"traceId":"abcd0000000000000000000000000001","spanId":"0000000000000002","parentSpanId":"0000000000000001","name":"done",`+
		`"startTimeUnixNano":"1769853600001000000","endTimeUnixNano":"1769853600003000000"}]}]}]}`+"\n"))
	stdout, _ := ran(t, 0, "list", path)
	want := `TRACE                             NAME  SERVICE  START                     DURATION MS  EXTENT MS  SPANS  ERRORS
abcd0000000000000000000000000001  open  -        2026-01-31T10:00:00.000Z            -      3.000      2       0
`
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestListUntimed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"abcd0000000000000000000000000001","spanId":"0000000000000001","name":"x"}]}]}]}`+"\n"))
	stdout, _ := ran(t, 0, "list", path)
	want := "TRACE                             NAME  SERVICE  START  DURATION MS  SPANS  ERRORS\n" +
		"abcd0000000000000000000000000001  x     -        -                -      1       0\n"
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestListOrder holds lines that are equal in the column asked for to the order of
// their start, and then of the file or the ID.
func TestListOrder(t *testing.T) {
	t.Parallel()
	path := spansFile(t,
		testspans.Span{Trace: 1, ID: 1, Name: "same", Service: "one", Start: 3 * ms, End: 4 * ms},
		testspans.Span{Trace: 2, ID: 1, Name: "same", Service: "two", Start: 1 * ms, End: 9 * ms},
		testspans.Span{Trace: 4, ID: 1, Name: "same", Service: "four", Start: 2 * ms, End: 3 * ms},
		testspans.Span{Trace: 3, ID: 1, Name: "same", Service: "three", Start: 2 * ms, End: 3 * ms},
	)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "-sort", "name"}, "two three four one"},
		{[]string{"list", "-sort", "-name"}, "two three four one"},
		{[]string{"list", "-sort", "-duration"}, "two three four one"},
		{[]string{"list", "-sort", "-start"}, "one three four two"},
		{[]string{"list", "-spans", "-sort", "name"}, "two four three one"},
		{[]string{"list", "-spans", "-sort", "-depth"}, "two four three one"},
		{[]string{"list", "-spans", "-sort", "-start"}, "one four three two"},
	} {
		stdout, _ := ran(t, 0, append(c.args, path)...)
		var got []string
		for word := range strings.FieldsSeq(stdout) {
			if slices.Contains([]string{"one", "two", "three", "four"}, word) {
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %s, want %s", c.args, got, c.want)
		}
	}
}

// TestRowForgetsWhatItNeedsNoMore holds a row of a whole trace to its root.
func TestRowForgetsWhatItNeedsNoMore(t *testing.T) {
	t.Parallel()
	r, names := &traceRow{}, nameTable{}
	for i := range byte(10) {
		r.add(&traces.Span{SpanID: traces.SpanID{i + 2}, ParentID: traces.SpanID{1}}, names)
	}
	r.add(&traces.Span{SpanID: traces.SpanID{1}}, names)
	r.add(&traces.Span{SpanID: traces.SpanID{20}, ParentID: traces.SpanID{1}}, names)
	if len(r.partial) > 0 || r.spans != 12 {
		t.Errorf("%d spans are kept of %d", len(r.partial), r.spans)
	}
}

// TestShortID finds a trace by the 16 digits that Zipkin and B3 have of it.
func TestShortID(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.json")
	write(t, path, []byte(`[{"traceId":"00f067aa0ba902b7","id":"00f067aa0ba902b7","name":"short","timestamp":1,"duration":1},`+
		`{"traceId":"4bf92f3577b34da600f067aa0ba902b7","id":"00f067aa0ba902b8","name":"long","timestamp":1,"duration":1}]`))
	if stdout, stderr := ran(t, 0, "list", "-trace", "00f067aa0ba902b7", path); !strings.Contains(stdout, "  short  ") || strings.Contains(stdout, "  long  ") || stderr != "" {
		t.Errorf("stdout\n%s\nstderr %q", stdout, stderr)
	}
}

// TestListSpansIsTheTree compares with the JSON of tree, which holds all spans.
func TestListSpansIsTheTree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, append(badLines(t), shopLines(t)...))
	var list struct{ Spans []spanJSON }
	var tree struct{ Traces []struct{ Spans []spanJSON } }
	for doc, args := range map[any][]string{&list: {"list", "-spans", "-json"}, &tree: {"tree", "-json", "-n", "0"}} {
		stdout, _ := ran(t, 0, append(args, path)...)
		if err := json.Unmarshal([]byte(stdout), doc); err != nil {
			t.Fatal(err)
		}
	}
	var want []spanJSON
	for _, tr := range tree.Traces {
		for _, span := range tr.Spans {
			span.Attributes, span.Events = nil, nil
			want = append(want, span)
		}
	}
	byID := func(a, b spanJSON) int {
		return strings.Compare(a.TraceID.String()+a.SpanID.String()+a.Name, b.TraceID.String()+b.SpanID.String()+b.Name)
	}
	slices.SortStableFunc(want, byID)
	slices.SortStableFunc(list.Spans, byID)
	if diff := cmp.Diff(want, list.Spans); diff != "" {
		t.Errorf("-tree +list\n%s", diff)
	}
	if len(want) < 30 {
		t.Errorf("%d spans", len(want))
	}
}
