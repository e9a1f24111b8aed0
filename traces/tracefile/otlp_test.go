package tracefile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// otlpForms are the ways in which people have one and the same document, each
// made by the encoder that really writes it.
func otlpForms(t *testing.T, td ptrace.Traces) map[string][]byte {
	t.Helper()
	line := must[[]byte](t)((&ptrace.JSONMarshaler{}).MarshalTraces(td))
	pb := must[[]byte](t)((&ptrace.ProtoMarshaler{}).MarshalTraces(td))
	var msg tracepb.TracesData
	if err := proto.Unmarshal(pb, &msg); err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, line, "", "  "); err != nil {
		t.Fatal(err)
	}
	zenc := must[*zstd.Encoder](t)(zstd.NewWriter(nil))
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	old := strings.NewReplacer(`"scopeSpans"`, `"instrumentationLibrarySpans"`, `"scope"`, `"instrumentationLibrary"`)
	return map[string][]byte{
		"line":                   append(slices.Clip(line), '\n'),
		"line without newline":   line,
		"blank lines and BOM":    append([]byte("\xef\xbb\xbf\n\r\n"), line...),
		"pretty":                 pretty.Bytes(),
		"array":                  []byte("[" + string(line) + "]"),
		"pretty array":           []byte("[\n" + pretty.String() + "\n]\n"),
		"one element":            trimDocument(line),
		"protobuf":               pb,
		"framed protobuf":        framed(pb),
		"framed zstd protobuf":   framed(zenc.EncodeAll(pb, nil)),
		"framed zstd JSON":       framed(zenc.EncodeAll(line, nil)),
		"gzip of JSON":           gzipped(t, line),
		"gzip of protobuf":       gzipped(t, pb),
		"zstd of JSON":           zenc.EncodeAll(line, nil),
		"zstd of gzip of JSON":   zenc.EncodeAll(gzipped(t, line), nil),
		"Tempo":                  bytes.Replace(must[[]byte](t)(protojson.Marshal(&msg)), []byte(`"resourceSpans"`), []byte(`"batches"`), 1),
		"Tempo search":           []byte(`{"trace":` + string(must[[]byte](t)(protojson.Marshal(&msg))) + `}`),
		"protojson":              must[[]byte](t)(protojson.Marshal(&msg)),
		"protojson multi-line":   must[[]byte](t)(protojson.MarshalOptions{Multiline: true, EmitUnpopulated: true}.Marshal(&msg)),
		"protojson snake_case":   must[[]byte](t)(protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: true}.Marshal(&msg)),
		"instrumentationLibrary": []byte(old.Replace(string(line))),
	}
}

// trimDocument is the inside of {"resourceSpans":[…]}, as JSON objects in a row.
func trimDocument(line []byte) []byte {
	var doc struct{ ResourceSpans []json.RawMessage }
	if err := json.Unmarshal(line, &doc); err != nil {
		return nil
	}
	return bytes.Join([][]byte{doc.ResourceSpans[0], doc.ResourceSpans[1]}, []byte(" "))
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestOTLPForms(t *testing.T) {
	t.Parallel()
	want := fromPdata(everything())
	for name, data := range otlpForms(t, everything()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 3} {
				got, report := read(t, data, tracefile.WithWorkers(workers))
				if d := diff(want, got); d != "" {
					t.Errorf("workers %d: spans (-want +got):\n%s", workers, d)
				}
				if report.Total != 0 || report.Spans != int64(len(want)) {
					t.Errorf("report = %+v, want %d spans and nothing skipped", report, len(want))
				}
			}
			twice := append(append([]byte(nil), data...), data...)
			if strings.HasPrefix(name, "blank") || strings.HasPrefix(name, "pretty array") {
				return // a byte order mark in the middle of a file is none
			}
			got, _ := read(t, twice)
			if d := diff(append(slices.Clip(want), want...), got); d != "" {
				t.Errorf("the same twice in a row (-want +got):\n%s", d)
			}
		})
	}
}

func TestEqualResourcesAreOne(t *testing.T) {
	t.Parallel()
	line := must[[]byte](t)((&ptrace.JSONMarshaler{}).MarshalTraces(everything()))
	got, _ := read(t, bytes.Repeat(append(line, '\n'), 50), tracefile.WithWorkers(3))
	for i, sp := range got {
		if first := got[i%8]; sp.Resource != first.Resource || sp.Scope != first.Scope {
			t.Fatalf("span %d has a resource or scope of its own", i)
		}
	}
}

func TestOrderIsThatOfTheFile(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	const lines = 3000
	for i := range lines {
		td := ptrace.NewTraces()
		sp := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		sp.SetStartTimestamp(pcommonTime(i))
		sp.SetName(strings.Repeat("x", 1000))
		file.Write(must[[]byte](t)((&ptrace.JSONMarshaler{}).MarshalTraces(td)))
		file.WriteByte('\n')
	}
	got, _ := read(t, file.Bytes(), tracefile.WithWorkers(3))
	if len(got) != lines {
		t.Fatalf("read %d spans, want %d", len(got), lines)
	}
	for i, sp := range got {
		if sp.StartUnixNano != uint64(pcommonTime(i)) {
			t.Fatalf("span %d is out of order", i)
		}
	}
}

func TestLeavingTheLoop(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat(must[[]byte](t)((&ptrace.JSONMarshaler{}).MarshalTraces(everything())), 1000)
	data = bytes.ReplaceAll(data, []byte(`}{"resourceSpans"`), []byte("}\n{\"resourceSpans\""))
	r := tracefile.NewReader(bytes.NewReader(data), tracefile.WithWorkers(3))
	n := 0
	for _, err := range r.Spans() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if got := r.Report().Spans; got != 3 {
		t.Errorf("report has %d spans, want the 3 handed out", got)
	}
}

func TestWithAttributes(t *testing.T) {
	t.Parallel()
	for name, data := range otlpForms(t, everything()) {
		got, _ := read(t, data, tracefile.WithAttributes("max", "uni"))
		want := fromPdata(everything())
		for _, sp := range want {
			sp.Events, sp.Links = nil, nil
			kept := sp.Attributes
			sp.Attributes = nil
			for _, a := range kept {
				if a.Key == "max" || a.Key == "uni" {
					sp.Attributes = append(sp.Attributes, a)
				}
			}
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		got, _ = read(t, data, tracefile.WithAttributes())
		for _, sp := range want {
			sp.Attributes = nil
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s, without attributes (-want +got):\n%s", name, d)
		}
	}
}
