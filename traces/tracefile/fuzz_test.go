package tracefile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// FuzzRead reads anything: it never panics, gives only whole spans, the same
// with one worker as with several, and whatever it gives can be written as OTLP
// and read back.
func FuzzRead(f *testing.F) {
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(everything())
	if err != nil {
		f.Fatal(err)
	}
	pb, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(everything())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(append(append(slices.Clip(line), '\n'), line[:100]...))
	f.Add(pb)
	f.Add(append([]byte{0, 0, byte(len(pb) >> 8), byte(len(pb))}, pb...))
	entries, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile("testdata/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("[\n{\"traceId\":\"a\",\"id\":\"1\"},\n,]"))
	f.Add([]byte("{\n \"data\": [ {\"traceID\":\"1\",\"spans\":[{\"references\":[{}],\"tags\":[{\"value\":1}]}]"))
	f.Add(append(append(slices.Clip(line), "\n{\n\"resourceSpans\": [\n"...), line[len(`{"resourceSpans":[`):]...))
	f.Add(append(append(slices.Clip(line), "\n\x00\x00\x00"...), line...))
	f.Add(append([]byte("shop-1  | "), line...))
	f.Add([]byte(`{"result":{"resourceSpans":[{"resource":5,"scopeSpans":[{"spans":[{"name":5},{"name":"a","startTimeUnixNano":1.6530302570751997e18}]}]}]}}`))
	f.Add([]byte(fmt.Sprintf(phoenixSpan, "LLM", "ERROR", "x", `"b":[1],`)))
	f.Add([]byte(`{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","warnings":["w"]}],"processes":{},"warnings":["x"]}],"errors":[{"msg":"e"}]}`))
	f.Add([]byte(`[{"traceId":"1","id":"2","kind":"SERVER","shared":true,"debug":true,"timestamp":1,"localEndpoint":{"ipv4":"1.2.3.4","port":1},"remoteEndpoint":{"serviceName":"a","ipv6":"::1"}}]`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		limit := tracefile.WithMaxValueBytes(64 << 10)
		spans, err := tracefile.NewReader(bytes.NewReader(data), limit, tracefile.WithWorkers(1)).All()
		if err != nil && !errors.As(err, new(*tracefile.NotSpansError)) {
			t.Fatalf("error of a reader that has none: %v", err)
		}
		for _, sp := range spans {
			if sp.Resource == nil || sp.Scope == nil {
				t.Fatalf("span %+v without resource or scope", sp)
			}
		}
		again, _ := tracefile.NewReader(bytes.NewReader(data), limit, tracefile.WithWorkers(3)).All()
		if len(again) != len(spans) {
			t.Fatalf("%d spans with one worker, %d with three", len(spans), len(again))
		}
		if len(spans) > 50 {
			return
		}
		for _, format := range []tracefile.Format{tracefile.OTLPJSONLines, tracefile.OTLPProto} {
			var buf bytes.Buffer
			losses, err := tracefile.Write(&buf, format, tracefile.Seq(spans))
			if err != nil || losses.Total != 0 {
				t.Fatalf("write %s: %v, %v", format, err, losses.List)
			}
			if len(spans) == 0 {
				continue
			}
			back, err := tracefile.NewReader(&buf).All()
			if err != nil {
				t.Fatalf("read %s back: %v", format, err)
			}
			if d := diffInOrder(spans, back); d != "" {
				t.Fatalf("%s (-want +got):\n%s", format, d)
			}
		}
		for _, format := range []tracefile.Format{tracefile.Jaeger, tracefile.Zipkin} {
			var buf bytes.Buffer
			losses, err := tracefile.Write(&buf, format, tracefile.Seq(spans))
			if err != nil || !json.Valid(buf.Bytes()) {
				t.Fatalf("write %s: %v, %q", format, err, buf.Bytes())
			}
			if losses.Total > 0 || len(spans) != 1 { // Jaeger's file is sorted by trace
				continue
			}
			back, err := tracefile.NewReader(bytes.NewReader(buf.Bytes())).All()
			if d := diff(spans, back); d != "" || err != nil {
				t.Fatalf("%s, without a loss, %v (-want +got):\n%s\nwritten %s", format, err, d, buf.Bytes())
			}
		}
	})
}

// FuzzOTLPJSON takes what the Collector takes, and understands it so.
func FuzzOTLPJSON(f *testing.F) {
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(everything())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"","name":"a","kind":"SPAN_KIND_SERVER","attributes":[{"key":"k","value":{"intValue":7}}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || !utf8.Valid(data) || bytes.Contains(data, []byte(`\u`)) || !bytes.HasPrefix(data, []byte(`{"resourceSpans":[`)) {
			return // its JSON library takes more than JSON, keeps invalid UTF-8, and has its own way with surrogates
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return
		}
		want := fromPdata(td)
		r := tracefile.NewReader(bytes.NewReader(data))
		got, err := r.All()
		if err != nil || r.Report().Total > 0 {
			return // it may refuse, loudly, what the Collector guesses at
		}
		if d := diff(want, got); d != "" {
			t.Fatalf("%q (-want +got):\n%s", data, d)
		}
	})
}
