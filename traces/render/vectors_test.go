package render_test

import (
	"math"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// t0 is the instant that the vectors count from.
const t0 = 1_700_000_000_000_000_000

// span makes a span of trace 1. Times are since t0.
func span(name string, id, parent byte, scope string, start, end time.Duration, attrs ...traces.Attribute) *traces.Span {
	s := &traces.Span{
		TraceID: traces.TraceID{15: 1}, Name: name,
		StartUnixNano: uint64(t0 + start), EndUnixNano: uint64(t0 + end),
		Attributes: attrs, Resource: &traces.Resource{}, Scope: &traces.Scope{Name: scope},
	}
	s.SpanID[7], s.ParentID[7] = id, parent
	return s
}

func status(s *traces.Span, code traces.StatusCode) *traces.Span {
	s.Status.Code = code
	return s
}

func attr(key string, v traces.Value) traces.Attribute { return traces.Attribute{Key: key, Value: v} }

type vector struct {
	name  string
	spans []*traces.Span
	tree  string
}

func (v vector) set() *traces.Set { return traces.NewSet(v.spans) }

// vectors are what an existing renderer of such trees printed for these spans.
func vectors() []vector {
	const ms, µs = time.Millisecond, time.Microsecond
	str, num := traces.String, traces.Int
	return []vector{
		{name: "V1 empty", tree: "(no spans)"},
		{
			name: "V2 cell",
			spans: []*traces.Span{
				span("evaluate", 2, 1, "ommx", 12*ms, 13530*µs),
				span("ommx_trace_cell", 1, 0, "ommx.tracing", 0, 14320*µs),
			},
			tree: `
└── ommx_trace_cell (14.32 ms) {scope=ommx.tracing}
    └── evaluate (1.53 ms) {scope=ommx}`,
		},
		{
			name: "V3 block",
			spans: []*traces.Span{
				span("evaluate", 2, 1, "ommx", 100*µs, 109*µs),
				span("ommx_trace_block", 1, 0, "ommx.tracing", 0, 242*µs),
			},
			tree: `
└── ommx_trace_block (242.0 µs) {scope=ommx.tracing}
    └── evaluate (9.0 µs) {scope=ommx}`,
		},
		{
			name: "V4 run",
			spans: []*traces.Span{
				span("reduce_capabilities", 4, 3, "ommx", 200*µs, 206*µs),
				span("convert", 3, 2, "ommx.adapter.highs", 100*µs, 6000*µs),
				span("call", 5, 2, "ommx.adapter.highs", 6010*µs, 6098*µs),
				span("evaluate", 7, 6, "ommx", 6110*µs, 6127*µs),
				span("decode", 6, 2, "ommx.adapter.highs", 6100*µs, 6296*µs),
				span("solve", 2, 1, "ommx.adapter.highs", 50*µs, 6310*µs,
					attr("adapter", str("ommx_highs_adapter.adapter.OMMXHighsAdapter"))),
				span("Run", 1, 0, "ommx.experiment", 0, 18870*µs, attr("ommx.run.id", num(0))),
			},
			tree: `
└── Run (18.87 ms) {scope=ommx.experiment} [ommx.run.id=0]
    └── solve (6.26 ms) {scope=ommx.adapter.highs} [adapter='ommx_highs_adapter.adapter.OMMXHighsAdapter']
        ├── convert (5.90 ms) {scope=ommx.adapter.highs}
        │   └── reduce_capabilities (6.0 µs) {scope=ommx}
        ├── call (88.0 µs) {scope=ommx.adapter.highs}
        └── decode (196.0 µs) {scope=ommx.adapter.highs}
            └── evaluate (17.0 µs) {scope=ommx}`,
		},
		{
			name: "V5 order",
			spans: []*traces.Span{
				span("second", 3, 1, "app.db", 4*ms, 9*ms),
				span("first", 2, 1, "app.db", 1*ms, 3*ms),
				span("root", 1, 0, "app", 0, 10*ms),
			},
			tree: `
└── root (10.00 ms) {scope=app}
    ├── first (2.00 ms) {scope=app.db}
    └── second (5.00 ms) {scope=app.db}`,
		},
		{
			name: "V6 errors",
			spans: []*traces.Span{
				status(span("charge", 2, 1, "pay", 1*ms, 2*ms, attr("order", str("A-1"))), traces.StatusError),
				status(span("checkout", 1, 0, "web", 0, 3*ms), traces.StatusError),
				status(span("ok", 3, 1, "web", 2*ms, 2500*µs), traces.StatusOK),
			},
			tree: `
└── checkout (3.00 ms) {scope=web} [ERROR]
    ├── charge (1.00 ms) {scope=pay} [ERROR] [order='A-1']
    └── ok (500.0 µs) {scope=web}`,
		},
		{
			name: "V9 hidden keys",
			spans: []*traces.Span{span("work", 1, 0, "svc", 0, ms,
				attr("busy_ns", num(12)), attr("idle_ns", num(3)), attr("target", str("a::b")),
				attr("thread.id", num(7)), attr("thread.name", str("main")), attr("code.file.path", str("x.go")),
				attr("code.line.number", num(9)), attr("codec", str("zstd")), attr("k", num(1)))},
			tree: `
└── work (1.00 ms) {scope=svc} [thread.name='main', codec='zstd', k=1]`,
		},
		{name: "V11 value types", spans: []*traces.Span{span("t", 1, 0, "", 0, ms, valueTypes()...)}, tree: `
└── t (1.00 ms) [s='plain', q="it's", both='a\'b"c', nl='a\nb\tc', uni='日本µ', b=True, f=False, i=-7, d=0.5, ` +
			`d1=3.0, big=1e+20, small=1e-07, arr=['x', 1, True], empty=[], kv={'a': 1, 'b': [2]}, ` +
			`by=b'\x00\xffA', none=None]`},
		{
			name:  "V14 page",
			spans: []*traces.Span{span("GET /a?<b>&c", 1, 0, "web", 0, ms, attr("u", str("it's")))},
			tree: `
└── GET /a?<b>&c (1.00 ms) {scope=web} [u="it's"]`,
		},
	}
}

func valueTypes() []traces.Attribute {
	str := traces.String
	return []traces.Attribute{
		attr("s", str("plain")), attr("q", str("it's")), attr("both", str(`a'b"c`)), attr("nl", str("a\nb\tc")),
		attr("uni", str("日本µ")), attr("b", traces.Bool(true)), attr("f", traces.Bool(false)),
		attr("i", traces.Int(-7)), attr("d", traces.Double(0.5)), attr("d1", traces.Double(3)),
		attr("big", traces.Double(1e20)), attr("small", traces.Double(1e-7)),
		attr("arr", traces.Array(str("x"), traces.Int(1), traces.Bool(true))), attr("empty", traces.Array()),
		attr("kv", traces.Map(attr("a", traces.Int(1)), attr("b", traces.Array(traces.Int(2))))),
		attr("by", traces.Bytes([]byte{0, 0xff, 'A'})), attr("none", traces.Value{}),
	}
}

// hostileTexts are names that attack whatever prints them.
func hostileTexts() []string {
	return []string{
		"\x1b[2J\x1b]0;owned\a", "a\nb\r\tc", "\x00\x7f\u0085\u009b31m", "\u202egnp.exe\u2066", "bad\xff\xfeutf8",
		"\u2028\u2029", `</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "<!--<script>",
		`"><svg onload=alert(1)>`, `javascript:alert(1)`, "]]>", `\`, `'"`, "`${alert(1)}`", strings.Repeat("x", 5000), "",
		"../../etc/passwd", "CON", `</style><style>*{display:none}`, "\ufeff", "\U0001f469\u200d\U0001f680",
	}
}

func hostileSet() *traces.Set {
	var spans []*traces.Span
	for i, text := range hostileTexts() {
		s := span(text, byte(i+1), byte(i/2), text, time.Duration(i)*time.Millisecond, time.Second,
			attr(text, traces.String(text)), attr("url.full", traces.String(text)),
			attr("nan", traces.Double(math.NaN())), attr("inf", traces.Array(traces.Double(math.Inf(-1)))),
			attr("map", traces.Map(attr(text, traces.Bytes([]byte(text))))))
		s.Resource = &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String(text))}}
		s.Status = traces.Status{Code: traces.StatusError, Message: text}
		s.TraceState = text
		s.Events = []traces.Event{{Name: text, TimeUnixNano: t0 + 5, Attributes: []traces.Attribute{attr(text, traces.String(text))}}}
		spans = append(spans, s)
	}
	return traces.NewSet(spans)
}
