package tracefile_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// TestPassedOver reads on over what is wrong, and says what and where.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	a, b := spanLine("a"), spanLine("b")
	oneLine := strings.TrimSuffix(a, "\n")
	span := `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"x"%s}`
	withField := func(f string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + fmt.Sprintf(span, f) + `]}]}]}` + "\n"
	}
	for _, tt := range []struct {
		name, file, spans, skipped string
	}{
		{"torn last line", a + b[:70], "a", "-:2: line passed over: JSON ends in the middle of a value\n"},
		{"torn line in the middle", a + b[:70] + "\n" + b, "a b", "-:2: line passed over: JSON ends in the middle of a value\n"},
		{"two torn lines", a + b[:70] + "\n" + b[:60] + "\n" + b, "a b", "-:2: line passed over: JSON ends in the middle of a value (2 times)\n"},
		{"metrics and logs", `{"resourceMetrics":[]}` + "\n" + a + `{"resourceLogs":[{}]}` + "\n" + `{"resourceMetrics":[]}` + "\n", "a", "-:1: OTLP metrics (2 times)\n-:3: OTLP logs\n"},
		{"program output around", "listening on :8080\n" + a + "\n\n2026/01/01 bye\n", "a", "-:1: line passed over: not JSON (2 times)\n"},
		{"another JSON log", a + `{"level":"info","msg":"x"}` + "\n", "a", "-:2: JSON object with keys \"level\", \"msg\"\n"},
		{"unknown fields", withField(`,"new":{"a":[1,{"b":null}]},"newer":1`), "x", "-:1: unknown field new in span\n-:1: unknown field newer in span\n"},
		{"nulls", withField(`,"attributes":null,"events":[null],"links":null,"status":null,"kind":null,"flags":null,"endTimeUnixNano":null,"parentSpanId":null,"traceState":null`), "x", ""},
		{"null members", `{"resourceSpans":[null,{"resource":null,"scopeSpans":[null,{"scope":null,"spans":[null]}]}]}` + "\n" + a, "a", ""},
		{"bad ids", withField(`,"parentSpanId":"xyz"`) + a, "a", "-:1: span 1: bad span id \"xyz\"\n"},
		{"bad ids of links", withField(`,"links":[{"traceId":"x"},{"spanId":"0000000000000002"}]`), "x", "-:1: span 1: bad trace id \"x\"\n"},
		{"unknown enums", withField(`,"kind":"SPAN_KIND_NEW","status":{"code":"?"}`), "x", "-:1: unknown span kind \"SPAN_KIND_NEW\"\n-:1: unknown status code \"?\"\n"},
		{"not UTF-8", strings.Replace(a, `"a"`, "\"a\xff\\ud800\"", 1), "a\ufffd\ufffd", ""},
		{"several on a line", oneLine + b + `[` + oneLine + `]`, "a b a", ""},
		{"empty documents", "{}\n" + `{"resourceSpans":[]}` + "\n" + a, "a", ""},
		{"deep nesting", a + `{"resourceSpans":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}\n" + b, "a b", "-:2: line passed over: invalid JSON: nested deeper than 500\n"},
		{"deep unknown", a + `{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}\n" + b, "a b", "-:2: line passed over: invalid JSON: nested deeper than 500\n"},
		{"pretty and torn", "{\n \"resourceSpans\": [\n" + oneLine[len(`{"resourceSpans":[`):len(oneLine)-2] + ",\n {\"scopeSpa", "a", "-:4: object passed over: JSON ends in the middle of a value\n"},
		{"torn among pretty", "{\n \"resourceSpans\": [],\n \"x\": \"\n" + "{\n\"resourceSpans\": [\n" + oneLine[len(`{"resourceSpans":[`):len(oneLine)-2] + "]\n}", "a", "-:1: object passed over: JSON ends in the middle of a value\n"},
		{"pretty after lines", a + "{\n  \"resourceSpans\": [\n" + oneLine[len(`{"resourceSpans":[`):len(oneLine)-2] + "\n  ]\n}\n" + b + b[:60] + "\n" + b, "a a b b", "-:8: object passed over: JSON ends in the middle of a value\n"},
		{"array after lines", a + "[\r\n  {\r\n\"resourceSpans\": [\n" + oneLine[len(`{"resourceSpans":[`):len(oneLine)-2] + "]\n }\n,{}]\n" + b, "a a b", ""},
		{"torn to a bracket", a + "{\n" + b + "{\n" + a, "a b a", "-:2: object passed over: JSON ends in the middle of a value (2 times)\n"},
		{"zeros of a crash", a + strings.Repeat("\x00", 5000) + b + "\x00\x00\n" + a + strings.Repeat("\x00", 100), "a b a", "-:2: NUL bytes (3 times)\n"},
		{"four zeros of a crash", "\x00\x00\x00\x00" + a + b, "a b", "-:1: NUL bytes\n"},
		{"lines of Windows", "\xef\xbb\xbf" + strings.ReplaceAll(a+b, "\n", "\r\n") + "\r\n", "a b", ""},
		{"array with others", "[\n" + oneLine + ",\n 7, \n" + oneLine + "]", "a a", "-:3: text that is not JSON\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 2} {
				got, report := read(t, []byte(tt.file), tracefile.WithWorkers(workers))
				var names []string
				for _, sp := range got {
					names = append(names, sp.Name)
				}
				if s := strings.Join(names, " "); s != tt.spans {
					t.Errorf("workers %d: spans %q, want %q", workers, s, tt.spans)
				}
				if s := skipped(report); s != tt.skipped {
					t.Errorf("workers %d: skipped\n%swant\n%s", workers, s, tt.skipped)
				}
			}
		})
	}
}

// TestManyKindsOfSkips counts what is not listed any more.
func TestManyKindsOfSkips(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 150 {
		fmt.Fprintf(&file, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","new%d":1}]}]}]}`+"\n", i)
	}
	got, report := read(t, []byte(file.String()))
	if len(got) != 150 || len(report.Skipped) != 100 || report.Total != 150 {
		t.Errorf("%d spans, %d kinds listed, %d in all", len(got), len(report.Skipped), report.Total)
	}
}

// TestCompressedTooOften stops at a compression that is inside of three others.
func TestCompressedTooOften(t *testing.T) {
	t.Parallel()
	data := []byte(spanLine("a"))
	for n := 1; n <= 4; n++ {
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		if _, err := z.Write(data); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		data = buf.Bytes()
		spans, err := tracefile.NewReader(bytes.NewReader(data)).All()
		if n <= 3 && (len(spans) != 1 || err != nil) || n > 3 && !errors.As(err, new(*tracefile.NotSpansError)) {
			t.Errorf("%d times: %d spans, %v", n, len(spans), err)
		}
	}
}

// TestRefused names what was seen in a file that is no span file.
func TestRefused(t *testing.T) {
	t.Parallel()
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty()
	for _, tt := range []struct{ name, file, want string }{
		{"JSON", `{"foo":1,"bar":[]}`, `JSON object with keys "foo", "bar"`},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-16 text, want UTF-8"},
		{"many keys", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, `JSON object with keys "a", "b", "c", "d", "e", "f", …`},
		{"data that is not Jaeger's", `{"data":[{"id":1}]}`, `JSON object with keys "data"`},
		{"trace that is not Tempo's", `{"trace":"x"}`, `JSON object with keys "trace"`},
		{"text", "hello there\nyou\n", `text beginning "hello there"`},
		{"binary", "\x89PNG\r\n\x1a\n\x00\x00", `text beginning "\x89PNG"`},
		{"array of numbers", "[1,2,3]", `text beginning "[1,2,3]"`},
		{"array of numbers on lines", "[\n1,\n2\n]", `text beginning "[\n1,"`},
		{"array of arrays", `[["a"]]`, `text beginning "[[\"a\"]]"`},
		{"array of objects", `[{"foo":1},{"bar":2}]`, `JSON array of objects with keys "foo"`},
		{"array of objects on lines", "[\n{\"foo\":1},\n{\"bar\":2}\n]", `JSON array of objects with keys "foo"`},
		{"Jaeger's error", `{"data":null,"total":0,"limit":0,"offset":0,"errors":[{"code":404,"msg":"trace not found"}]}`, `an error: "trace not found"`},
		{"error without data", `{"errors":[{"msg":"parsing failed"}]}`, `an error: "parsing failed"`},
		{"error of Jaeger's third API", `{"error":{"grpcCode":5,"httpCode":404,"message":"No traces found"}}`, `an error: "No traces found"`},
		{"error of gRPC's gateway", `{"code":3,"message":"bad request","details":[]}`, `an error: "bad request"`},
		{"long error", `{"error":"` + strings.Repeat("x", 100) + `\u001b"}`, `an error: "` + strings.Repeat("x", 60) + `…"`},
		{"error without words", `{"error":{"code":7}}`, `JSON object with keys "error"`},
		{"log", `{"level":"error","message":"no"}`, `JSON object with keys "level", "message"`},
		{"log behind a prefix", `web-1  | {"level":"info"}` + "\n", `JSON object with keys "level"`},
		{"log behind a logger's prefix", `[otel.javaagent] INFO x - {"level":"info"}` + "\n", `JSON object with keys "level"`},
		{"metrics", `{"resourceMetrics":[{}]}`, "OTLP metrics"},
		{"torn document", `{"resourceSpans":`, "JSON ends in the middle of a value"},
		{"Zipkin v1", `[{"traceId":"1","id":"1","binaryAnnotations":[]}]`, "a span of Zipkin's version 1"},
		{"torn gzip", "\x1f\x8b\x08\x00", "gzip data that cannot be read further: unexpected EOF"},
		{"not gzip", "\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "gzip data that cannot be read further: gzip: invalid header"},
	} {
		_, err := tracefile.NewReader(strings.NewReader(tt.file), tracefile.WithName("x.json")).All()
		if want := "tracefile: x.json: not a span file: " + tt.want; err == nil || err.Error() != want {
			t.Errorf("%s: error %v\nwant %s", tt.name, err, want)
		}
		var not *tracefile.NotSpansError
		if !errors.As(err, &not) || not.Saw != tt.want {
			t.Errorf("%s: %T is no NotSpansError", tt.name, err)
		}
	}
	_, err := tracefile.NewReader(io.MultiReader(strings.NewReader(strings.Repeat("no\n", 1<<20)), brokenReader{})).All()
	if !errors.As(err, new(*tracefile.NotSpansError)) {
		t.Errorf("a long text is read further than its first MiB: %v", err)
	}
}

type brokenReader struct{}

var errBroken = errors.New("broken")

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", spanLine("a"), "[\n", "\x0a"} {
		r := tracefile.NewReader(io.MultiReader(strings.NewReader(prefix), brokenReader{}))
		if _, err := r.All(); !errors.Is(err, errBroken) {
			t.Errorf("after %q: error %v, want the reader's", prefix, err)
		}
	}
	if _, err := tracefile.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "\n\n", " ", "[]", "{}", `{"resourceSpans":[]}`, `{"data":[],"total":0}`} {
		got, report := read(t, []byte(data))
		if len(got) != 0 || report.Total != 0 {
			t.Errorf("%q: %d spans, skipped:\n%s", data, len(got), skipped(report))
		}
	}
}

// TestLimits bounds the memory that one line, object or message can take.
func TestLimits(t *testing.T) {
	t.Parallel()
	a, long := spanLine("a"), spanLine(strings.Repeat("x", 1<<20))
	limit := tracefile.WithMaxValueBytes(100 << 10)
	pb := must[[]byte](t)((&ptrace.ProtoMarshaler{}).MarshalTraces(longSpan()))
	for _, tt := range []struct{ name, file, skipped string }{
		{"line", a + long + a, "-:2: line over the limit of 102400 bytes\n"},
		{"line inside of a block", a + spanLine(strings.Repeat("x", 101<<10)) + a, "-:2: line over the limit of 102400 bytes\n"},
		{"line without end", a + a + strings.TrimSuffix(long, "\n"), "-:3: line over the limit of 102400 bytes\n"},
		{"object", "[\n" + a + "," + long + "," + a + "]", "-:3: object passed over: object over the limit of 102400 bytes\n"},
		{"message", string(otlpBytes(t)) + string(pb) + string(otlpBytes(t)), "-@1234: message over the limit of 102400 bytes\n"},
	} {
		got, report := read(t, []byte(tt.file), limit)
		if tt.name == "message" {
			tt.skipped = strings.Replace(tt.skipped, "1234", strconv.Itoa(len(otlpBytes(t))), 1)
		}
		if len(got) != 2 || skipped(report) != tt.skipped {
			t.Errorf("%s: %d spans, skipped:\n%s", tt.name, len(got), skipped(report))
		}
	}
	// A large document is not a large value: its elements are read one by one, and
	// those of the next ones too.
	element := strings.TrimSuffix(strings.TrimPrefix(a, `{"resourceSpans":[`), "]}\n")
	doc := `{"resourceSpans":[` + strings.Repeat(element+",", 3000) + element + `]}`
	got, report := read(t, []byte(strings.Repeat(doc, 6)), limit)
	if len(got) != 6*3001 || report.Total != 0 {
		t.Errorf("large documents: %d spans, skipped:\n%s", len(got), skipped(report))
	}
}

// A limit may be smaller than what is left of a buffer where an object begins.
func TestTinyLimit(t *testing.T) {
	t.Parallel()
	const buffers = 192 << 10 // where the second one ends
	for before := buffers - 70; before <= buffers; before++ {
		file := "[" + strings.Repeat(" ", before-1) + spanLine(strings.Repeat("x", 1000)) + "," + spanLine("a") + "]"
		r := tracefile.NewReader(strings.NewReader(file), tracefile.WithMaxValueBytes(10))
		if got, err := r.All(); err != nil || len(got) == 0 || got[len(got)-1].Name != "a" {
			t.Errorf("%d bytes before: %d spans, error %v, skipped:\n%s", before, len(got), err, skipped(r.Report()))
		}
	}
}

// Documents inside documents cost no more than others. (Each was looked through
// to its end, so that a third of a megabyte of them took a minute.)
func TestFramesInFrames(t *testing.T) {
	t.Parallel()
	_, report := read(t, []byte(spanLine("a")+`{"resourceSpans":[`+strings.Repeat("5,", 1<<20)+"5]}"))
	if report.Total != 1<<20+1 {
		t.Errorf("%d values of another type", report.Total)
	}
	for _, frame := range []string{`{"data":[`, `{"resourceSpans":[{},`} {
		_, report := read(t, []byte("[\n"+spanLine("a")+strings.Repeat(frame, 40_000)))
		if want := "object passed over: JSON ends in the middle of a value"; !strings.Contains(skipped(report), want) {
			t.Errorf("%s: skipped:\n%s, want %q", frame, skipped(report), want)
		}
	}
}

func longSpan() ptrace.Traces {
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName(strings.Repeat("x", 1<<20))
	return td
}

func otlpBytes(t *testing.T) []byte {
	t.Helper()
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("a")
	return must[[]byte](t)((&ptrace.ProtoMarshaler{}).MarshalTraces(td))
}

func TestTornBinary(t *testing.T) {
	t.Parallel()
	forms := otlpForms(t, everything())
	for name, want := range map[string]string{
		"protobuf":         "torn: message ends in the middle of a field",
		"framed protobuf":  "torn: message ends in the middle of a field",
		"gzip of protobuf": "gzip data that cannot be read further: unexpected EOF",
	} {
		data := append(append([]byte(nil), forms[name]...), forms[name]...)
		got, report := read(t, data[:len(data)-20])
		if len(got) < 8 || !strings.Contains(skipped(report), want) {
			t.Errorf("%s: %d spans, skipped:\n%s", name, len(got), skipped(report))
		}
	}
	metrics := []byte("\x0a\x0c\x0a\x00\x12\x08\x12\x06\x0a\x04name")
	_, err := tracefile.NewReader(bytes.NewReader(metrics)).All()
	if want := "protobuf that does not fit OTLP spans"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("metrics as protobuf: %v", err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"spans.jsonl", "spans.1.jsonl", "spans-12-1.jsonl", "spans-12-1.1.jsonl", "spans.prev.jsonl", "other.jsonl"} {
		write(t, filepath.Join(dir, name), spanLine(strings.TrimSuffix(name, ".jsonl")), 0)
	}
	write(t, filepath.Join(dir, "spans.lock"), "x", 0)
	names := func(path string, opts ...tracefile.Option) string {
		t.Helper()
		return namesIn(t, path, opts...)
	}
	if got, want := names(dir), "spans.1 spans spans-12-1.1 spans-12-1"; got != want {
		t.Errorf("an App's folder: %q, want %q", got, want)
	}
	if got, want := names(dir, tracefile.WithPrevious()), "spans.prev spans.1 spans spans-12-1.1 spans-12-1"; got != want {
		t.Errorf("with the previous run: %q, want %q", got, want)
	}

	parts := t.TempDir()
	write(t, filepath.Join(parts, "data-2026.json"), spanLine("old"), 0)
	write(t, filepath.Join(parts, "data.json"), spanLine("new"), 0)
	write(t, filepath.Join(parts, "README"), "hello\n", 0)
	write(t, filepath.Join(parts, ".hidden"), spanLine("hidden"), 0)
	r := must[*tracefile.Reader](t)(tracefile.Open(parts))
	if spans := must[[]*traces.Span](t)(r.All()); len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	if got, want := names(parts), "old new"; got != want {
		t.Errorf("a folder of parts: %q, want %q", got, want)
	}
	if got, want := skipped(r.Report()), filepath.Join(parts, "README")+": not a span file: text beginning \"hello\"\n"; got != want {
		t.Errorf("skipped %q, want %q", got, want)
	}
	none := t.TempDir()
	write(t, filepath.Join(none, "README"), "hello\n", 0)
	if _, _, err := tracefile.ReadAll(none); !errors.As(err, new(*tracefile.NotSpansError)) {
		t.Errorf("a folder without span files: %v", err)
	}
}
