package render_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat"`
	Phase string         `json:"ph"`
	TS    *float64       `json:"ts"`
	Dur   *float64       `json:"dur"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    string         `json:"id"`
	Color string         `json:"cname"`
	Args  map[string]any `json:"args"`
}

type chromeFile struct {
	TraceEvents     []chromeEvent  `json:"traceEvents"`
	DisplayTimeUnit string         `json:"displayTimeUnit"`
	OtherData       map[string]any `json:"otherData"`
}

func parseChrome(t *testing.T, set *traces.Set, opts ...render.ChromeOption) chromeFile {
	t.Helper()
	var f chromeFile
	if err := json.Unmarshal([]byte(render.ChromeTraceString(set, opts...)), &f); err != nil {
		t.Fatalf("invalid JSON: %v", err)
	}
	return f
}

// The vectors of the single lane, as values.
func TestChromeSingleLaneVectors(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"V1 empty": `{"traceEvents": [], "displayTimeUnit": "ms"}`,
		"V3 block": `{"traceEvents": [{"name": "ommx_trace_block", "cat": "ommx.tracing", "ph": "X", "ts": 1700000000000000, "dur": 242, "pid": 1, "tid": 1, "args": {"otel.scope.name": "ommx.tracing"}}, {"name": "evaluate", "cat": "ommx", "ph": "X", "ts": 1700000000000100, "dur": 9, "pid": 1, "tid": 1, "args": {"otel.scope.name": "ommx"}}], "displayTimeUnit": "ms"}`,
		"V6 errors": `{"traceEvents": [
			{"name": "checkout", "cat": "web", "ph": "X", "ts": 1700000000000000, "dur": 3000, "pid": 1, "tid": 1, "cname": "terrible", "args": {"error": true, "otel.status_code": "ERROR", "otel.scope.name": "web"}},
			{"name": "charge", "cat": "pay", "ph": "X", "ts": 1700000000001000, "dur": 1000, "pid": 1, "tid": 1, "cname": "terrible", "args": {"error": true, "otel.status_code": "ERROR", "order": "A-1", "otel.scope.name": "pay"}},
			{"name": "ok", "cat": "web", "ph": "X", "ts": 1700000000002000, "dur": 500, "pid": 1, "tid": 1, "args": {"otel.scope.name": "web"}}], "displayTimeUnit": "ms"}`,
		"V9 hidden keys": `{"traceEvents": [{"name": "work", "cat": "svc", "ph": "X", "ts": 1700000000000000, "dur": 1000, "pid": 1, "tid": 1, "args": {
			"busy_ns": 12, "idle_ns": 3, "target": "a::b", "thread.id": 7, "thread.name": "main", "code.file.path": "x.go",
			"code.line.number": 9, "codec": "zstd", "k": 1, "otel.scope.name": "svc"}}], "displayTimeUnit": "ms"}`,
		"V11 value types": `{"traceEvents": [{"name": "t", "cat": "waymark", "ph": "X", "ts": 1700000000000000, "dur": 1000, "pid": 1, "tid": 1, "args": {
			"s": "plain", "q": "it's", "both": "a'b\"c", "nl": "a\nb\tc", "uni": "\u65e5\u672c\u00b5", "b": true, "f": false, "i": -7, "d": 0.5,
			"d1": 3.0, "big": 1e+20, "small": 1e-07, "arr": ["x", 1, true], "empty": [], "kv": "{'a': 1, 'b': [2]}",
			"by": "b'\\x00\\xffA'", "none": null}}], "displayTimeUnit": "ms"}`,
	}
	for _, v := range vectors() {
		expected, ok := want[v.name]
		delete(want, v.name)
		if !ok {
			continue
		}
		var a, b any
		if err := json.Unmarshal([]byte(expected), &a); err != nil {
			t.Fatal(v.name, err)
		}
		if err := json.Unmarshal([]byte(render.ChromeTraceString(v.set(), render.WithSingleLane())), &b); err != nil {
			t.Fatal(v.name, err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: -want +got\n%s", v.name, diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("no vectors for %v", maps.Keys(want))
	}
}

func TestChromeSingleLaneOrder(t *testing.T) {
	t.Parallel()
	var got []string
	for _, e := range parseChrome(t, vectors()[3].set(), render.WithSingleLane()).TraceEvents {
		got = append(got, fmt.Sprintf("%s(%d,%d)", e.Name, int64(*e.TS)-t0/1000, int64(*e.Dur)))
	}
	want := "Run(0,18870) solve(50,6260) convert(100,5900) reduce_capabilities(200,6) call(6010,88) decode(6100,196) evaluate(6110,17)"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestChromeSingleLaneRules(t *testing.T) {
	t.Parallel()
	open, startless := span("open", 2, 0, "", 0, 0), span("startless", 3, 0, "", 0, 5)
	open.EndUnixNano, startless.StartUnixNano = 0, 0
	user := span("user", 4, 0, "lib", 1999, 1999, attr("otel.scope.name", traces.String("mine")), attr("k", traces.Int(1)), attr("k", traces.Int(2)))
	f := parseChrome(t, traces.NewSet([]*traces.Span{open, startless, user}), render.WithSingleLane())
	if len(f.TraceEvents) != 1 {
		t.Fatalf("%d events, want the one with both times", len(f.TraceEvents))
	}
	e := f.TraceEvents[0]
	if *e.TS != t0/1000+1 || *e.Dur != 1 {
		t.Errorf("ts %v dur %v, want rounded down and at least 1", *e.TS, *e.Dur)
	}
	if diff := cmp.Diff(map[string]any{"otel.scope.name": "lib", "k": 2.0}, e.Args); diff != "" {
		t.Errorf("args: -want +got\n%s", diff)
	}
}

func TestChromeLanes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	db := span("SELECT", 4, 2, "db", 2*ms, 3*ms)
	db.Resource = &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String("postgres"))}}
	open, instant := span("open", 6, 1, "", 6*ms, 0), span("tick", 7, 1, "", 7*ms, 7*ms)
	open.EndUnixNano = 0
	failed := status(span("fails", 3, 1, "web", 2*ms, 6*ms), traces.StatusError)
	failed.Status.Message = "boom"
	failed.Events = []traces.Event{{Name: "exception", TimeUnixNano: t0 + uint64(3*ms), Attributes: []traces.Attribute{attr("exception.type", traces.String("E"))}}}
	f := parseChrome(t, traces.NewSet([]*traces.Span{
		span("root", 1, 0, "web", 0, 10*ms), span("a", 2, 1, "web", 1*ms, 5*ms), failed, db,
		span("late", 5, 1, "web", 9*ms, 11*ms), open, instant,
	}))
	var got []string
	for _, e := range f.TraceEvents {
		line := fmt.Sprintf("%s %s p%d t%d", e.Phase, e.Name, e.PID, e.TID)
		if e.TS != nil {
			line += fmt.Sprintf(" @%g", *e.TS)
		}
		if e.Dur != nil {
			line += fmt.Sprintf("+%g", *e.Dur)
		}
		if e.Phase == "M" {
			line += fmt.Sprint(" ", e.Args["name"], e.Args["sort_index"])
		}
		got = append(got, line+strings.TrimRight(" "+e.ID+" "+e.Color, " "))
	}
	want := []string{
		"M process_name p1 t1 unknown service", "M process_sort_index p1 t1 1",
		"M thread_name p1 t1 lane 1", "M thread_sort_index p1 t1 1",
		"M thread_name p1 t2 lane 2", "M thread_sort_index p1 t2 2",
		"M process_name p2 t3 postgres", "M process_sort_index p2 t3 2",
		"M thread_name p2 t3 lane 1", "M thread_sort_index p2 t3 1",
		"X root p1 t1 @0+10000", "X a p1 t1 @1000+4000",
		"X fails p1 t2 @2000+4000 terrible", "i exception p1 t2 @3000",
		"s child p1 t1 @2000 0000000000000003", "f child p1 t2 @2000 0000000000000003",
		"X SELECT p2 t3 @2000+1000",
		"s child p1 t1 @2000 0000000000000004", "f child p2 t3 @2000 0000000000000004",
		"i open p1 t1 @6000", "i tick p1 t1 @7000",
		"X late p1 t2 @9000+2000", "s child p1 t1 @9000 0000000000000005", "f child p1 t2 @9000 0000000000000005",
	}
	for i := range got {
		got[i] = strings.Join(strings.Fields(strings.ReplaceAll(got[i], "<nil>", " ")), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	wantData := map[string]any{
		"producer": "waymark", "start_unix_nano": "1700000000000000000", "start": "2023-11-14T22:13:20Z",
		"overrun_spans": 1.0, "open_spans": 1.0,
	}
	if diff := cmp.Diff(wantData, f.OtherData); diff != "" {
		t.Errorf("otherData: -want +got\n%s", diff)
	}
	for _, e := range f.TraceEvents {
		if e.Name != "fails" {
			continue
		}
		want := map[string]any{
			"error": "boom", "otel.status_code": "ERROR", "otel.status_description": "boom",
			"otel.trace_id": "00000000000000000000000000000001", "otel.span_id": "0000000000000003", "otel.parent_span_id": "0000000000000001", "otel.kind": "unspecified", "otel.scope.name": "web",
		}
		if diff := cmp.Diff(want, e.Args); diff != "" {
			t.Errorf("args: -want +got\n%s", diff)
		}
	}
}

// checkLanes holds a file against its set with the arithmetic of the viewers.
func checkLanes(t *testing.T, set *traces.Set) {
	t.Helper()
	f := parseChrome(t, set)
	type open struct {
		id  string
		end float64
	}
	type place struct{ pid, tid int }
	first, stacks := map[place]float64{}, map[place][]open{}
	for _, e := range f.TraceEvents {
		at := place{e.PID, e.TID}
		if e.Phase == "X" && (first[at] > *e.TS || first[at] == 0) {
			first[at] = *e.TS
		}
	}
	parents := map[string]string{} // inner span to the one it lies in
	count, flows := 0, map[string]string{}
	for _, e := range f.TraceEvents {
		if e.Phase == "s" || e.Phase == "f" {
			if len(e.ID) > 16 || strings.Trim(e.ID, "0") == "" || flows[e.ID+e.Phase] != "" {
				t.Errorf("flow %s %s is not unique", e.ID, e.Phase)
			}
			flows[e.ID+e.Phase] = e.Name
		}
		if e.Phase != "X" {
			continue
		}
		count++
		at, id := place{e.PID, e.TID}, fmt.Sprint(e.Args["otel.span_id"], " ", e.Args["n"])
		begin := *e.TS - first[at]
		end := begin + *e.Dur
		if *e.Dur <= 0 {
			t.Errorf("span %s lasts %v", id, *e.Dur)
		}
		stack := stacks[at]
		for len(stack) > 0 && stack[len(stack)-1].end <= begin {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			top := stack[len(stack)-1]
			if end > top.end {
				t.Errorf("span %s ends at %v, after %s around it at %v", id, end, top.id, top.end)
			}
			parents[id] = top.id
		}
		stacks[at] = append(stack, open{id, end})
	}
	long := 0
	for n := range set.All() {
		s := n.Span()
		if s.StartUnixNano == 0 || s.Duration() <= 0 {
			continue
		}
		long++
		v, _ := s.Attr("n")
		in, ok := parents[fmt.Sprint(s.SpanID, " ", v.AsInt())]
		if !ok {
			continue
		}
		up := n.Parent()
		for up != nil && (up.Span().StartUnixNano == 0 || up.Span().Duration() <= 0) {
			up = up.Parent()
		}
		if up == nil {
			t.Errorf("root %s lies inside %s", s.SpanID, in)
			continue
		}
		v, _ = up.Span().Attr("n")
		if want := fmt.Sprint(up.Span().SpanID, " ", v.AsInt()); in != want {
			t.Errorf("%s lies inside %s, its parent is %s", s.SpanID, in, want)
		}
	}
	if count != long {
		t.Errorf("%d complete events, want %d", count, long)
	}
}

// randomSpans overlap, share their end points, overrun their parents, and are
// of two services.
func randomSpans(r *rand.Rand, n int) []*traces.Span {
	spans := make([]*traces.Span, n)
	scale := []int64{1, 7, 333, 1_000_003, 86_400_000_000_001}[r.IntN(5)]
	for i := range spans {
		start := r.Int64N(30)
		s := span("f"+strconv.Itoa(r.IntN(3)), byte(i+1), 0, "", time.Duration(start*scale), time.Duration((start+r.Int64N(12)-1)*scale),
			attr("n", traces.Int(int64(i))))
		if i > 0 && r.IntN(4) > 0 {
			p := spans[r.IntN(i)]
			s.ParentID = p.SpanID
			if r.IntN(2) == 0 {
				s.EndUnixNano = p.EndUnixNano
			}
			if r.IntN(3) == 0 {
				s.StartUnixNano = p.StartUnixNano
			}
		}
		s.Resource = &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String([]string{"a", "b"}[r.IntN(2)]))}}
		spans[i] = s
	}
	return spans
}

// TestChromeLaneOfAChild holds a child to its parent's lane as long as it lies
// inside, its bounds included.
func TestChromeLaneOfAChild(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		spans []*traces.Span
		lanes string // of the spans by start, a digit each
		over  any    // overrun_spans
	}{
		"inside":                       {[]*traces.Span{span("child", 2, 1, "", 3*ms, 7*ms)}, "11", nil},
		"ends with its parent":         {[]*traces.Span{span("child", 2, 1, "", 3*ms, 10*ms)}, "11", nil},
		"begins with its parent":       {[]*traces.Span{span("child", 2, 1, "", 1*ms, 7*ms)}, "11", nil},
		"is as long as its parent":     {[]*traces.Span{span("child", 2, 1, "", 1*ms, 10*ms)}, "11", nil},
		"ends a nanosecond later":      {[]*traces.Span{span("child", 2, 1, "", 3*ms, 10*ms+1)}, "12", 1.0},
		"begins a nanosecond earlier":  {[]*traces.Span{span("child", 2, 1, "", 1*ms-1, 7*ms)}, "12", 1.0},
		"begins when its parent ends":  {[]*traces.Span{span("child", 2, 1, "", 10*ms, 12*ms)}, "11", 1.0},
		"begins when its sibling ends": {[]*traces.Span{span("first", 2, 1, "", 3*ms, 5*ms), span("second", 3, 1, "", 5*ms, 10*ms)}, "111", nil},
		"begins before its sibling ends": {
			[]*traces.Span{span("first", 2, 1, "", 3*ms, 5*ms), span("second", 3, 1, "", 5*ms-1, 10*ms)}, "112", nil,
		},
		"all end together": {[]*traces.Span{span("child", 2, 1, "", 3*ms, 10*ms), span("below", 3, 2, "", 4*ms, 10*ms)}, "111", nil},
	} {
		f := parseChrome(t, traces.NewSet(append(c.spans, span("parent", 1, 0, "", 1*ms, 10*ms))))
		var lanes strings.Builder
		for _, e := range f.TraceEvents {
			if e.Phase == "X" {
				fmt.Fprint(&lanes, e.TID)
			}
		}
		if lanes.String() != c.lanes {
			t.Errorf("%s: on the lanes %s, want %s", name, &lanes, c.lanes)
		}
		if got := f.OtherData["overrun_spans"]; got != c.over {
			t.Errorf("%s: %v spans outside their parent, want %v", name, got, c.over)
		}
	}
}

func TestChromeLanesNest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		set := traces.NewSet(randomSpans(r, 1+r.IntN(60)))
		checkLanes(t, set)
		checkSpeedscope(t, set)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A viewer multiplies by 1000 and rounds, or cuts: both must give nanoseconds.
func TestChromeKeepsNanoseconds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, limit := range []int64{1000, 1e9, 1e12, 1e15} {
		for range 300 {
			start := r.Int64N(limit)
			end := start + 1 + r.Int64N(limit)
			f := parseChrome(t, traces.NewSet([]*traces.Span{
				span("base", 1, 0, "", 0, time.Duration(1)),
				span("s", 2, 0, "", time.Duration(start), time.Duration(end)),
			}))
			for _, e := range f.TraceEvents {
				if e.Name != "s" {
					continue
				}
				ts, dur := *e.TS*1000, *e.Dur*1000
				if int64(ts) != start || int64(ts+.5) != start || int64(dur+.5) != end-start {
					t.Fatalf("%d..%d became ts %v dur %v ns", start, end, ts, dur)
				}
			}
		}
	}
}

func TestChromeHostile(t *testing.T) {
	t.Parallel()
	set := hostileSet()
	for _, opts := range [][]render.ChromeOption{nil, {render.WithSingleLane()}} {
		got := render.ChromeTraceString(set, opts...)
		if strings.ContainsAny(got, "<>&\u2028\u2029\x1b\x7f") {
			t.Error("markup, separators or control characters are not escaped")
		}
		f := parseChrome(t, set, opts...)
		names := map[string]bool{}
		for _, e := range f.TraceEvents {
			names[e.Name] = true
		}
		for _, text := range hostileTexts() {
			if !names[strings.ToValidUTF8(text, "\ufffd\ufffd")] && !names[strings.ToValidUTF8(text, "\ufffd")] {
				t.Errorf("the name %q is not in the file", text)
			}
		}
	}
}

func TestChromeUserErrorAttribute(t *testing.T) {
	t.Parallel()
	s := status(span("s", 1, 0, "", 0, 9, attr("error", traces.String("mine"))), traces.StatusError)
	for _, e := range parseChrome(t, traces.NewSet([]*traces.Span{s})).TraceEvents {
		if e.Phase == "X" && (e.Args["error"] != "mine" || e.Args["otel.status_code"] != "ERROR") {
			t.Errorf("args = %v", e.Args)
		}
	}
}

func TestChromeUntimed(t *testing.T) {
	t.Parallel()
	f := parseChrome(t, traces.NewSet([]*traces.Span{{Name: "never", SpanID: traces.SpanID{1}}}))
	if len(f.TraceEvents) != 0 || f.OtherData["untimed_spans"] != 1.0 || f.OtherData["start"] != nil {
		t.Errorf("%+v", f)
	}
}

func TestChromeWriterError(t *testing.T) {
	t.Parallel()
	if err := render.ChromeTrace(brokenWriter{}, shop()); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "render: ") {
		t.Errorf("ChromeTrace: %v", err)
	}
	if err := render.Speedscope(brokenWriter{}, shop()); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "render: ") {
		t.Errorf("Speedscope: %v", err)
	}
}

// FuzzRender makes spans of any shape from bytes and holds all formats to their
// rules.
func FuzzRender(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x09ab\x02\x01\x06\x08\xff<"), uint64(1))
	f.Add([]byte("\x01\x02\x05\x09ab\x02\x01\x05\x09cd\x03\x01\x00\x00\x1b\n"), uint64(1_000_003))
	f.Add([]byte("\x01\x00\x05\x00ab\x02\x01\x06\x02\xff<\x02\x01\x06\xfa\xff<"), uint64(1<<58))
	f.Fuzz(func(t *testing.T, b []byte, scale uint64) {
		var spans []*traces.Span
		for ; len(b) >= 6 && len(spans) < 200; b = b[6:] {
			s := span(string(b[4:6]), b[0], b[1], string(b[5:6]), 0, 0, attr("n", traces.Int(int64(len(spans)))), attr(string(b[4:6]), traces.String(string(b[:6]))))
			s.StartUnixNano, s.EndUnixNano = uint64(b[2])*scale, uint64(b[3])*scale
			spans = append(spans, s)
		}
		set := traces.NewSet(spans)
		// The viewers' numbers end at 2⁵³ µs; what is later is drawn there.
		if start, end, _ := set.Bounds(); end-start < 1<<62 {
			checkLanes(t, set)
			checkSpeedscope(t, set)
		}
		if tree := render.TreeString(set); strings.Count(tree, "\n")+1 != max(1, set.Len()) || strings.ContainsRune(tree, '\x1b') {
			t.Errorf("tree: %q", tree)
		}
		for _, text := range []string{render.ChromeTraceString(set), render.ChromeTraceString(set, render.WithSingleLane())} {
			if !json.Valid([]byte(text)) {
				t.Errorf("invalid JSON: %s", text)
			}
		}
	})
}
