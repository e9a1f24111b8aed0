package main

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// written are spans of a name that is trace and number: "b2" is the second of
// trace b, and its start.
func written(names string, starts map[string]uint64) []*traces.Span {
	var list []*traces.Span
	for name := range strings.FieldsSeq(names) {
		list = append(list, &traces.Span{TraceID: traces.TraceID{name[0]}, Name: name, StartUnixNano: starts[name], EndUnixNano: 1000})
	}
	return list
}

// yielded are the names of the spans of the traces that are taken, a word a
// trace, with how many spans were read the second time before it.
func yielded(t *testing.T, ch *choice, again []*traces.Span) []string {
	t.Helper()
	read := 0
	var counted iter.Seq2[*traces.Span, error] = func(yield func(*traces.Span, error) bool) {
		for _, s := range again {
			if read++; !yield(s, nil) {
				return
			}
		}
	}
	var out []string
	for spans, err := range ch.traces(counted) {
		if err != nil {
			t.Fatal(err)
		}
		var word strings.Builder
		fmt.Fprintf(&word, "%d:", read)
		for _, s := range spans {
			word.WriteString(s.Name)
		}
		out = append(out, word.String())
	}
	return out
}

func TestTracesComeWhenTheyAreWhole(t *testing.T) {
	t.Parallel()
	starts := map[string]uint64{"a1": 10, "a2": 11, "b1": 20, "b2": 21, "c1": 30, "d1": 0, "e1": 0, "e2": 25}
	for name, c := range map[string]struct {
		first, second string
		limit         limit
		want          []string
	}{
		"one after the other":               {first: "a1 a2 b1 c1", want: []string{"2:a1a2", "3:b1", "4:c1"}},
		"among each other":                  {first: "a1 b1 a2 b2", want: []string{"3:a1a2", "4:b1b2"}},
		"the later is whole first":          {first: "a1 b1 b2 c1 a2", want: []string{"5:a1a2", "5:b1b2", "5:c1"}},
		"written in another order":          {first: "c1 b1 a1 a2", want: []string{"4:a1a2", "4:b1", "4:c1"}},
		"a start that is not known":         {first: "b1 e1 e2 c1", want: []string{"1:b1", "3:e1e2", "4:c1"}},
		"that comes later":                  {first: "b1 e2 e1 c1", want: []string{"1:b1", "3:e2e1", "4:c1"}},
		"no start is known":                 {first: "b1 d1", want: []string{"2:d1", "2:b1"}},
		"the newest":                        {first: "a1 b1 a2 c1", limit: limit{traces: 2}, want: []string{"2:b1", "4:c1"}},
		"the newest, of unknown starts":     {first: "e1 a1 e2 d1", limit: limit{traces: 1}, want: []string{"3:e1e2"}},
		"as many spans":                     {first: "a1 a2 b1 b2 c1", limit: limit{spans: 4}, want: []string{"4:b1b2", "5:c1"}},
		"just as many spans":                {first: "a1 a2 b1 b2 c1", limit: limit{spans: 3}, want: []string{"4:b1b2", "5:c1"}},
		"one span too many":                 {first: "a1 a2 b1 b2 c1", limit: limit{spans: 2}, want: []string{"5:c1"}},
		"the newest has too many by itself": {first: "a1 b1 b2", limit: limit{spans: 1}, want: []string{"3:b1b2"}},
		"the file has grown":                {first: "a1 b1", second: "a1 b1 a2 c1", want: []string{"1:a1", "2:b1"}},
		"the file was cleared":              {first: "a1 a2 b1", second: "a1", want: []string{"1:a1"}},
	} {
		second := c.second
		if second == "" {
			second = c.first
		}
		ch, err := (&call{}).pick(tracefile.Seq(written(c.first, starts)))
		if err != nil {
			t.Fatal(err)
		}
		ch.cut(c.limit)
		if diff := cmp.Diff(c.want, yielded(t, ch, written(second, starts))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		for _, p := range ch.list {
			if len(p.spans) > 0 {
				t.Errorf("%s: %d spans of a trace that was yielded are kept", name, len(p.spans))
			}
		}
	}
}

// headPipe takes so many bytes, like head, and then is closed.
type headPipe struct{ left int }

func (p *headPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

func TestHeadEndsQuietly(t *testing.T) {
	t.Parallel()
	var spans []testspans.Span
	for i := range byte(200) {
		spans = append(spans, testspans.Span{Trace: i + 1, ID: 1, Name: strings.Repeat("long", 1000), Service: "web", End: ms})
	}
	path := spansFile(t, spans...)
	for _, args := range [][]string{{"tree", "-n", "0"}, {"tree", "-n", "0", "-json"}, {"list", "-spans", "-json"}} {
		var stderr bytes.Buffer
		if got := run(t.Context(), append(args, path), nil, &headPipe{100_000}, &stderr, env.Map{}); got != 0 || stderr.Len() > 0 {
			t.Errorf("%q: status %d, stderr %q", args, got, &stderr)
		}
	}
}

func TestHTMLHoldsTheNewest(t *testing.T) {
	t.Parallel()
	var spans []testspans.Span
	for i := range byte(5) { // five traces of two spans each, a to e
		name, at := string(rune('a'+i)), time.Duration(i)*10*ms
		spans = append(spans,
			testspans.Span{Trace: i + 1, ID: 2, Parent: 1, Name: name, Service: "web", Start: at, End: at + ms},
			testspans.Span{Trace: i + 1, ID: 1, Name: name, Service: "web", Start: at, End: at + 5*ms})
	}
	path := spansFile(t, spans...)
	for name, c := range map[string]struct {
		newest, most int
		names        string
		shown, total int // as the page says
		stderr       string
	}{
		"all":                  {0, 10, "aabbccddee", 10, 10, ""},
		"as many as fit":       {0, 7, "ccddee", 6, 10, "waymark: the report holds the newest 6 of 10 spans (-trace and -where choose others)\n"},
		"newest":               {2, 10, "ddee", 4, 4, "waymark: the newest 2 of 5 traces (-n 0 for all)\n"},
		"newest, and too many": {3, 4, "ddee", 4, 10, "waymark: the report holds the newest 4 of 10 spans (-trace and -where choose others)\n"},
		"too many in one": {
			1, 1, "ee", 1, 2,
			"waymark: the newest 1 of 5 traces (-n 0 for all)\nwaymark: the report holds the newest 1 of 2 spans (-trace and -where choose others)\n",
		},
	} {
		var stderr bytes.Buffer
		call := newCall(verb{name: "html"}, nil, io.Discard, &stderr, env.Map{})
		src, err := call.open(t.Context(), []string{path})
		if err != nil {
			t.Fatal(err)
		}
		set, opts, err := call.reportSpans(t.Context(), src, c.newest, c.most)
		if err != nil {
			t.Fatal(err)
		}
		var names strings.Builder
		for n := range set.All() {
			names.WriteString(n.Span().Name)
		}
		if names.String() != c.names || stderr.String() != c.stderr {
			t.Errorf("%s: spans %s, stderr %q, want %s, %q", name, &names, &stderr, c.names, c.stderr)
		}
		var page, data bytes.Buffer
		if err := render.HTML(&page, set, opts...); err != nil {
			t.Fatal(err)
		}
		if err := unpackTo(&data, page.Bytes()); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"total":%d,"shown":%d,`, c.total, c.shown); !strings.Contains(data.String(), want) {
			t.Errorf("%s: the page says %.120s, want %s", name, &data, want)
		}
	}
}
