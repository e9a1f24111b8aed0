package render_test

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/textwidth"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// withStack is a span with an exception, and one below it.
func withStack(stack string) *traces.Set {
	s := span("pay", 1, 0, "", 0, 5*time.Millisecond)
	s.Events = []traces.Event{{Name: "exception", TimeUnixNano: t0 + 1_000_000, Attributes: []traces.Attribute{
		attr("exception.type", traces.String("*pay.Refused")), attr("exception.stacktrace", traces.String(stack)),
		attr("exception.escaped", traces.Bool(true)),
	}}}
	return traces.NewSet([]*traces.Span{s, span("below", 2, 1, "", 0, time.Millisecond)})
}

func TestTreeStack(t *testing.T) {
	t.Parallel()
	many := "at x\n" + strings.Repeat("at y\n", 60)
	for name, c := range map[string]struct {
		stack, want string
		opts        []render.TreeOption
	}{
		"a Go program's": {stack: `goroutine 19 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/waymark-trace/waymark/middleware.(*exchange).recover(0xc0000b4000, {0x7f0, 0xc000})
	/home/ada/go/pkg/mod/github.com/waymark-trace/waymark@v0.1.0/middleware/panic.go:31 +0x8f
panic({0x6b0a40?, 0x7a5b20?})
	/usr/local/go/src/runtime/panic.go:785 +0x132
main.(*shop).charge(...)
	/home/ada/shop/charge.go:42
main.main.func1({0x7b3c48, 0xc0000d8000}, 0xc0000c6000)
	/home/ada/shop/main.go:20 +0x1b
net/http.HandlerFunc.ServeHTTP(0xc000016180?, {0x7b3c48?, 0xc0000d8000?}, 0x0?)
	/usr/local/go/src/net/http/server.go:2220 +0x29
go.opentelemetry.io/otel/sdk/trace.(*recordingSpan).End(0xc0)
	/home/ada/go/pkg/mod/go.opentelemetry.io/otel/sdk@v1.47.0/trace/span.go:1 +0x1
created by main.work in goroutine 1
	/home/ada/shop/main.go:12 +0x30
created by runtime.main in goroutine 1
	/usr/local/go/src/runtime/proc.go:1 +0x30
`, want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    │       main.(*shop).charge /home/ada/shop/charge.go:42
    │       main.main.func1 /home/ada/shop/main.go:20
    │       net/http.HandlerFunc.ServeHTTP /usr/local/go/src/net/http/server.go:2220
    │       created by main.work /home/ada/shop/main.go:12
    │       … 5 frames of the runtime and of tracing left out
    └── below (1.00 ms)`},
		"a Go program's, cut": {stack: "goroutine 19 [running]:\nmain.f(0x1)\n\t/home/ada/f.go:1 +0x1\nmain.g(0x", want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    │       main.f /home/ada/f.go:1
    │       main.g(0x
    └── below (1.00 ms)`},
		"another language's": {stack: "Traceback (most recent call last):\r\n  File \"a.py\", line 3\n\tat runtime.x\n", want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    │       Traceback (most recent call last):
    │         File "a.py", line 3
    │           at runtime.x
    └── below (1.00 ms)`},
		"hostile": {stack: "\x1b[31m\n\x07", want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    │       \x1b[31m
    │       \x07
    └── below (1.00 ms)`},
		"empty": {stack: "", want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    └── below (1.00 ms)`},
		"long": {stack: many, want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
    │       at x
` + strings.Repeat("    │       at y\n", 49) + `    │       … 11 more lines
    └── below (1.00 ms)`},
		"as long as may be": {stack: strings.TrimSuffix(strings.Repeat("at y\n", 50), "\n"), want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception [exception.type='*pay.Refused', exception.escaped=True]
` + strings.Repeat("    │       at y\n", 50) + `    └── below (1.00 ms)`},
		"hidden": {stack: "at x", opts: []render.TreeOption{render.WithHiddenKeys("exception.*")}, want: `
└── pay (5.00 ms)
    │   • 1.00 ms exception
    └── below (1.00 ms)`},
		"narrow": {stack: "at some.function", opts: []render.TreeOption{render.WithWidth(20)}, want: `
└── pay (5.00 ms)
    │   • 1.00 ms e…
    │       at some…
    └── below (1.00…`},
	} {
		opts := append([]render.TreeOption{render.WithEvents()}, c.opts...)
		if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), render.TreeString(withStack(c.stack), opts...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestTreeStackThatIsNoText stays an attribute.
func TestTreeStackThatIsNoText(t *testing.T) {
	t.Parallel()
	set := withStack("")
	span := set.Roots()[0].Span()
	span.Events[0].Attributes = []traces.Attribute{attr("exception.stacktrace", traces.Int(7))}
	if got := render.TreeString(set, render.WithEvents()); !strings.Contains(got, "exception [exception.stacktrace=7]\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestTreeStackOfThisProgram takes what the runtime really prints.
func TestTreeStackOfThisProgram(t *testing.T) {
	t.Parallel()
	got := render.TreeString(withStack(string(debug.Stack())), render.WithEvents())
	for _, want := range []string{`testing\.tRunner \S+testing\.go:\d+\n`, `created by testing\.\(\*T\)\.Run \S+testing\.go:\d+\n`, `… 2 frames of the runtime`} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, bad := range []string{"debug.Stack", "0x", "render_test"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s is in\n%s", bad, got)
		}
	}
}

func TestTreeTraceLines(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	of := func(trace byte, service string, s *traces.Span) *traces.Span {
		s.TraceID[0] = trace
		if service != "" {
			s.Resource = &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String(service))}}
		}
		return s
	}
	untimed := of(1, "", span("untimed", 9, 77, "", 0, 0))
	untimed.StartUnixNano, untimed.EndUnixNano = 0, 0
	set := traces.NewSet([]*traces.Span{
		of(1, "web", span("a", 1, 0, "", 0, 5*ms)), of(2, "ev\x1bil", span("b", 1, 0, "", ms, 5*ms)), of(1, "pay", span("orphan", 2, 88, "", 2*ms, 3*ms)),
		of(1, "web", span("below", 3, 1, "", 2*ms, 3*ms)), untimed,
	})
	// A root whose start is not known stands first, as in every set.
	want := `
01000000000000000000000000000001  -  -
└── untimed (0.0 µs)
01000000000000000000000000000001  2023-11-14T22:13:20.000Z  web
└── a (5.00 ms)
    └── below (1.00 ms)
01000000000000000000000000000001  2023-11-14T22:13:20.002Z  pay
└── orphan (1.00 ms)
02000000000000000000000000000001  2023-11-14T22:13:20.001Z  ev\x1bil
└── b (4.00 ms)`[1:]
	id := set.Traces()[0].ID().String()
	want = strings.ReplaceAll(strings.ReplaceAll(want, "01000000000000000000000000000001", id), "02000000000000000000000000000001", "02"+id[2:])
	if diff := cmp.Diff(want, render.TreeString(set, render.WithTraceLines())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := render.TreeString(traces.NewSet(nil), render.WithTraceLines()); got != "(no spans)" {
		t.Errorf("of nothing: %q", got)
	}
	for line := range strings.Lines(render.TreeString(set, render.WithTraceLines(), render.WithWidth(50), render.WithColor())) {
		if n := strings.Count(regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(line, ""), "") - 2; n > 50 {
			t.Errorf("%d characters in %q", n, line)
		}
	}
}

// TestTreeWidth counts columns, not characters.
func TestTreeWidth(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	set := traces.NewSet([]*traces.Span{
		span("日本語です", 1, 0, "", 0, 5*ms), span("e\u0301e\u0301e\u0301", 2, 1, "", 0, ms), span("👩\u200d👧👩\u200d👧", 3, 1, "", ms, 2*ms),
	})
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "└── 日本語です (5.00 ms)\n    ├── e\u0301e\u0301e\u0301 (1.00 ms)\n    └── 👩\u200d👧👩\u200d👧 (1.00 ms)"},
		{24, "└── 日本語です (5.00 ms)\n    ├── e\u0301e\u0301e\u0301 (1.00 ms)\n    └── 👩\u200d👧👩\u200d👧 (1.00 ms)"},
		{23, "└── 日本語です (5.00 m…\n    ├── e\u0301e\u0301e\u0301 (1.00 ms)\n    └── 👩\u200d👧👩\u200d👧 (1.00 ms)"},
		{11, "└── 日本語…\n    ├── e\u0301e\u0301…\n    └── 👩\u200d👧…"},
		{12, "└── 日本語…\n    ├── e\u0301e\u0301e\u0301…\n    └── 👩\u200d👧…"},
		{1, "…\n…\n…"},
	} {
		if diff := cmp.Diff(c.want, render.TreeString(set, render.WithWidth(c.width))); diff != "" {
			t.Errorf("%d columns: -want +got\n%s", c.width, diff)
		}
	}
	for _, r := range render.TreeString(set, render.WithWidth(11)) {
		if unicode.IsControl(r) && r != '\n' {
			t.Errorf("%U", r)
		}
	}
}

// FuzzTree draws hostile names and stacks at any width: no line is wider, none
// controls a terminal, and every color ends on its line.
func FuzzTree(f *testing.F) {
	f.Add("GET /", "goroutine 1 [running]:\nmain.f(0x1)\n\t/a.go:1 +0x1\n", uint8(20))
	f.Add("日本語\x1b[31m", "at x\r\n\tat y", uint8(7))
	f.Add("👩\u200d👧e\u0301", "goroutine ", uint8(1))
	f.Fuzz(func(t *testing.T, name, stack string, width uint8) {
		set := withStack(stack)
		s := set.Roots()[0].Span()
		s.Name, s.Resource = name, &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String(name))}}
		colored := render.TreeString(set, render.WithTraceLines(), render.WithEvents(), render.WithColor(), render.WithWidth(int(width)))
		plain := render.TreeString(set, render.WithTraceLines(), render.WithEvents(), render.WithWidth(int(width)))
		if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colored, ""); got != plain {
			t.Errorf("without its colors\n%q\nwant\n%q", got, plain)
		}
		for line := range strings.SplitSeq(plain, "\n") {
			if n := textwidth.Of(line); width > 0 && n > int(width) {
				t.Errorf("%d columns, want at most %d: %q", n, width, line)
			}
			if strings.ContainsFunc(line, unicode.IsControl) || !utf8.ValidString(line) {
				t.Errorf("%q controls a terminal, or is no UTF-8", line)
			}
		}
		for line := range strings.SplitSeq(colored, "\n") {
			if on, off := strings.Count(line, "\x1b["), strings.Count(line, "\x1b[0m"); on != 2*off {
				t.Errorf("%d colors begin and %d end in %q", on-off, off, line)
			}
		}
	})
}
