// Package traces is the model of finished spans, for programs that read
// traces: draw them, count them, compare them, test them.
//
// A [Span] is plain data in the shape of OTLP. It comes from a file (package
// traces/tracefile), from a capture, or from your own code, and looks the same
// from each:
//
//	span := &traces.Span{
//		TraceID: id, SpanID: traces.SpanID{1}, Name: "GET /users/{id}",
//		StartUnixNano: start, EndUnixNano: end,
//		Attributes: []traces.Attribute{{Key: "http.response.status_code", Value: traces.Int(200)}},
//	}
//
// [NewSet] groups spans into traces and trees. What real files hold (parents
// in another file, a span written twice, parents in a circle) is settled there,
// once, by stated rules, and marked on the [Node]; no span is ever lost:
//
//	set := traces.NewSet(spans)
//	for _, trace := range set.Traces() {
//		for node := range trace.All() { // depth first, parents before children
//			fmt.Println(node.Depth(), node.Span().Name, node.Span().Duration())
//		}
//	}
//
// The package knows nothing of files or of OpenTelemetry's SDK, and imports
// the standard library alone.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
package traces
