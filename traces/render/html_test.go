package render_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

type reportSpan struct {
	Name     string              `json:"n"`
	Parent   int                 `json:"p"`
	Start    uint64              `json:"s"`
	Duration int64               `json:"d"`
	Depth    int                 `json:"l"`
	Row      int                 `json:"r"`
	Service  int                 `json:"v"`
	Scope    string              `json:"c"`
	Kind     string              `json:"k"`
	ID       string              `json:"i"`
	Flags    int                 `json:"f"`
	Message  string              `json:"m"`
	Attrs    [][2]string         `json:"a"`
	Events   [][]json.RawMessage `json:"e"`
}

type reportData struct {
	Download string   `json:"download"`
	Start    string   `json:"start"`
	Total    int      `json:"total"`
	Shown    int      `json:"shown"`
	Services []string `json:"services"`
	Traces   []struct {
		ID    string       `json:"id"`
		Name  string       `json:"name"`
		Start uint64       `json:"start"`
		End   uint64       `json:"end"`
		Rows  int          `json:"rows"`
		Spans []reportSpan `json:"spans"`
		Root  int          `json:"root"`
	} `json:"traces"`
}

func report(t *testing.T, set *traces.Set, opts ...render.HTMLOption) (page string, data reportData) {
	t.Helper()
	var b strings.Builder
	if err := render.HTML(&b, set, opts...); err != nil {
		t.Fatal(err)
	}
	page = b.String()
	d := json.NewDecoder(strings.NewReader(unpacked(t, page, "data")))
	d.DisallowUnknownFields()
	if err := d.Decode(&data); err != nil {
		t.Fatalf("data: %v", err)
	}
	if chrome := unpacked(t, page, "chrome"); chrome != render.ChromeTraceString(set) && len(opts) == 0 {
		t.Error("the Chrome trace in the page is another one")
	}
	return page, data
}

// unpacked is a part of the page that is compressed.
func unpacked(t *testing.T, page, id string) string {
	t.Helper()
	text := between(t, page, `<script type="application/gzip" id="`+id+`">`, "</script>")
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// TestHTMLSize holds that a page of many spans is small beside what is in it.
func TestHTMLSize(t *testing.T) {
	t.Parallel()
	var spans []*traces.Span
	for i := range 5000 {
		s := span("GET /users/{id}", byte(i), 0, "web", time.Duration(i), time.Duration(i+200),
			attr("http.route", traces.String("/users/{id}")), attr("url.path", traces.String("/users/"+strings.Repeat("x", i%7))))
		s.TraceID[3], s.TraceID[4] = byte(i>>8), byte(i)
		spans = append(spans, s)
	}
	page, _ := report(t, traces.NewSet(spans))
	plain := len(unpacked(t, page, "data")) + len(unpacked(t, page, "chrome"))
	if len(page) > plain/6 {
		t.Errorf("the page has %d bytes for %d of data", len(page), plain)
	}
}

func between(t *testing.T, s, before, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s, before)
	middle, _, closed := strings.Cut(rest, after)
	if !ok || !closed {
		t.Fatalf("no %s…%s in the page", before, after)
	}
	return middle
}

func TestHTMLData(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	s := status(span("call", 3, 1, "lib", 2*ms, 9*ms, attr("k", traces.String("v")), attr("long", traces.String(strings.Repeat("é", 9000)))), traces.StatusError)
	s.Status.Message = "boom"
	s.Kind = traces.KindClient
	s.Events = []traces.Event{{Name: "e", TimeUnixNano: t0 + 3e6, Attributes: []traces.Attribute{attr("x", traces.Int(1))}}}
	open := span("open", 4, 77, "", 11*ms, 0)
	open.EndUnixNano = 0
	_, data := report(t, traces.NewSet([]*traces.Span{span("root", 1, 0, "", 0, 10*ms), span("call", 2, 1, "", 1*ms, 3*ms), s, open}),
		render.WithDownloadName("x.json"))
	long := "'" + strings.Repeat("é", 4095) + "…"
	want := []reportSpan{
		{Name: "root", Parent: -1, Duration: 1e7, Kind: "unspecified", ID: "0000000000000001"},
		{Name: "call", Start: 1e6, Duration: 2e6, Depth: 1, Row: 1, Kind: "unspecified", ID: "0000000000000002"},
		{
			Name: "call", Start: 2e6, Duration: 7e6, Depth: 1, Row: 2, Kind: "client", ID: "0000000000000003", Scope: "lib", Flags: 1, Message: "boom",
			Attrs:  [][2]string{{"k", "'v'"}, {"long", long}},
			Events: [][]json.RawMessage{{json.RawMessage(`"e"`), json.RawMessage("3000000"), json.RawMessage(`[["x","1"]]`)}},
		},
		{Name: "open", Parent: -1, Start: 11e6, Row: -1, Kind: "unspecified", ID: "0000000000000004", Flags: 2 | 4},
	}
	if diff := cmp.Diff(want, data.Traces[0].Spans); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if tr := data.Traces[0]; tr.Rows != 3 || tr.End != 11e6 || tr.Name != "root" || data.Start != "2023-11-14T22:13:20Z" || data.Download != "x.json" {
		t.Errorf("trace: %d rows, end %d, name %q; report: %q %q", tr.Rows, tr.End, tr.Name, data.Start, data.Download)
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	t.Parallel()
	page, _ := report(t, shop(), render.WithTitle("Shop & Co"))
	script, style := between(t, page, "<script>", "</script>"), between(t, page, "<style>", "</style>")
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + "; base-uri 'none'; form-action 'none'"
	if got := between(t, page, `Content-Security-Policy" content="`, `"`); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	if got := between(t, page, "<title>", "</title>"); got != "Shop &amp; Co" {
		t.Errorf("title %q", got)
	}
	for _, bad := range []string{"http://", "https://", "@import", "url(", " style=", " onclick", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if strings.Contains(page, "{csp}") || strings.Contains(page, "{data}") {
		t.Error("a part of the page was not filled in")
	}
}

// Between the tags that we wrote there must be none that a span brought.
func TestHTMLHostile(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`<[/!a-zA-Z][^>]*>`)
	clean, _ := report(t, shop(), render.WithTitle("x"), render.WithDownloadName("x"))
	for _, text := range hostileTexts() {
		page, data := report(t, hostileSet(), render.WithTitle(text), render.WithDownloadName(text))
		if got, want := len(tags.FindAllString(page, -1)), len(tags.FindAllString(clean, -1)); got != want {
			t.Errorf("title %q: %d tags, want %d", text, got, want)
		}
		if strings.ContainsAny(unpacked(t, page, "data"), "<>&\u2028") {
			t.Errorf("title %q: markup in the data", text)
		}
		if data.Download != strings.ReplaceAll(text, "\xff\xfe", "\ufffd\ufffd") {
			t.Errorf("download name %q became %q", text, data.Download)
		}
	}
	_, data := report(t, hostileSet())
	names := map[string]bool{}
	for _, s := range data.Traces[0].Spans {
		names[s.Name] = true
	}
	for _, text := range hostileTexts() {
		if !names[render.FormatName(text)] {
			t.Errorf("the name %q was changed", text)
		}
	}
}

func TestHTMLMaxSpans(t *testing.T) {
	t.Parallel()
	var spans []*traces.Span
	for i := range 50 { // five traces of ten spans, the oldest first, each span below the one before
		s := span("s", byte(i%10+1), byte(i%10), "", time.Duration(i), 200)
		s.TraceID[0] = byte(i / 10)
		spans = append(spans, s)
	}
	for _, c := range []struct {
		max, total, wantShown, wantTotal int
		starts                           []int // of the traces shown
	}{
		{max: 50, wantShown: 50, wantTotal: 50, starts: []int{0, 10, 20, 30, 40}},
		{max: 49, wantShown: 40, wantTotal: 50, starts: []int{10, 20, 30, 40}},
		{max: 20, wantShown: 20, wantTotal: 50, starts: []int{30, 40}},
		{max: 20, total: 70, wantShown: 20, wantTotal: 70, starts: []int{30, 40}},
		{max: 50, total: 70, wantShown: 50, wantTotal: 70, starts: []int{0, 10, 20, 30, 40}},
		{max: 19, wantShown: 10, wantTotal: 50, starts: []int{40}},
		{max: 7, wantShown: 7, wantTotal: 50, starts: []int{40}},
	} {
		var page strings.Builder
		set := traces.NewSet(spans)
		if err := render.HTML(&page, set, render.WithMaxSpans(c.max), render.WithTotalSpans(c.total)); err != nil {
			t.Fatal(err)
		}
		var data reportData
		if err := json.Unmarshal([]byte(unpacked(t, page.String(), "data")), &data); err != nil {
			t.Fatal(err)
		}
		if data.Total != c.wantTotal || data.Shown != c.wantShown {
			t.Errorf("at most %d: total %d, shown %d, want %d, %d", c.max, data.Total, data.Shown, c.wantTotal, c.wantShown)
		}
		first, _ := time.Parse(time.RFC3339Nano, data.Start)
		var starts []int
		for _, trace := range data.Traces {
			starts = append(starts, int(first.Sub(time.Unix(0, t0)))+int(trace.Start))
			for i, s := range trace.Spans {
				if s.Depth != i {
					t.Errorf("at most %d: span %d is at depth %d: a parent was left out", c.max, i, s.Depth)
				}
			}
		}
		if diff := cmp.Diff(c.starts, starts); diff != "" {
			t.Errorf("at most %d: traces that start at: -want +got\n%s", c.max, diff)
		}
	}
}

// TestHTMLRoot holds the name and the duration of a trace to those of its root,
// whatever clocks of other hosts say.
func TestHTMLRoot(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		spans []*traces.Span
		want  string
	}{
		"a child of another host starts earlier": {[]*traces.Span{
			span("skewed", 2, 1, "", 0, 9*ms), span("root", 1, 0, "", 2*ms, 5*ms),
		}, "root"},
		"an orphan starts earlier":     {[]*traces.Span{span("orphan", 2, 9, "", 0, 9*ms), span("root", 1, 0, "", 2*ms, 5*ms)}, "root"},
		"work after the answer":        {[]*traces.Span{span("root", 1, 0, "", 0, 5*ms), span("after", 2, 0, "", 4*ms, 90*ms)}, "root"},
		"two begin together":           {[]*traces.Span{span("short", 1, 0, "", 0, 2*ms), span("long", 2, 0, "", 0, 5*ms)}, "long"},
		"the root is another file's":   {[]*traces.Span{span("late", 2, 9, "", ms, 9*ms), span("early", 3, 9, "", 0, ms)}, "early"},
		"a circle and an orphan":       {[]*traces.Span{span("a", 1, 2, "", 0, ms), span("b", 2, 1, "", 0, ms), span("orphan", 3, 9, "", 5*ms, 6*ms)}, "orphan"},
		"nothing but a circle":         {[]*traces.Span{span("b", 2, 1, "", ms, 2*ms), span("a", 1, 2, "", 0, ms)}, "a"},
		"a child below another's root": {[]*traces.Span{span("below", 3, 2, "", 0, ms), span("root", 2, 0, "", ms, 2*ms)}, "root"},
	} {
		_, data := report(t, traces.NewSet(c.spans))
		trace := data.Traces[0]
		if got := trace.Spans[trace.Root].Name; got != c.want || trace.Name != c.want {
			t.Errorf("%s: the trace is called %q, its root %q, want %q", name, trace.Name, got, c.want)
		}
	}
}

// TestHTMLEventBeforeEverything is at the beginning, not at the end of time.
func TestHTMLEventBeforeEverything(t *testing.T) {
	t.Parallel()
	s := span("a&b", 1, 0, "", 0, time.Millisecond)
	s.Events = []traces.Event{{Name: "early", TimeUnixNano: t0 - 1000}}
	page, data := report(t, traces.NewSet([]*traces.Span{s}))
	if got := string(data.Traces[0].Spans[0].Events[0][1]); got != "0" {
		t.Errorf("the event is at %s", got)
	}
	if text := unpacked(t, page, "data"); !strings.Contains(text, `"a\u0026b"`) {
		t.Errorf("an ampersand in the data: %s", text)
	}
}

func TestHTMLEmpty(t *testing.T) {
	t.Parallel()
	if _, data := report(t, traces.NewSet(nil)); data.Total != 0 || data.Traces == nil || len(data.Traces) != 0 {
		t.Errorf("%+v", data)
	}
	report(t, traces.NewSet([]*traces.Span{{}, {Name: "untimed", ParentID: traces.SpanID{9}}}))
}

func TestHTMLWriterError(t *testing.T) {
	t.Parallel()
	if err := render.HTML(brokenWriter{}, shop()); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "render: write report: ") {
		t.Errorf("err = %v", err)
	}
}

func TestInlineVector(t *testing.T) {
	t.Parallel()
	v := vectors()[len(vectors())-1]
	got := render.Inline(v.set(), render.WithDownloadName(`"><script>alert(1)</script>`), render.WithChromeOptions(render.WithSingleLane()))
	data := between(t, got, "base64,", `"`)
	want := `<div class="waymark-trace"><pre>└── GET /a?&lt;b&gt;&amp;c (1.00 ms) {scope=web} [u=&quot;it&#x27;s&quot;]</pre>` +
		`<p><a href="data:application/json;base64,…" download="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">Download Chrome Trace JSON (0.2 KB)</a>` +
		` — open in Perfetto, speedscope, or <code>chrome://tracing</code>.</p></div>`
	if diff := cmp.Diff(want, strings.Replace(got, data, "…", 1)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	chrome, err := base64.StdEncoding.DecodeString(data)
	if err != nil || string(chrome) != render.ChromeTraceString(v.set(), render.WithSingleLane()) {
		t.Errorf("the link holds %s, %v", chrome, err)
	}
}

func TestInlineHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostileTexts() {
		got := render.Inline(hostileSet(), render.WithDownloadName(text), render.WithTreeOptions(render.WithEvents()))
		if strings.Count(got, "<") != 10 || strings.Count(got, ">") != 10 {
			t.Errorf("download name %q: added markup", text)
		}
		name := html.UnescapeString(between(t, got, `download="`, `"`))
		if want := strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd"); name != want {
			t.Errorf("download name %q became %q", text, name)
		}
	}
	if got := render.Inline(traces.NewSet(nil)); !strings.Contains(got, "<pre>(no spans)</pre>") || !strings.Contains(got, `download="waymark_trace.json"`) {
		t.Errorf("Inline of nothing = %s", got)
	}
}
