package render_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

func TestTreeVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			want := strings.TrimPrefix(v.tree, "\n")
			if diff := cmp.Diff(want, render.TreeString(v.set())); diff != "" {
				t.Errorf("TreeString: -want +got\n%s", diff)
			}
		})
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for ns, want := range map[int64]string{
		0: "0.0 µs", 1: "0.0 µs", 49: "0.0 µs", 50: "0.1 µs", 999: "1.0 µs", 1000: "1.0 µs",
		999_949: "999.9 µs", 999_950: "1.00 ms", 999_999: "1.00 ms", 1_000_000: "1.00 ms", 1_530_000: "1.53 ms",
		999_994_000: "999.99 ms", 999_995_000: "1.00 s", 999_999_999: "1.00 s", 1_000_000_000: "1.00 s",
		61_000_000_000: "61.00 s", -5000: "-5.0 µs", -2_000_000_000: "-2.00 s",
		math.MaxInt64: "9223372036.85 s", math.MinInt64: "-9223372036.85 s",
	} {
		if got := render.FormatDuration(ns); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestFormatValue(t *testing.T) {
	t.Parallel()
	deep := traces.Int(1)
	for range 100_000 {
		deep = traces.Array(deep)
	}
	for _, c := range []struct {
		in   traces.Value
		want string
	}{
		{traces.Double(math.NaN()), "nan"},
		{traces.Double(math.Inf(1)), "inf"},
		{traces.Double(math.Inf(-1)), "-inf"},
		{traces.Double(math.Copysign(0, -1)), "-0.0"},
		{traces.Double(1e15), "1000000000000000.0"},
		{traces.Double(1e16), "1e+16"},
		{traces.Double(0.0001), "0.0001"},
		{traces.Double(0.00001), "1e-05"},
		{traces.Double(1.7976931348623157e308), "1.7976931348623157e+308"},
		{traces.Int(math.MinInt64), "-9223372036854775808"},
		{traces.String("\x1b[31m\u00a0\u202e\u2028\U000e0001"), `'\x1b[31m\xa0\u202e\u2028\U000e0001'`},
		{traces.String("a\xffb"), `'a\xffb'`},
		{traces.String(`\'`), `"\\'"`},
		{traces.Bytes([]byte("it's \"\\\n\x7f")), `b'it\'s "\\\n\x7f'`},
		{traces.Bytes([]byte("it's")), `b"it's"`},
		{traces.Map(), "{}"},
		{deep, strings.Repeat("[", 33) + "…" + strings.Repeat("]", 33)},
	} {
		if got := render.FormatValue(c.in); got != c.want {
			t.Errorf("FormatValue(%v) = %s, want %s", c.in.Kind(), got, c.want)
		}
	}
}

func TestTreeOptions(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	failed := span("pay", 2, 1, "web", ms, 2*ms, attr("b", traces.Int(1)), attr("a", traces.String("long value")),
		attr("net.peer", traces.Int(9)), attr("code.x", traces.Int(3)))
	failed.Status = traces.Status{Code: traces.StatusError, Message: "card\nrefused"}
	failed.Events = []traces.Event{{Name: "exception", TimeUnixNano: t0 + 1_500_000, Attributes: []traces.Attribute{
		attr("exception.message", traces.String("no funds")),
	}}, {Name: "e2"}}
	open := span("wait", 3, 2, "", 2*ms, 0)
	open.EndUnixNano = 0
	set := traces.NewSet([]*traces.Span{span("root", 1, 0, "web", 0, 5*ms), failed, open, span("next", 4, 1, "", 3*ms, 4*ms)})
	for _, c := range []struct {
		name string
		opts []render.TreeOption
		want string
	}{
		{"default", nil, `
└── root (5.00 ms) {scope=web}
    ├── pay (1.00 ms) {scope=web} [ERROR] [b=1, a='long value', net.peer=9]
    │   └── wait (0.0 µs)
    └── next (1.00 ms)`},
		{"sorted, hidden, open, status", []render.TreeOption{
			render.WithSortedAttributes(), render.WithHiddenKeys("net.*"), render.WithOpenMark(), render.WithStatusText(),
		}, `
└── root (5.00 ms) {scope=web}
    ├── pay (1.00 ms) {scope=web} [ERROR: card\nrefused] [a='long value', b=1]
    │   └── wait (0.0 µs) (open)
    └── next (1.00 ms)`},
		{"events, all keys, short values", []render.TreeOption{
			render.WithEvents(), render.WithoutHiddenKeys(), render.WithMaxValue(6),
		}, `
└── root (5.00 ms) {scope=web}
    ├── pay (1.00 ms) {scope=web} [ERROR] [b=1, a='long…, net.peer=9, code.x=3]
    │   │   • 500.0 µs exception [exception.message='no f…]
    │   │   • e2
    │   └── wait (0.0 µs)
    └── next (1.00 ms)`},
		{"width", []render.TreeOption{render.WithWidth(24)}, `
└── root (5.00 ms) {sco…
    ├── pay (1.00 ms) {…
    │   └── wait (0.0 µ…
    └── next (1.00 ms)`},
		{"color", []render.TreeOption{render.WithColor(), render.WithHiddenKeys("a", "b", "net.*")}, `
└── ` + "\x1b[1mroot\x1b[0m (5.00 ms) \x1b[2m{scope=web}\x1b[0m" + `
    ├── ` + "\x1b[1mpay\x1b[0m (1.00 ms) \x1b[2m{scope=web}\x1b[0m \x1b[31m[ERROR]\x1b[0m" + `
    │   └── ` + "\x1b[1mwait\x1b[0m (0.0 µs)" + `
    └── ` + "\x1b[1mnext\x1b[0m (1.00 ms)"},
		{"color and width", []render.TreeOption{render.WithColor(), render.WithWidth(22)}, `
└── ` + "\x1b[1mroot\x1b[0m (5.00 ms) \x1b[2m{s…\x1b[0m" + `
    ├── ` + "\x1b[1mpay\x1b[0m (1.00 ms)…" + `
    │   └── ` + "\x1b[1mwait\x1b[0m (0.0…" + `
    └── ` + "\x1b[1mnext\x1b[0m (1.00 ms)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want[1:], render.TreeString(set, c.opts...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestTreeMarks(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	set := traces.NewSet([]*traces.Span{
		span("b", 2, 3, "", 2*ms, 3*ms), span("a", 3, 2, "", 1*ms, 4*ms), // a circle
		span("self", 4, 4, "", 5*ms, 6*ms),
		span("orphan", 5, 99, "", 0, ms),
		span("again", 5, 99, "", 7*ms, 8*ms),
	})
	want := `
├── orphan (1.00 ms)
├── a (3.00 ms) (cycle)
│   └── b (1.00 ms)
├── self (1.00 ms) (cycle)
└── again (1.00 ms) (duplicate)`[1:]
	if diff := cmp.Diff(want, render.TreeString(set)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A name must not be able to end its line or to command the terminal.
func TestTreeHostile(t *testing.T) {
	t.Parallel()
	set := hostileSet()
	got := render.TreeString(set, render.WithEvents(), render.WithStatusText())
	if lines := strings.Count(got, "\n") + 1; lines != 2*set.Len() {
		t.Errorf("%d lines, want %d: a line for each span and event", lines, 2*set.Len())
	}
	if !utf8.ValidString(got) {
		t.Error("not UTF-8")
	}
	for _, r := range got {
		if r != '\n' && r != '\u200d' && !unicode.IsGraphic(r) {
			t.Errorf("%U reaches the terminal", r)
		}
	}
}

func TestTreeDeep(t *testing.T) {
	t.Parallel()
	const depth = 20_000
	spans := make([]*traces.Span, depth)
	for i := range spans {
		s := span("s", 0, 0, "", 0, time.Duration(depth-i))
		s.SpanID = traces.SpanID{0, 0, 0, 0, 1, byte(i >> 16), byte(i >> 8), byte(i)}
		if i > 0 {
			s.ParentID = spans[i-1].SpanID
		}
		spans[i] = s
	}
	got := render.TreeString(traces.NewSet(spans))
	if lines := strings.Count(got, "\n") + 1; lines != depth {
		t.Errorf("%d lines, want %d", lines, depth)
	}
	lines := strings.Split(got, "\n")
	for depth, want := range map[int]string{64: strings.Repeat(" ", 4*64) + "└── s (", 65: strings.Repeat(" ", 4*64) + "└── … depth 65: s ("} {
		if !strings.HasPrefix(lines[depth], want) {
			t.Errorf("at depth %d: %q, want %q", depth, lines[depth], want)
		}
	}
	if !strings.HasSuffix(got, "└── … depth 19999: s (0.0 µs)") {
		t.Errorf("ends with %q", got[len(got)-50:])
	}
}

type brokenWriter struct{}

var errBroken = errors.New("pipe gone")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestTreeWriterError(t *testing.T) {
	t.Parallel()
	err := render.Tree(brokenWriter{}, vectors()[1].set())
	if !errors.Is(err, errBroken) || err.Error() != "render: write tree: pipe gone" {
		t.Errorf("err = %v", err)
	}
}
