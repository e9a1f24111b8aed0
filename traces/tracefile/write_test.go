package tracefile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

func written(t *testing.T, f tracefile.Format, spans []*traces.Span) ([]byte, tracefile.Losses) {
	t.Helper()
	var buf bytes.Buffer
	losses, err := tracefile.Write(&buf, f, tracefile.Seq(spans))
	if err != nil {
		t.Fatalf("write %s: %v", f, err)
	}
	if losses.Spans != int64(len(spans)) || losses.Total < int64(len(losses.List)) {
		t.Errorf("%s: account of %d spans and %d losses with %d listed", f, losses.Spans, losses.Total, len(losses.List))
	}
	return buf.Bytes(), losses
}

// lossText is what was lost by key, in order, without the ids.
func lossText(l tracefile.Losses) []string {
	var s []string
	for _, x := range l.List {
		s = append(s, x.Key+": "+x.What)
	}
	return s
}

// TestWriteOTLP loses nothing, and the Collector reads the same.
func TestWriteOTLP(t *testing.T) {
	t.Parallel()
	want := fromPdata(everything())
	for f, parse := range map[tracefile.Format]func([]byte) (ptrace.Traces, error){
		tracefile.OTLPJSON:  (&ptrace.JSONUnmarshaler{}).UnmarshalTraces,
		tracefile.OTLPProto: (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces,
		tracefile.OTLPJSONLines: func(b []byte) (ptrace.Traces, error) {
			all := ptrace.NewTraces()
			for line := range bytes.Lines(b) {
				td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
				if err != nil {
					return td, err
				}
				td.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
			}
			return all, nil
		},
	} {
		data, losses := written(t, f, want)
		if losses.Total != 0 {
			t.Errorf("%s: lost %v", f, lossText(losses))
		}
		got, report := read(t, data)
		if d := diff(want, got); d != "" || report.Total != 0 {
			t.Errorf("%s, skipped %q (-want +got):\n%s", f, skipped(report), d)
		}
		td, err := parse(data)
		if err != nil {
			t.Errorf("%s: the Collector: %v", f, err)
			continue
		}
		if d := diff(want, fromPdata(td)); d != "" {
			t.Errorf("%s: the Collector (-want +got):\n%s", f, d)
		}
	}
}

// TestWriteLines keeps lines under the Collector's limit of 1 MiB.
func TestWriteLines(t *testing.T) {
	t.Parallel()
	one := fromPdata(everything())[0]
	one.Name = strings.Repeat("n", 1000)
	spans := make([]*traces.Span, 3000)
	for i := range spans {
		spans[i] = one
	}
	data, _ := written(t, tracefile.OTLPJSONLines, spans)
	n := 0
	for line := range bytes.Lines(data) {
		if n++; len(line) >= 1<<20 || len(line) < 100<<10 {
			t.Errorf("line %d has %d bytes", n, len(line))
		}
	}
	if got, _ := read(t, data); len(got) != len(spans) || n < 5 {
		t.Errorf("%d lines, %d spans", n, len(got))
	}
}

// TestWriteLargeSpan gives a span that is larger than a line one of its own.
func TestWriteLargeSpan(t *testing.T) {
	t.Parallel()
	small := *fromPdata(everything())[0]
	large := small // of the same resource and scope
	small.Name, large.Name = strings.Repeat("n", 300<<10), strings.Repeat("N", 900<<10)
	data, _ := written(t, tracefile.OTLPJSONLines, []*traces.Span{&small, &large, &small})
	n := 0
	for line := range bytes.Lines(data) {
		if n++; len(line) >= 1<<20 {
			t.Errorf("line %d has %d bytes", n, len(line))
		}
	}
	if n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}

// TestWriteJaegerWithoutLoss writes what Jaeger's format can hold whole.
func TestWriteJaegerWithoutLoss(t *testing.T) {
	t.Parallel()
	want, _ := read(t, file(t, "sample.otlp.jsonl"))
	data, losses := written(t, tracefile.Jaeger, want)
	if losses.Total != 0 {
		t.Errorf("lost %v", lossText(losses))
	}
	got, report := read(t, data)
	if d := diff(want, got); d != "" || report.Total != 0 {
		t.Errorf("skipped %q (-want +got):\n%s", skipped(report), d)
	}
}

// rich is a span of which every format but OTLP loses something.
func rich() *traces.Span {
	return &traces.Span{
		TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, ParentID: traces.SpanID{3}, TraceState: "a=1", Flags: 0x101,
		Name: "=rich", Kind: traces.KindClient, StartUnixNano: 1_000_001, EndUnixNano: 1_000_900,
		Attributes: []traces.Attribute{
			str("s", "x"), kv("i", traces.Int(7)), kv("d", traces.Double(2)), kv("b", traces.Bool(true)),
			kv("bytes", traces.Bytes([]byte{1, 2})), kv("none", traces.Value{}),
			kv("list", traces.Array(traces.Int(1), traces.String("y"))), kv("map", traces.Map(str("k", "v"))),
			str("span.kind", "mine"), str("otel.scope.name", "mine"),
		},
		DroppedAttributes: 1,
		Events: []traces.Event{{
			Name: "e", TimeUnixNano: 2_000_000, Attributes: []traces.Attribute{str("k", "v"), kv("l", traces.Array())}, DroppedAttributes: 2,
		}},
		DroppedEvents: 3,
		Links: []traces.Link{{
			TraceID: traces.TraceID{9}, SpanID: traces.SpanID{8}, TraceState: "b=2", Flags: 0x201,
			Attributes: []traces.Attribute{str("why", "x")}, DroppedAttributes: 4,
		}},
		DroppedLinks: 5,
		Status:       traces.Status{Code: traces.StatusError, Message: "bad"},
		Resource: &traces.Resource{
			Attributes:        []traces.Attribute{str("service.name", "shop"), kv("pid", traces.Int(7)), kv("args", traces.Array(traces.String("-x")))},
			DroppedAttributes: 6, SchemaURL: "https://example.com/r",
		},
		Scope: &traces.Scope{
			Name: "web", Version: "1", Attributes: []traces.Attribute{str("beta", "x")}, DroppedAttributes: 7, SchemaURL: "https://example.com/s",
		},
	}
}

func checkLosses(t *testing.T, got tracefile.Losses, want []string) {
	t.Helper()
	if d := cmp.Diff(want, lossText(got)); d != "" {
		t.Errorf("losses (-want +got):\n%s", d)
	}
	n := int64(0)
	for _, c := range got.Counts {
		n += c.Count
	}
	if got.Total != int64(len(want)) || n != got.Total {
		t.Errorf("total = %d, by kind %d, want %d", got.Total, n, len(want))
	}
	for _, l := range got.List {
		if l.TraceID != (traces.TraceID{1}) || l.SpanID != (traces.SpanID{2}) {
			t.Errorf("loss %s names another span", l)
		}
	}
}

// untagged is what both Jaeger and Zipkin have no place for.
var untagged = []string{
	"droppedAttributesCount: left out", "droppedEventsCount: left out", "droppedLinksCount: left out",
	"events.droppedAttributesCount: left out",
	"scope.schemaUrl: left out", "scope.droppedAttributesCount: left out", "scope.attributes.beta: left out",
	"resource.schemaUrl: left out", "resource.droppedAttributesCount: left out",
}

// withoutUntagged is rich as far as both hold it.
func withoutUntagged() *traces.Span {
	sp := rich()
	sp.DroppedAttributes, sp.DroppedEvents, sp.DroppedLinks = 0, 0, 0
	sp.Events[0].DroppedAttributes = 0
	sp.Scope = &traces.Scope{Name: "web", Version: "1"} // the real one is written last, or first and the other left out
	sp.Resource.SchemaURL, sp.Resource.DroppedAttributes = "", 0
	return sp
}

func TestWriteJaegerLosses(t *testing.T) {
	t.Parallel()
	data, losses := written(t, tracefile.Jaeger, []*traces.Span{rich()})
	checkLosses(t, losses, append(slices.Clip(untagged),
		"resource.attributes.args: array written as string",
		"links.traceState: left out", "links.flags: left out", "links.droppedAttributesCount: left out", "links.attributes.why: left out",
		"startTimeUnixNano: cut to microseconds", "endTimeUnixNano: cut to microseconds",
		"attributes.none: empty value written as string", "attributes.list: array written as string", "attributes.map: map written as string",
		"attributes.otel.scope.name: key has a meaning of its own in this format",
		"events.attributes.l: array written as string",
	))
	want := withoutUntagged()
	want.Resource.Attributes[2] = str("args", `["-x"]`)
	want.Links = []traces.Link{{TraceID: traces.TraceID{9}, SpanID: traces.SpanID{8}}}
	want.StartUnixNano, want.EndUnixNano = 1_000_000, 1_000_000
	want.Attributes = want.Attributes[:9]
	want.Attributes[5], want.Attributes[6], want.Attributes[7] = str("none", ""), str("list", `[1,"y"]`), str("map", `{"k":"v"}`)
	want.Events[0].Attributes[1] = str("l", "[]")
	got, _ := read(t, data)
	if d := diff([]*traces.Span{want}, got); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
}

func TestWriteZipkinLosses(t *testing.T) {
	t.Parallel()
	data, losses := written(t, tracefile.Zipkin, []*traces.Span{rich()})
	checkLosses(t, losses, append(slices.Clip(untagged),
		"flags: left out", "links: left out",
		"startTimeUnixNano: cut to microseconds", "endTimeUnixNano: set to one microsecond after the start",
		"events.attributes.k: left out", "events.attributes.l: left out",
		"attributes.i: int written as string", "attributes.d: double written as string", "attributes.b: bool written as string",
		"attributes.bytes: bytes written as string", "attributes.none: empty value written as string",
		"attributes.list: array written as string", "attributes.map: map written as string",
		"attributes.otel.scope.name: left out: the key is taken",
		"resource.attributes.pid: written as tag of each span", "resource.attributes.args: written as tag of each span",
	))
	want := withoutUntagged()
	want.Flags, want.Links = 0, nil
	want.StartUnixNano, want.EndUnixNano = 1_000_000, 1_001_000
	want.Events[0].Attributes = nil
	want.Attributes = []traces.Attribute{
		str("s", "x"), str("i", "7"), str("d", "2"), str("b", "true"), str("bytes", "AQI="), str("none", ""),
		str("list", `[1,"y"]`), str("map", `{"k":"v"}`), str("pid", "7"), str("args", `["-x"]`), str("span.kind", "mine"),
	}
	want.Resource.Attributes = want.Resource.Attributes[:1]
	got, _ := read(t, data)
	if d := diff([]*traces.Span{want}, got); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	for _, sp := range []*traces.Span{{}, {StartUnixNano: 5_000, EndUnixNano: 5_000, Kind: traces.KindInternal}} {
		sp.Resource, sp.Scope = &traces.Resource{}, &traces.Scope{}
		data, losses := written(t, tracefile.Zipkin, []*traces.Span{sp})
		got, _ := read(t, data)
		wantLost := 0
		if sp.Kind == traces.KindUnspecified {
			wantLost, sp.Kind = 1, traces.KindInternal
		}
		if d := diff([]*traces.Span{sp}, got); d != "" || losses.Total != int64(wantLost) {
			t.Errorf("lost %v (-want +got):\n%s", lossText(losses), d)
		}
	}
}

// TestWriteZipkinEventWithoutTime keeps the file readable: Zipkin's own library
// refuses all of it for one annotation without a time.
func TestWriteZipkinEventWithoutTime(t *testing.T) {
	t.Parallel()
	ids := traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Kind: traces.KindServer, Events: []traces.Event{{Name: "e"}}}
	timed := ids
	timed.StartUnixNano, timed.EndUnixNano = 7000, 7000
	data, losses := written(t, tracefile.Zipkin, []*traces.Span{&ids, &timed})
	checkLosses(t, losses, []string{"events: left out: it has no time", "events.timeUnixNano: set to the span's start"})
	got, _ := read(t, data)
	if len(got) != 2 || got[0].Events != nil || len(got[1].Events) != 1 || got[1].Events[0].TimeUnixNano != 7000 {
		t.Errorf("read back %+v", got)
	}
}

// TestWriteReversed sets an end before the start to it, and tells.
func TestWriteReversed(t *testing.T) {
	t.Parallel()
	sp := &traces.Span{
		TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Kind: traces.KindServer, StartUnixNano: 5_000_000, EndUnixNano: 2_000_000,
		Resource: &traces.Resource{}, Scope: &traces.Scope{},
	}
	for _, f := range []tracefile.Format{tracefile.Jaeger, tracefile.Zipkin} {
		data, losses := written(t, f, []*traces.Span{sp})
		checkLosses(t, losses, []string{"endTimeUnixNano: before the start, set to it"})
		if got, _ := read(t, data); got[0].StartUnixNano != 5_000_000 || got[0].EndUnixNano != 5_000_000 {
			t.Errorf("%s: read back from %d to %d", f, got[0].StartUnixNano, got[0].EndUnixNano)
		}
	}
}

func TestWriteCSV(t *testing.T) {
	t.Parallel()
	data, losses := written(t, tracefile.CSV, []*traces.Span{rich()})
	checkLosses(t, losses, []string{
		"attributes.bytes: bytes written as base64 string",
		"scope.schemaUrl: left out", "scope.droppedAttributesCount: left out", "scope.attributes.beta: left out",
		"resource.schemaUrl: left out", "resource.droppedAttributesCount: left out",
		"name: a quote put in front: it begins like a formula",
	})
	rows := must[[][]string](t)(csv.NewReader(bytes.NewReader(data)).ReadAll())
	got := map[string]string{}
	for i, column := range rows[0] {
		got[column] = rows[1][i]
	}
	want := map[string]string{
		"trace_id": "01000000000000000000000000000000", "span_id": "0200000000000000", "parent_id": "0300000000000000",
		"name": "'=rich", "kind": "client", "service_name": "shop",
		"start_unix_nano": "1000001", "end_unix_nano": "1000900", "duration_nano": "899",
		"status_code": "ERROR", "status_message": "bad", "scope_name": "web", "scope_version": "1", "trace_state": "a=1", "flags": "257",
		"attributes":         `{"s":"x","i":7,"d":2.0,"b":true,"bytes":"AQI=","none":null,"list":[1,"y"],"map":{"k":"v"},"span.kind":"mine","otel.scope.name":"mine"}`,
		"dropped_attributes": "1",
		"events":             `[{"timeUnixNano":"2000000","name":"e","attributes":{"k":"v","l":[]},"droppedAttributesCount":2}]`, "dropped_events": "3",
		"links":         `[{"traceId":"09000000000000000000000000000000","spanId":"0800000000000000","traceState":"b=2","flags":513,"attributes":{"why":"x"},"droppedAttributesCount":4}]`,
		"dropped_links": "5",
		"resource":      `{"service.name":"shop","pid":7,"args":["-x"]}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	for _, column := range []string{"attributes", "events", "links", "resource"} {
		if !json.Valid([]byte(got[column])) {
			t.Errorf("%s is not JSON: %s", column, got[column])
		}
	}
}

func TestWriteBadText(t *testing.T) {
	t.Parallel()
	sp := &traces.Span{
		TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Name: "a\xff", Kind: traces.KindInternal,
		Attributes: []traces.Attribute{str("k", "\xfe")}, Resource: &traces.Resource{}, Scope: &traces.Scope{},
	}
	want := *sp
	want.Name, want.Attributes = "a\ufffd", []traces.Attribute{str("k", "\ufffd")}
	for _, f := range []tracefile.Format{tracefile.OTLPJSONLines, tracefile.OTLPJSON, tracefile.OTLPProto, tracefile.Jaeger, tracefile.Zipkin} {
		data, losses := written(t, f, []*traces.Span{sp})
		checkLosses(t, losses, []string{"name: invalid UTF-8 replaced", "attributes.k: invalid UTF-8 replaced"})
		got, _ := read(t, data)
		if d := diff([]*traces.Span{&want}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", f, d)
		}
	}
}

func TestWriteNothing(t *testing.T) {
	t.Parallel()
	for f, want := range map[tracefile.Format]string{
		tracefile.OTLPJSONLines: "", tracefile.OTLPProto: "",
		tracefile.OTLPJSON: `{"resourceSpans":[]}` + "\n",
		tracefile.Jaeger:   `{"data":[` + "\n" + `],"total":0,"limit":0,"offset":0,"errors":null}` + "\n",
		tracefile.Zipkin:   "[\n]\n",
		tracefile.CSV:      "trace_id,",
	} {
		data, _ := written(t, f, nil)
		if f == tracefile.CSV && strings.HasPrefix(string(data), want) && bytes.Count(data, []byte("\n")) == 1 {
			continue
		}
		if string(data) != want {
			t.Errorf("%s: %q, want %q", f, data, want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	if _, err := tracefile.Write(io.Discard, "xml", tracefile.Seq(nil)); err == nil ||
		err.Error() != `tracefile: format "xml" is not written (want otlp-jsonl, otlp-json, otlp-proto, jaeger, zipkin or csv)` {
		t.Errorf("unknown format: %v", err)
	}
	var seq iter.Seq2[*traces.Span, error] = func(yield func(*traces.Span, error) bool) {
		if yield(rich(), nil) {
			yield(nil, errBroken)
		}
	}
	for _, f := range []tracefile.Format{tracefile.OTLPJSON, tracefile.Jaeger, tracefile.Zipkin} {
		var buf bytes.Buffer
		losses, err := tracefile.Write(&buf, f, seq)
		if !errors.Is(err, errBroken) || losses.Spans != 1 || !json.Valid(buf.Bytes()) {
			t.Errorf("%s: a broken sequence: %v, %d spans, %q", f, err, losses.Spans, buf.Bytes())
		}
	}
	big := rich()
	big.Name = strings.Repeat("x", 100<<10)
	endless := func(yield func(*traces.Span, error) bool) {
		for yield(big, nil) {
		}
	}
	for _, f := range []tracefile.Format{tracefile.OTLPJSONLines, tracefile.OTLPProto, tracefile.Zipkin, tracefile.CSV} {
		if _, err := tracefile.Write(brokenWriter{}, f, endless); !errors.Is(err, errBroken) {
			t.Errorf("%s: a broken writer: %v", f, err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// TestZipkinInternalKind holds the tag without which a Collector reads an internal
// span as one of no kind.
func TestZipkinInternalKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[traces.Kind]bool{traces.KindInternal: true, traces.KindUnspecified: false, traces.KindServer: false} {
		var b bytes.Buffer
		sp := &traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{1}, Kind: kind, StartUnixNano: 1000, EndUnixNano: 2000}
		if _, err := tracefile.Write(&b, tracefile.Zipkin, tracefile.Seq([]*traces.Span{sp})); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), `"tags":{"span.kind":"internal"}`); got != want {
			t.Errorf("%v: %s", kind, &b)
		}
	}
}
