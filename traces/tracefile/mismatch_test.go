package tracefile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/otlpproto"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// spanNames are the names of spans in order.
func spanNames(spans []*traces.Span) string {
	var names []string
	for _, sp := range spans {
		names = append(names, sp.Name)
	}
	return strings.Join(names, " ")
}

// badFields are OTLP fields with values that they cannot have, and what is said
// of each.
var badFields = []struct{ field, said string }{
	{`"startTimeUnixNano":"-5"`, "startTimeUnixNano: want an unsigned 64-bit integer"},
	{`"endTimeUnixNano":1.5`, "endTimeUnixNano: want an unsigned 64-bit integer"},
	{`"endTimeUnixNano":{"s":[1]}`, "endTimeUnixNano: want a number"},
	{`"name":5`, "name: want a string"},
	{`"name":["x",{"name":7}]`, "name: want a string"},
	{`"kind":{}`, "kind: want a number"},
	{`"traceId":7`, "traceId: want a string"},
	{`"flags":-1`, "flags: want an unsigned 64-bit integer"},
	{`"flags":4294967296`, "flags: want an unsigned 32-bit integer"},
	{`"attributes":{"a":1}`, "attributes: want an array"},
	{`"attributes":["a"]`, "attributes: want an object"},
	{`"attributes":[{"key":"n","value":{"intValue":"1"}},{"key":"n","value":{"intValue":"x"}}]`, "attributes.value.intValue: want a 64-bit integer"},
	{`"attributes":[{"key":"n","value":{"stringValue":true}}]`, "attributes.value.stringValue: want a string"},
	{`"attributes":[{"key":"n","value":{"boolValue":"maybe"}}]`, "attributes.value.boolValue: want true or false"},
	{`"attributes":[{"key":"n","value":{"doubleValue":"1_0"}}]`, "attributes.value.doubleValue: want a number"},
	{`"attributes":[{"key":"n","value":{"bytesValue":"%"}}]`, "attributes.value.bytesValue: want base64"},
	{`"attributes":[{"key":"n","value":{"arrayValue":{"values":[{"intValue":[]}]}}}]`, "attributes.value.arrayValue.values.intValue: want a number"},
	{`"events":[{"name":"e","timeUnixNano":"?"}]`, "events.timeUnixNano: want an unsigned 64-bit integer"},
	{`"links":[{"attributes":7}]`, "links.attributes: want an array"},
	{`"status":"error"`, "status: want an object"},
	{`"droppedAttributesCount":"many"`, "droppedAttributesCount: want an unsigned 64-bit integer"},
}

// TestOneBadFieldCostsOneSpan reads what is before it and after it, and names the
// place of the span that is lost.
func TestOneBadFieldCostsOneSpan(t *testing.T) {
	t.Parallel()
	span := func(name, more string) string {
		return `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"` + name + `"` + more + `}`
	}
	for _, tt := range badFields {
		doc := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[` +
			span("a", "") + "," + span("b", ","+tt.field) + "," + span("c", "") + `]}]}]}`
		whole, pretty := spanLine("first")+doc+"\n"+spanLine("last"), strings.ReplaceAll(doc, `:[{`, ":[\n{")
		for name, file := range map[string]struct{ text, spans, place string }{
			"lines":    {whole, "first a c last", "-:2: span 2: "},
			"array":    {"[" + doc + "]", "a c", "-:1: span 2: "},
			"document": {doc, "a c", "-:1: span 2: "},
			"pretty":   {pretty, "a c", "-:1: span 2: "},
		} {
			got, report := read(t, []byte(file.text))
			if s := spanNames(got); s != file.spans {
				t.Errorf("%s in %s: spans %q, want %q", tt.field, name, s, file.spans)
			}
			if s, want := skipped(report), file.place+"passed over: "+tt.said+"\n"; s != want || report.Total != 1 {
				t.Errorf("%s in %s: skipped %d\n%swant\n%s", tt.field, name, report.Total, s, want)
			}
			for _, sp := range got {
				if len(got) == 2 && sp.Service() != "shop" {
					t.Errorf("%s in %s: span %s has lost its resource", tt.field, name, sp.Name)
				}
			}
		}
	}
}

// TestBadFieldsAreCounted counts each span that is lost once, whatever is wrong
// with it, and counts on over the spans of a line.
func TestBadFieldsAreCounted(t *testing.T) {
	t.Parallel()
	spans := `{"name":5,"kind":[],"flags":"x"},{"name":"ok"},{"name":5},{"traceId":"xyz"},{"name":5}`
	file := `{"resourceSpans":[{"scopeSpans":[{"spans":[` + spans + `]},{"spans":[` + spans + `]}]}]}`
	got, report := read(t, []byte(spanLine("a")+file))
	want := "-:2: span 1: passed over: name: want a string (6 times)\n-:2: span 4: bad trace id \"xyz\" (2 times)\n"
	if s := skipped(report); s != want || spanNames(got) != "a ok ok" || report.Total != 8 {
		t.Errorf("spans %q, skipped %d:\n%swant\n%s", spanNames(got), report.Total, s, want)
	}
}

// TestSpansAreCountedByLine counts anew on each line, and on over the values of one.
func TestSpansAreCountedByLine(t *testing.T) {
	t.Parallel()
	value := func(fields string) string { return `{"traceId":"1","id":"2","name":"ok"` + fields + `}` }
	for _, tt := range []struct{ name, file, want string }{
		{"lines", value("") + "\n" + value(`,"timestamp":-1`), "-:2: span 1: "},
		{"one array", "[" + value("") + "," + value(`,"timestamp":-1`) + "]", "-:1: span 2: "},
		{"array on lines", "[\n" + value("") + ",\n" + value("") + "," + value(`,"timestamp":-1`) + "\n]", "-:3: span 2: "},
	} {
		_, report := read(t, []byte(tt.file))
		if got := skipped(report); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: skipped %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBadFieldsOfDialects holds the rule for the others.
func TestBadFieldsOfDialects(t *testing.T) {
	t.Parallel()
	stub := func(name, more string) string {
		return `{"Name":"` + name + `","SpanContext":{"TraceID":"01000000000000000000000000000000","SpanID":"0200000000000000"}` + more + `}`
	}
	python := func(name, more string) string {
		return `{"name":"` + name + `","context":{"trace_id":"0x1","span_id":"0x2"},"kind":"SpanKind.SERVER"` + more + `}`
	}
	zipkin := func(name, more string) string { return `{"traceId":"1","id":"2","name":"` + name + `"` + more + `}` }
	jaeger := func(name, more string) string {
		return `{"traceID":"1","spanID":"2","operationName":"` + name + `"` + more + `}`
	}
	for _, tt := range []struct {
		format    tracefile.Format
		span      func(name, more string) string
		bad, said string
	}{
		{tracefile.GoStdout, stub, `"Attributes":[{"Key":"k","Value":{"Type":"FLOAT64","Value":"x"}}]`, "Attributes.Value.Value: want a number"},
		{tracefile.GoStdout, stub, `"DroppedEvents":-1`, "DroppedEvents: want an unsigned 64-bit integer"},
		{tracefile.GoStdout, stub, `"StartTime":5`, "StartTime: want a string"},
		{tracefile.Python, python, `"attributes":[]`, "attributes: want an object"},
		{tracefile.Python, python, `"start_time":1`, "start_time: want a string"},
		{tracefile.Zipkin, zipkin, `"timestamp":-1`, "timestamp: want an unsigned 64-bit integer"},
		{tracefile.Zipkin, zipkin, `"localEndpoint":{"port":"http"}`, "localEndpoint.port: want a 64-bit integer"},
		{tracefile.Zipkin, zipkin, `"kind":5`, "kind: want a string"},
		{tracefile.Jaeger, jaeger, `"duration":"long"`, "duration: want an unsigned 64-bit integer"},
		{tracefile.Jaeger, jaeger, `"tags":[{"key":"k","type":"int64","value":"x"}]`, "tags.value: want a 64-bit integer"},
		{tracefile.Jaeger, jaeger, `"logs":[{"timestamp":1,"fields":{}}]`, "logs.fields: want an array"},
	} {
		spans := tt.span("a", "") + "," + tt.span("b", ","+tt.bad) + "," + tt.span("c", "")
		file := "[" + spans + "]"
		if tt.format == tracefile.Jaeger {
			file = `{"data":[{"traceID":"1","spans":` + file + `,"processes":{}}]}`
		}
		got, report := read(t, []byte(file))
		if s, want := skipped(report), "-:1: span 2: passed over: "+tt.said+"\n"; s != want || spanNames(got) != "a c" || report.Total != 1 {
			t.Errorf("%s, %s: spans %q, skipped %d\n%swant\n%s", tt.format, tt.bad, spanNames(got), report.Total, s, want)
		}
	}
}

// TestBadIDOfALink costs the link alone: its span is known.
func TestBadIDOfALink(t *testing.T) {
	t.Parallel()
	got, _ := read(t, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"links":[{"traceId":"x"},{"spanId":"0000000000000002"},{"spanId":"?"}]}]}]}]}`))
	if d := diff([]*traces.Span{{Links: []traces.Link{{SpanID: traces.SpanID{7: 2}}}}}, []*traces.Span{{Links: got[0].Links}}); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestBadFieldsOutsideOfSpans costs themselves alone: spans without them are right.
func TestBadFieldsOutsideOfSpans(t *testing.T) {
	t.Parallel()
	const resource = `"resource":{"attributes":[%s{"key":"service.name","value":{"stringValue":"shop"}}]}`
	doc := func(resourceSpans, scopeSpans string) string {
		return `{"resourceSpans":[{` + resourceSpans + `"scopeSpans":[{` + scopeSpans + `"spans":[{"name":"a"},{"name":"b"}]}]}]}`
	}
	for _, tt := range []struct{ name, file, skipped string }{
		{
			"attribute of a resource", doc(fmt.Sprintf(resource, `{"key":"pid","value":{"intValue":"x"}},`)+",", ""),
			"-:1: resource.attributes.value.intValue: want a 64-bit integer\n",
		},
		{
			"attribute without a name", doc(fmt.Sprintf(resource, `{"key":5},`)+",", ""),
			"-:1: resource.attributes.key: want a string\n",
		},
		{
			"several", doc(fmt.Sprintf(resource, `5,6,`)+",", ""),
			"-:1: resource.attributes: want an object\n-:1: another value that its field cannot have\n",
		},
		{"resource", doc(`"resource":5,`, ""), "-:1: resource: want an object\n"},
		{"scope", doc(fmt.Sprintf(resource, "")+",", `"scope":{"name":[]},`), "-:1: scope.name: want a string\n"},
		{"schema", doc(fmt.Sprintf(resource, "")+`,"schemaUrl":5,`, `"schemaUrl":{},`), "-:1: resourceSpans.schemaUrl: want a string\n-:1: another value that its field cannot have\n"},
		{
			"lists", `{"resourceSpans":[5,{"scopeSpans":{}},{"scopeSpans":[{"spans":"x"}]},` + doc(fmt.Sprintf(resource, "")+",", "")[len(`{"resourceSpans":[`):],
			"-:1: resourceSpans: want an object\n-:1: another value that its field cannot have (2 times)\n",
		},
		{"span", `{"resourceSpans":[{"scopeSpans":[{"spans":[7,{"name":"a"},[],{"name":"b"}]}]}]}`, "-:1: span 1: passed over: want an object (2 times)\n"},
		{
			"Jaeger's process", `{"traceID":"1","spans":[{"traceID":"1","spanID":"1","operationName":"a","processID":"p"},` +
				`{"traceID":"1","spanID":"2","operationName":"b","processID":"p"}],` +
				`"processes":{"p":{"serviceName":"shop","tags":[{"key":"pid","type":"int64","value":"x"}]}}}`,
			"-:1: process.tags.value: want a 64-bit integer\n",
		},
		{
			"Go's resource", strings.Repeat(`{"Name":"%s","SpanContext":{},"Resource":[{"Key":5},`+
				`{"Key":"service.name","Value":{"Type":"STRING","Value":"shop"}}]}`+"\n", 2),
			"-:1: resource.Key: want a string\n",
		},
		{
			"a document in front", `{ "resourceSpans":{}}` + "\n" + doc(fmt.Sprintf(resource, "")+",", ""),
			"-:1: resourceSpans: want an array\n",
		},
	} {
		if strings.Contains(tt.file, "%s") {
			tt.file = fmt.Sprintf(tt.file, "a", "b")
		}
		got, report := read(t, []byte(tt.file+"\n"+spanLine("c")))
		if s := skipped(report); s != tt.skipped || spanNames(got) != "a b c" {
			t.Errorf("%s: spans %q, skipped\n%swant\n%s", tt.name, spanNames(got), s, tt.skipped)
		}
		if r := got[0].Resource; strings.Contains(tt.file, "shop") && (got[0].Service() != "shop" || len(r.Attributes) != 1) {
			t.Errorf("%s: resource %+v", tt.name, r)
		}
	}
	for _, text := range []string{`{"resourceSpans":5}`, ` { "resourceSpans" : {} } `} {
		_, err := tracefile.NewReader(strings.NewReader(text)).All()
		if want := `tracefile: -: not a span file: resourceSpans: want an array`; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestExactTimes reads floats as Python's json writes nanoseconds.
func TestExactTimes(t *testing.T) {
	t.Parallel()
	got, report := read(t, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","startTimeUnixNano":1.6530302570751997e18,`+
		`"endTimeUnixNano":"1.6530302570751997e+18","attributes":[{"key":"n","value":{"intValue":-9.007199254740993e15}}]}]}]}]}`))
	if len(got) != 1 || report.Total != 0 {
		t.Fatalf("%d spans, skipped:\n%s", len(got), skipped(report))
	}
	n, _ := got[0].Attr("n")
	if s, e := got[0].StartUnixNano, got[0].EndUnixNano; s != 1653030257075199700 || e != s || n.AsInt() != -9007199254740993 {
		t.Errorf("start %d, end %d, n %d", s, e, n.AsInt())
	}
}

// TestOneBadFieldInProtobuf holds the rule for binary OTLP.
func TestOneBadFieldInProtobuf(t *testing.T) {
	t.Parallel()
	span := func(name string, more ...byte) func([]byte) []byte {
		return func(b []byte) []byte { return append(otlpproto.AppendString(b, 5, name), more...) }
	}
	resource := func(attributes ...byte) func([]byte) []byte {
		return func(b []byte) []byte {
			b = otlpproto.AppendString(b, 1, attributes)
			return otlpproto.AppendMessage(b, 1, func(b []byte) []byte {
				b = otlpproto.AppendString(b, 1, "service.name")
				return otlpproto.AppendMessage(b, 2, func(b []byte) []byte { return otlpproto.AppendString(b, 1, "shop") })
			})
		}
	}
	file := func(resource func([]byte) []byte, spans ...func([]byte) []byte) []byte {
		return otlpproto.AppendMessage(nil, 1, func(b []byte) []byte {
			b = otlpproto.AppendMessage(b, 1, resource)
			return otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
				for _, s := range spans {
					b = otlpproto.AppendMessage(b, 2, s)
				}
				return b
			})
		})
	}
	shortID, wrongType, tornAttribute := []byte("\x12\x03abc"), []byte("\x30\x01\x3a\x01x"), []byte("\x4a\x02\x0a\x09")
	for _, tt := range []struct {
		name    string
		file    []byte
		skipped string
	}{
		{"id", file(resource(), span("a"), span("b", shortID...), span("c")), "span 2: passed over: protobuf that does not fit"},
		{"type", file(resource(), span("b", wrongType...), span("a"), span("c")), "span 1: passed over: malformed protobuf"},
		{"attribute", file(resource(), span("a"), span("c"), span("b", tornAttribute...)), "span 3: passed over: message ends"},
		{"resource", file(resource([]byte("\x0a\x09")...), span("a"), span("c")), "resource.attributes: message ends"},
	} {
		got, report := read(t, tt.file)
		if spanNames(got) != "a c" || report.Total != 1 || !strings.Contains(skipped(report), tt.skipped) {
			t.Errorf("%s: spans %q, skipped %d:\n%swant %s", tt.name, spanNames(got), report.Total, skipped(report), tt.skipped)
		}
		for _, sp := range got {
			if sp.Service() != "shop" || len(sp.Resource.Attributes) != 1 {
				t.Errorf("%s: resource %+v", tt.name, sp.Resource)
			}
		}
	}
	lost := file(resource(), span("b", shortID...))
	first := file(resource(), span("a"), span("c"))
	got, report := read(t, append(slices.Clip(first), file(resource(), span("b", shortID...), span("d"))...))
	if want := fmt.Sprintf("-@%d: span 1: ", len(first)); spanNames(got) != "a c d" || !strings.HasPrefix(skipped(report), want) {
		t.Errorf("second message: spans %q, skipped:\n%s", spanNames(got), skipped(report))
	}
	got, report = read(t, append(file(resource(), span("a")), lost...))
	if spanNames(got) != "a" || report.Total != 1 || !strings.Contains(skipped(report), "message passed over") {
		t.Errorf("no span left: %q, skipped %d:\n%s", spanNames(got), report.Total, skipped(report))
	}
}

// TestValuesNestedTooDeep are left out and told, in each format, with their spans
// kept.
func TestValuesNestedTooDeep(t *testing.T) {
	t.Parallel()
	nested := func(open, inside, end string) string {
		return strings.Repeat(open, 70) + inside + strings.Repeat(end, 70)
	}
	protoValue := func(b []byte) []byte { return otlpproto.AppendString(b, 1, "x") }
	for range 70 {
		inside := protoValue
		protoValue = func(b []byte) []byte { // an array of one value
			return otlpproto.AppendMessage(b, 5, func(b []byte) []byte { return otlpproto.AppendMessage(b, 1, inside) })
		}
	}
	proto := otlpproto.AppendMessage(nil, 1, func(b []byte) []byte {
		return otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
			return otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
				return otlpproto.AppendMessage(b, 9, func(b []byte) []byte {
					return otlpproto.AppendMessage(otlpproto.AppendString(b, 1, "k"), 2, protoValue)
				})
			})
		})
	})
	for name, file := range map[string]string{
		"OTLP": `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":` +
			nested(`{"arrayValue":{"values":[`, `{"stringValue":"x"}`, `]}}`) + `}]}]}]}]}`,
		"protobuf": string(proto),
		"Python":   `{"name":"a","context":{"trace_id":"0x1","span_id":"0x2"},"kind":"SpanKind.SERVER","attributes":{"k":` + nested("[", `"x"`, "]") + `}}`,
		"Go": `{"Name":"a","SpanContext":{},"Attributes":[{"Key":"k","Value":` +
			nested(`{"Type":"SLICE","Value":[`, `{"Type":"STRING","Value":"x"}`, "]}") + `}]}`,
	} {
		got, report := read(t, []byte(file))
		if len(got) != 1 || !strings.HasSuffix(skipped(report), ": attribute value nested too deep\n") || report.Total != 1 {
			t.Errorf("%s: %d spans, skipped:\n%s", name, len(got), skipped(report))
			continue
		}
		depth := 0
		for v := got[0].Attributes[0].Value; v.Kind() == traces.ValueArray; v = v.AsArray()[0] {
			depth++
		}
		if depth < 60 || depth > 65 {
			t.Errorf("%s: nested %d deep", name, depth)
		}
	}
}
