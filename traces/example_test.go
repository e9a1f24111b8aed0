package traces_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/traces"
)

func ExampleNewSet() {
	id := traces.TraceID{15: 1}
	set := traces.NewSet([]*traces.Span{ // in any order: writers write children first
		{TraceID: id, SpanID: traces.SpanID{2}, ParentID: traces.SpanID{1}, Name: "SELECT", StartUnixNano: 2e6, EndUnixNano: 5e6},
		{TraceID: id, SpanID: traces.SpanID{1}, Name: "GET /users/{id}", StartUnixNano: 1e6, EndUnixNano: 9e6},
	})
	for _, trace := range set.Traces() {
		for node := range trace.All() {
			fmt.Printf("%*s%s %v\n", 2*node.Depth(), "", node.Span().Name, node.Span().Duration())
		}
	}
	// Output:
	// GET /users/{id} 8ms
	//   SELECT 3ms
}

func ExampleSpan_Exceptions() {
	span := &traces.Span{Events: []traces.Event{{Name: "exception", Attributes: []traces.Attribute{
		{Key: "exception.type", Value: traces.String("*errors.errorString")},
		{Key: "exception.message", Value: traces.String("no funds")},
	}}}}
	for x := range span.Exceptions() {
		fmt.Println(x.Type, x.Message)
	}
	// Output: *errors.errorString no funds
}

func ExampleParseTraceID() {
	_, err := traces.ParseTraceID("4bf92f35")
	fmt.Println(err)
	// Output: traces: trace ID "4bf92f35": want 32 hexadecimal digits
}
