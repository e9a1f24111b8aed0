package capturetest_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
)

// A real test that passes, and shows nothing.
func TestCheckout(t *testing.T) {
	t.Parallel()
	before := otel.GetTracerProvider()
	ctx, tr := capturetest.Start(t)
	shop(ctx)
	tr.Want(`
		└── TestCheckout
		    └── checkout {scope=shop} [ERROR]
		        ├── reserve
		        └── charge [ERROR] [order='A-1']`)
	tr.Span("charge").Attr("order", "A-1").Err().Under("checkout").Kind(traces.KindClient).Times(1)
	tr.None("refund")
	tr.Max("reserve", time.Minute)
	if otel.GetTracerProvider() != before {
		t.Error("the global provider was touched")
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	f, ctx, tr := started(t)
	shop(ctx)
	const want = `└── TestFake {scope=github.com/waymark-trace/waymark/capture}
    └── checkout {scope=shop} [ERROR]
        ├── reserve {scope=shop} [n=2]
        └── charge {scope=shop} [ERROR] [order='A-1', tags=['a, b', 'c]']]`
	if got := tr.Tree(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tr.Want(want)
	if got := f.one(t); got != "" {
		t.Errorf("its own tree is not as wanted:\n%s", got)
	}
}

func TestWant(t *testing.T) {
	t.Parallel()
	const right = `
└── TestFake
    └── checkout [ERROR]
        ├── reserve [n=2]
        └── charge [ERROR] [tags=['a, b', 'c]'], order='A-1']`
	for name, tc := range map[string]struct {
		old, new string
		want     []string // parts of the failure; none: it passes
	}{
		"right":              {},
		"scope":              {"reserve", "reserve {scope=shop}", nil},
		"no attributes":      {" [n=2]", "", nil},
		"wrong name":         {"reserve", "release", []string{"- " + "        release [n=2]", "+ " + "        reserve {scope=shop} [n=2]", "got:\n\t└── TestFake"}},
		"wrong scope":        {"reserve", "reserve {scope=bar}", []string{"- " + "        reserve {scope=bar}"}},
		"error missing":      {"checkout [ERROR]", "checkout", []string{"-     checkout\n"}},
		"error too much":     {"reserve", "reserve [ERROR]", []string{"-         reserve [ERROR]"}},
		"wrong value":        {"n=2", "n=3", []string{"[n=3]"}},
		"value by prefix":    {"'A-1'", "'A-", []string{"[n=2]"}},
		"missing line":       {"        ├── reserve [n=2]\n", "", []string{"+         reserve {scope=shop} [n=2]"}},
		"line too many":      {"        ├── reserve [n=2]\n", "        ├── reserve\n        ├── reserve\n", []string{"-         reserve\n"}},
		"wrong depth":        {"        ├── reserve", "    ├── reserve", []string{"-     reserve [n=2]"}},
		"wrong duration":     {"reserve", "reserve (99.99 s)", []string{"-         reserve (99.99 s)", "+         reserve ("}},
		"no marker":          {"        ├── reserve", "        reserve", []string{"line 4 has no ├── or └──"}},
		"a level is missing": {"        ├── reserve", "            ├── reserve", []string{"line 4 is deeper than a child of the line above"}},
		"less indentation":   {"\n└──", "\n\t└──", []string{"line 3 is indented less"}},
		"open":               {"└── TestFake", "└── TestFake (open)", nil},
		"not open":           {"reserve", "reserve (open)", []string{"-         reserve (open)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ctx, tr := started(t)
			shop(ctx)
			tree := strings.Replace(right, tc.old, tc.new, 1)
			tr.Want(tree)
			got := f.one(t)
			if (got == "") != (len(tc.want) == 0) {
				t.Errorf("failure: %s", got)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// Where the wanted tree has no scopes and attributes they do not count, and are
// not in the way.
func TestWantDifferenceIsBare(t *testing.T) {
	t.Parallel()
	f, ctx, tr := started(t)
	shop(ctx)
	tr.Want(`
		└── TestFake
		    └── checkout
		        ├── reserve
		        └── refund`)
	want := "difference (-want +got):\n" +
		"\t  TestFake\n" +
		"\t-     checkout\n" +
		"\t+     checkout [ERROR]\n" +
		"\t          reserve\n" +
		"\t-         refund\n" +
		"\t+         charge [ERROR]"
	if got := f.one(t); !strings.HasSuffix(got, want) {
		t.Errorf("no\n%s\nat the end of\n%s", want, got)
	}
}

// A span that runs is marked, the test's own is not.
func TestTreeMarksOpen(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	_, s := tr.TracerProvider().Tracer("shop").Start(t.Context(), "running")
	if got := tr.Tree(); !strings.Contains(got, "running (open) {scope=shop}") || strings.Contains(got, "TestTreeMarksOpen (open)") {
		t.Errorf("tree:\n%s", got)
	}
	s.End()
}

func TestWantNothing(t *testing.T) {
	t.Parallel()
	f, _, tr := started(t, capturetest.WithProviderOptions(sdktrace.WithSampler(sdktrace.NeverSample())))
	tr.Want("(no spans)")
	if got := f.one(t); got != "" || tr.Tree() != "(no spans)" {
		t.Errorf("%s\n%s", tr.Tree(), got)
	}
	tr.Want("└── TestFake")
	if got := f.one(t); !strings.Contains(got, "- TestFake") || !strings.Contains(got, "tracers of otel.Tracer are of another provider") {
		t.Errorf("failure %q", got)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	f, ctx, tr := started(t)
	shop(ctx)
	for name, tc := range map[string]struct {
		check func()
		want  []string
	}{
		"missing":    {func() { tr.Span("refund").Attr("k", 1).Err().Under("x") }, []string{`no span "refund"`, "├── reserve"}},
		"attribute":  {func() { tr.Span("charge").Attr("order", "B-2") }, []string{`no span "charge" with order='B-2'`, "order='A-1'"}},
		"type":       {func() { tr.Span("reserve").Attr("n", "2") }, []string{`with n='2'`, "n=2"}},
		"no error":   {func() { tr.Span("reserve").Attr("n", 2).Err() }, []string{`no span "reserve" with n=2 with status Error`}},
		"not under":  {func() { tr.Span("charge").Under("reserve") }, []string{`under "reserve"`, "(under TestFake > checkout)"}},
		"kind":       {func() { tr.Span("charge").Kind(traces.KindServer) }, []string{"of kind server"}},
		"times":      {func() { tr.Span("charge").Times(2) }, []string{`span "charge" is there once, want 2`}},
		"none":       {func() { tr.None("charge") }, []string{`span "charge" is there once, want none`}},
		"max open":   {func() { tr.Max("TestFake", time.Hour) }, []string{"has not ended"}},
		"max":        {func() { tr.Max("charge", -1) }, []string{`span "charge" took`}},
		"has":        {func() { tr.Span("reserve").NoAttr("m").NoAttr("k", "n") }, []string{`no span "reserve" without m without k, n`, "n=2"}},
		"has error":  {func() { tr.Span("charge").NoErr().Attr("k", 1) }, []string{`no span "charge" without status Error`}},
		"one of all": {func() { tr.Spans().One() }, []string{"span is there 3 times, want 1", "(under TestFake > checkout)"}},
		"no server":  {func() { tr.Spans().Kind(traces.KindServer) }, []string{"no span of kind server; there is:"}},
		"one none":   {func() { tr.Span("refund").One() }, []string{`no span "refund"`}},
		"max none":   {func() { tr.Max("refund", 1) }, []string{`no span "refund"`}},
		"no value":   {func() { tr.Span("charge").Attr("order", struct{}{}) }, []string{"struct {}"}},
		"all right":  {func() { tr.Span("reserve").Attr("n", int8(2)).Attr("n", uint(2)).Under("TestFake") }, nil},
		"slice":      {func() { tr.Span("charge").Attr("tags", []string{"a, b", "c]"}) }, nil},
		"otel value": {func() { tr.Span("charge").Attr("order", attribute.StringValue("A-1")) }, nil},
		"our value":  {func() { tr.Span("charge").Attr("order", traces.String("A-1")) }, nil},
	} {
		tc.check()
		got := f.one(t)
		if (got == "") != (len(tc.want) == 0) {
			t.Errorf("%s: failure %q", name, got)
		}
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
	}
	if one := tr.Spans().Err().Kind(traces.KindClient).One(); one.Status.Message != "declined" || one.Name != "charge" {
		t.Errorf("One: %+v", one)
	}
	if all := tr.Spans().All(); len(all) != 3 || all[0].Name != "checkout" {
		t.Errorf("All: %+v", all)
	}
	if got := f.one(t); got != "" {
		t.Errorf("failure %q", got)
	}
}

// Of no spans, none is as it is wanted, and all there are is none.
func TestNoSpans(t *testing.T) {
	t.Parallel()
	f, _, tr := started(t)
	tr.Spans().Times(0)
	if got := f.one(t); got != "" {
		t.Errorf("failure %q", got)
	}
	tr.Spans().Err().NoAttr("k")
	if got := f.one(t); got != "no span with status Error" {
		t.Errorf("failure %q", got)
	}
}

// The spans of a server end after the client has its response.
func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, ctx, tr := started(t)
		tracer := tr.TracerProvider().Tracer("shop")
		for i := range 3 {
			_, s := tracer.Start(ctx, "late")
			_, other := tracer.Start(ctx, "other")
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				other.End()
				s.End()
			}()
		}
		begin := time.Now()
		tr.Wait("late", 2).NoErr()
		if took := time.Since(begin); took != time.Second {
			t.Errorf("2 spans took %v, want 1s", took)
		}
		tr.Wait("late", 3).Times(3)
		if got := f.one(t); got != "" {
			t.Errorf("failure %q", got)
		}
		tr.Wait("late", 4).Err()
		if got := f.one(t); !strings.HasPrefix(got, `span "late" has ended 3 times within 30s, want 4`) {
			t.Errorf("failure %q", got)
		}
		if took := time.Since(begin); took != 32*time.Second {
			t.Errorf("it was waited for %v, want 30s more", took)
		}
	})
}

// A program with a provider of its own shows its spans too.
func TestProcessor(t *testing.T) {
	t.Parallel()
	f, _, tr := started(t)
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(tr.Processor()))
	ctx, s := tp.Tracer("app").Start(t.Context(), "request")
	shop(ctx)
	tr.Span("charge").Under("request")
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := f.one(t); got != "" {
		t.Errorf("failure %q", got)
	}
	f.end()
	if got := f.one(t); !strings.HasPrefix(got, `span "request" was never ended, started at capturetest_test.go:`) {
		t.Errorf("failure %q", got)
	}
	s.End()
}

// A test that passes leaves nothing behind; one that fails shows its spans.
func TestFailureShowsSpans(t *testing.T) {
	t.Parallel()
	for _, failed := range []bool{false, true} {
		f, ctx, tr := started(t)
		shop(ctx)
		f.failed = failed
		f.end()
		files, err := os.ReadDir(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		if !failed {
			if f.output.Len() > 0 || len(files) > 0 || len(f.logs)+len(f.attrs)+len(f.failures) > 0 {
				t.Errorf("passed, and shows %q, %v, %q", f.output.String(), files, f.logs)
			}
			continue
		}
		out := f.output.String()
		if !strings.Contains(out, "the spans of TestFake:\n└── TestFake (") || !strings.Contains(out, "        └── charge (") || !strings.Contains(out, "[ERROR: declined]") || strings.Contains(out, "(open)") {
			t.Errorf("output:\n%s", out)
		}
		if f.attrs["trace_id"] != "00000000000000000000000000000001" {
			t.Errorf("attrs %v", f.attrs)
		}
		data, err := os.ReadFile(filepath.Join(f.dir, "trace.json"))
		var doc struct {
			TraceEvents []any `json:"traceEvents"`
		}
		if err != nil || json.Unmarshal(data, &doc) != nil || len(doc.TraceEvents) < 4 {
			t.Errorf("%v: %s", err, data)
		}
		if len(tr.Result().Spans()) != 4 {
			t.Error("the spans are gone")
		}
	}
}

// A test that starts two traces keeps both.
func TestTwoTracesFail(t *testing.T) {
	t.Parallel()
	f, ctx, _ := started(t)
	shop(ctx)
	_, _ = capturetest.Start(f)
	f.failed = true
	f.end()
	for _, name := range []string{"trace.json", "trace2.json"} {
		if _, err := os.Stat(filepath.Join(f.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// Whatever the names and values are, a tree is as it was drawn, in the test and in
// a golden file.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", " ", "a ", "a\nb", "a\r\n└── b", "\x1b[31mred", "a\xff", "{scope=x}", "a {scope=x}", "a [ERROR]", "[ERROR]", "a [k='v']",
		"a (1.00 ms)", "a (0.0 µs)", "a (open)", "│   a", "└── a", "\u2028", "\x00",
	} {
		f, ctx, tr := started(t)
		for _, scope := range []string{"shop", name} {
			_, s := tr.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(attribute.String("k"+name, name)))
			s.End()
		}
		tr.Want(tr.Tree())
		tr.Span(name).Attr("k"+name, name).Times(2)
		path := filepath.Join(t.TempDir(), "golden.tree")
		if err := os.WriteFile(path, []byte(tr.Tree()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tr.Golden(path)
		tr.Want("└── TestFake\n    └── another\n    └── another")
		if len(f.failures) != 1 {
			t.Errorf("%q: %d failures, want 1: %q", name, len(f.failures), f.failures)
		}
	}
}

// A span that is never ended fails the test, which says where it was started.
func TestUnended(t *testing.T) {
	t.Parallel()
	leak := func(ctx context.Context) {
		tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("shop")
		_, _ = tracer.Start(ctx, "db") //nolint:spancheck // the line in question
	}
	f, ctx, _ := started(t)
	leak(ctx)
	f.end()
	got := f.one(t)
	if !strings.HasPrefix(got, `span "db" was never ended, started at capturetest_test.go:`) {
		t.Fatalf("failure %q", got)
	}
	source, err := os.ReadFile("capturetest_test.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "// the line in question")
	if want := "capturetest_test.go:" + itoa(strings.Count(before, "\n")+1); !strings.HasSuffix(got, want) {
		t.Errorf("failure %q, want it to end with %s", got, want)
	}
	if !strings.Contains(f.output.String(), "db (0.0 µs) (open)") {
		t.Errorf("output:\n%s", f.output.String())
	}

	f, ctx, _ = started(t, capturetest.WithOpenSpans())
	leak(ctx)
	f.end()
	if f.failed {
		t.Errorf("failures %q", f.failures)
	}
}

// Spans past the bound are told, or "none" would be said of them.
func TestMoreSpansThanAreKept(t *testing.T) {
	t.Parallel()
	f, ctx, tr := started(t)
	tr.KeepAtMost(3)
	tracer := tr.TracerProvider().Tracer("shop")
	for range 3 { // one more than there is room for beside the test's own
		_, s := tracer.Start(ctx, "x")
		s.End()
	}
	f.end()
	if want := "capturetest: 1 spans were not kept"; !strings.HasPrefix(f.one(t), want) {
		t.Errorf("failures %q, want %q", f.failures, want)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestParallelTestsAreApart(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			ctx, tr := capturetest.Start(t)
			var wg sync.WaitGroup
			for range i {
				wg.Go(func() { shop(ctx) })
			}
			wg.Wait()
			if i == 0 {
				tr.None("checkout")
			} else {
				tr.Span("checkout").Times(i)
			}
			if got := tr.Traceparent(); got != "00-00000000000000000000000000000001-0000000000000001-01" {
				t.Errorf("traceparent %s", got)
			}
		})
	}
}

// Spans of other traces of the provider are seen too.
func TestNewRoot(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	_, s := tr.TracerProvider().Tracer("shop").Start(context.Background(), "apart")
	s.End()
	tr.Want(`
		└── TestNewRoot
		└── apart`)
	if id := tr.Span("apart").One().TraceID; id != (traces.TraceID{15: 2}) {
		t.Errorf("trace ID %v, want 2", id)
	}
}

// In a bubble durations are exact.
func TestExactDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, tr := capturetest.Start(t, capturetest.WithDurations())
		tracer := tr.TracerProvider().Tracer("shop")
		ctx, outer := tracer.Start(ctx, "outer")
		_, inner := tracer.Start(ctx, "inner")
		time.Sleep(3 * time.Millisecond)
		inner.End()
		time.Sleep(250 * time.Microsecond)
		outer.End()
		tr.Want(`
			└── TestExactDurations
			    └── outer (3.25 ms)
			        └── inner (3.00 ms)`)
		tr.Max("inner", 3*time.Millisecond)
		tr.Golden("exact.tree")
	})
}

func TestHandler(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, s := tr.TracerProvider().Tracer("db").Start(r.Context(), "SELECT")
		s.End()
		w.WriteHeader(http.StatusTeapot)
	})
	h := tr.Handler(middleware.New(mux, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(propagation.TraceContext{})))
	srv := httptest.NewServer(h)
	defer srv.Close()
	get := func(header string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/users/7", nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Traceparent", header)
		}
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	get("")
	tr.Wait("GET /users/{id}", 1).Under("TestHandler").Kind(traces.KindServer).Attr("http.response.status_code", 418)
	tr.Span("SELECT").Under("TestHandler")
	tr.Golden("handler.tree") // with PORT in place of the port
	get("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	found := false
	for _, s := range tr.Wait("GET /users/{id}", 2).All() {
		found = found || s.TraceID.String() == "0af7651916cd43dd8448eb211c80319c"
	}
	if !found {
		t.Error("a caller's own traceparent was replaced")
	}
}

func TestGolden(t *testing.T) {
	f, ctx, tr := started(t)
	shop(ctx)
	path := filepath.Join(t.TempDir(), "new", "shop.tree")
	t.Setenv("UPDATE", "")
	tr.Golden(path)
	if got := f.one(t); !strings.Contains(got, "UPDATE=1") || !strings.Contains(got, "└── charge") {
		t.Errorf("no file: %q", got)
	}
	t.Setenv("UPDATE", "1")
	tr.Golden(path)
	t.Setenv("UPDATE", "")
	tr.Golden(path)
	if got := f.one(t); got != "" {
		t.Errorf("its own file: %s", got)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != tr.Tree()+"\n" {
		t.Errorf("%v: %s", err, data)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), " [n=2]", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	tr.Golden(path)
	if got := f.one(t); !strings.Contains(got, "-         reserve {scope=shop}\n") || !strings.Contains(got, "+         reserve {scope=shop} [n=2]") {
		t.Errorf("changed: %s", got)
	}
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	tr.Golden(path)
	if err := flag.Set("update", "false"); err != nil {
		t.Fatal(err)
	}
	tr.Golden(path)
	if got := f.one(t); got != "" {
		t.Errorf("after -update: %s", got)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr.Golden(path)
	if got := f.one(t); !strings.Contains(got, "line 1") {
		t.Errorf("nonsense: %s", got)
	}
}

var _ = capturetest.UpdateFlag()

// A real test that fails, in a process of its own.
func TestFailingProcess(t *testing.T) {
	if os.Getenv("CAPTURETEST_FAIL") != "" {
		ctx, tr := capturetest.Start(t)
		shop(ctx)
		tr.None("charge")
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailingProcess$", "-test.artifacts", "-test.outputdir="+dir, "-update=false")
	cmd.Env = append(os.Environ(), "CAPTURETEST_FAIL=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("it passed:\n%s", out)
	}
	for _, want := range []string{"--- FAIL: TestFailingProcess", `capturetest_test.go:`, `span "charge" is there once, want none`, "the spans of TestFailingProcess:", "        └── charge ("} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var kept []string
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if filepath.Base(path) == "trace.json" {
			kept = append(kept, path)
		}
		return nil
	})
	if len(kept) != 1 {
		t.Errorf("artifacts: %q", kept)
	}
}

func BenchmarkShop(b *testing.B) { capturetest.Bench(b, shop) }

func TestBench(t *testing.T) {
	result := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		capturetest.Bench(b, func(ctx context.Context) {
			tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("shop")
			at := time.Unix(1, 0)
			_, s := tracer.Start(ctx, "GET /a", trace.WithTimestamp(at))
			s.End(trace.WithTimestamp(at.Add(time.Second)))
			shop(ctx)
		})
	})
	if got := result.Extra["GET_/a-ns/op"]; got != 1e9 {
		t.Errorf("GET_/a-ns/op %v, want a second; %v", got, result.Extra)
	}
	if result.Extra["spans/op"] != 4 || result.Extra["checkout-ns/op"] <= 0 {
		t.Errorf("%v", result.Extra)
	}
}
