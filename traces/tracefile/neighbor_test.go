package tracefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// phoenixSpan is a span as Arize Phoenix's client and API give it.
const phoenixSpan = `{"name":"ChatCompletion","context":{"trace_id":"92571a7aa64e3c418dca90f13e461d6f","span_id":"b339ed01e99c00b6"},` +
	`"span_kind":%q,"parent_id":"00000000000000b7","start_time":"2026-11-30T08:50:55.726236+00:00","end_time":"2026-11-30T08:50:56+00:00",` +
	`"status_code":%q,"status_message":%q,"attributes":{%s"llm":{"tokens":5}},` +
	`"events":[{"name":"exception","timestamp":"2026-11-30T08:50:55.8+00:00","attributes":{"exception.message":"no"}}]}`

// TestPhoenix keeps kind and status, which are not where Python has them.
func TestPhoenix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, code, message, attributes string
		want                            *traces.Span
	}{
		{"LLM", "ERROR", "too long", "", &traces.Span{
			Status:     traces.Status{Code: traces.StatusError, Message: "too long"},
			Attributes: []traces.Attribute{str("openinference.span.kind", "LLM")},
		}},
		{"CHAIN", "OK", "", `"openinference.span.kind":"AGENT",`, &traces.Span{
			Status:     traces.Status{Code: traces.StatusOK},
			Attributes: []traces.Attribute{str("openinference.span.kind", "AGENT")},
		}},
		{"SERVER", "UNSET", "", "", &traces.Span{Kind: traces.KindServer}},
	} {
		want := tt.want
		want.TraceID = traces.TraceID{0x92, 0x57, 0x1a, 0x7a, 0xa6, 0x4e, 0x3c, 0x41, 0x8d, 0xca, 0x90, 0xf1, 0x3e, 0x46, 0x1d, 0x6f}
		want.SpanID, want.ParentID = traces.SpanID{0xb3, 0x39, 0xed, 0x01, 0xe9, 0x9c, 0x00, 0xb6}, traces.SpanID{7: 0xb7}
		want.Name, want.StartUnixNano, want.EndUnixNano = "ChatCompletion", 1_796_028_655_726_236_000, 1_796_028_656_000_000_000
		want.Attributes = append(want.Attributes, kv("llm", traces.Map(kv("tokens", traces.Int(5)))))
		want.Events = []traces.Event{{Name: "exception", TimeUnixNano: 1_796_028_655_800_000_000, Attributes: []traces.Attribute{str("exception.message", "no")}}}
		want.Resource, want.Scope = &traces.Resource{}, &traces.Scope{}
		line := fmt.Sprintf(phoenixSpan, tt.kind, tt.code, tt.message, tt.attributes)
		for name, file := range map[string]string{"line": line + "\n", "array": "[" + line + "]", "answer": `{"data":[` + line + `]}`} {
			got, report := read(t, []byte(file))
			if d := diff([]*traces.Span{want}, got); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.kind, name, d)
			}
			if report.Total != 0 || report.Files[0].Format != tracefile.Phoenix {
				t.Errorf("%s, %s: report %+v", tt.kind, name, report)
			}
		}
	}
}

// TestWrappedAnswers reads OTLP inside of what an API has put around it.
func TestWrappedAnswers(t *testing.T) {
	t.Parallel()
	line := strings.TrimSpace(spanLine("a"))
	for _, file := range []string{
		`{"result":` + line + `}`,
		`{"result":` + line + "}\n" + `{"result":` + line + "}\n",
		"{\n \"result\": " + line + "\n}",
	} {
		got, report := read(t, []byte(file))
		if want := strings.Count(file, "result"); len(got) != want || report.Total != 0 || report.Files[0].Format != tracefile.OTLPJSONLines {
			t.Errorf("%.40q: %d spans, report %+v", file, len(got), report)
		}
	}
}

// TestLinesBehindAPrefix reads what a log has put something in front of.
func TestLinesBehindAPrefix(t *testing.T) {
	t.Parallel()
	a, b := strings.TrimSpace(spanLine("a")), strings.TrimSpace(spanLine("b"))
	resourceSpans := strings.TrimSuffix(strings.TrimPrefix(a, `{"resourceSpans":[`), "]}") // as Java's exporter logs it
	long := strings.TrimSpace(spanLine(strings.Repeat("n", 3<<20)))
	for _, tt := range []struct{ name, file, spans, skipped string }{
		{"docker compose logs", "shop-1  | " + a + "\nshop-1  | " + b + "\n", "a b", ""},
		{
			"other programs between", "shop-1  | " + a + "\ndb-1  | ready {really}\nweb-1  | {\"level\":\"info\"}\n" + b, "a b",
			"-:2: line passed over: not JSON\n-:3: JSON object with keys \"level\"\n",
		},
		{"Java agent", "[otel.javaagent 2026-01-31 10:00:00:123 +0000] [BatchSpanProcessor_WorkerThread-1] INFO OtlpJsonLoggingSpanExporter - " + resourceSpans + "\n", "a", ""},
		{"Kubernetes", "2026-01-31T10:00:00.123Z stdout F " + a + "\r\n", "a", ""},
		{"colors", "\x1b[36mshop-1  |\x1b[0m " + a + "\n", "a", ""},
		{"text before it", "starting\nshop-1  | " + a + "\n", "a", "-:1: line passed over: not JSON\n"},
		{"torn", "shop-1  | " + a[:70] + "\nshop-1  | " + b + "\n", "b", "-:1: line passed over: JSON ends in the middle of a value\n"},
		{"something behind it", a + " x\n" + b + "\n", "a b", "-:1: line passed over: not JSON\n"},
		{"something behind an array", "[" + a + "] x\n" + b + "\n", "a b", "-:1: line passed over: not JSON\n"},
		{"arrays of others", a + "\n[{\"x\":1}]\n{\"y\":1}\n", "a", "-:2: JSON array of objects with keys \"x\"\n-:3: JSON object with keys \"y\"\n"},
		{"long line", "shop-1  | " + long + "\nshop-1  | " + b + "\n", strings.Repeat("n", 3<<20) + " b", ""},
		{"prefix that is none", b + "\n" + strings.Repeat("x", 2000) + a + "\n", "b", "-:2: line passed over: not JSON\n"},
	} {
		for _, workers := range []int{1, 2} {
			got, report := read(t, []byte(tt.file), tracefile.WithWorkers(workers))
			if s := spanNames(got); s != tt.spans || skipped(report) != tt.skipped {
				t.Errorf("%s, %d workers: spans %.50q, want %.50q, skipped:\n%swant\n%s", tt.name, workers, s, tt.spans, skipped(report), tt.skipped)
			}
		}
	}
}

// TestJaegerParentInAnotherTrace is a link, for no tree can hold it.
func TestJaegerParentInAnotherTrace(t *testing.T) {
	t.Parallel()
	got, _ := read(t, []byte(`{"traceID":"1","processes":{},"spans":[{"traceID":"1","spanID":"2","references":[`+
		`{"refType":"CHILD_OF","traceID":"9","spanID":"3"},{"refType":"FOLLOWS_FROM","traceID":"1","spanID":"4"},`+
		`{"refType":"CHILD_OF","traceID":"1","spanID":"5"},{"refType":"CHILD_OF","traceID":"1","spanID":"6"}]}]}`))
	link := func(trace, span byte) traces.Link {
		return traces.Link{TraceID: traces.TraceID{15: trace}, SpanID: traces.SpanID{7: span}}
	}
	want := []*traces.Span{{ParentID: traces.SpanID{7: 5}, Links: []traces.Link{link(9, 3), link(1, 4), link(1, 6)}}}
	if d := diff(want, []*traces.Span{{ParentID: got[0].ParentID, Links: got[0].Links}}); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestJaegerAtTheEndOfTime keeps an end that is past it after the start.
func TestJaegerAtTheEndOfTime(t *testing.T) {
	t.Parallel()
	got, _ := read(t, []byte(`{"traceID":"1","processes":{},"spans":[{"traceID":"1","spanID":"2","startTime":18446744073709551,"duration":18446744073709551}]}`))
	if got[0].Duration() < 0 || got[0].Open() {
		t.Errorf("start %d, end %d", got[0].StartUnixNano, got[0].EndUnixNano)
	}
}

// TestJaegerSays keeps what Jaeger says of its spans, writes it back, and tells
// what it says of anything else.
func TestJaegerSays(t *testing.T) {
	t.Parallel()
	const file = `{"data":[{"traceID":"1","spans":[` +
		`{"traceID":"1","spanID":"2","operationName":"a","warnings":["clock skew","dup\"licate"],"tags":[{"key":"k","type":"string","value":"v"}]},` +
		`{"traceID":"1","spanID":"3","operationName":"b","warnings":[]}],"processes":{},"warnings":["trace is cut"]}],` +
		`"total":1,"errors":[{"code":500,"msg":"one shard is down"}]}`
	got, report := read(t, []byte(file))
	want := []traces.Attribute{kv("@jaeger@warnings", traces.Array(traces.String("clock skew"), traces.String(`dup"licate`))), str("k", "v")}
	if d := diff([]*traces.Span{{Attributes: want}, {}}, []*traces.Span{{Attributes: got[0].Attributes}, {Attributes: got[1].Attributes}}); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
	const said = "-:1: Jaeger warns of the trace: \"trace is cut\"\n-:1: the answer tells of an error: \"one shard is down\"\n"
	if s := skipped(report); s != said {
		t.Errorf("skipped\n%swant\n%s", s, said)
	}
	data, losses := written(t, tracefile.Jaeger, got)
	if losses.Total != 0 || strings.Count(string(data), `"warnings":["clock skew","dup\"licate"]`) != 1 || strings.Contains(string(data), "@jaeger") {
		t.Errorf("lost %v, wrote %s", lossText(losses), data)
	}
	back, report := read(t, data)
	if d := diff(got, back); d != "" || report.Total != 0 {
		t.Errorf("skipped %q, read back (-want +got):\n%s", skipped(report), d)
	}
	_, report = read(t, []byte(spanLine("a")+`{"data":null,"total":0,"errors":[{"msg":"gone"}]}`))
	if s, want := skipped(report), "-:2: an error: \"gone\"\n"; s != want {
		t.Errorf("an error alone: skipped\n%swant\n%s", s, want)
	}
	// An attribute of that name that is no list of texts is a tag as any other.
	got[0].Attributes = []traces.Attribute{kv("@jaeger@warnings", traces.Array(traces.Int(1)))}
	if data, _ := written(t, tracefile.Jaeger, got[:1]); !strings.Contains(string(data), `"key":"@jaeger@warnings"`) {
		t.Errorf("wrote %s", data)
	}
}
