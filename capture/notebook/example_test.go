package notebook_test

import (
	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/capture/notebook"
	"github.com/waymark-trace/waymark/traces"
)

func ExampleShow() {
	res := capture.NewResult([]*traces.Span{
		{SpanID: traces.SpanID{1}, Name: "train", StartUnixNano: 1_000_000, EndUnixNano: 19_870_000},
		{SpanID: traces.SpanID{2}, ParentID: traces.SpanID{1}, Name: "load", StartUnixNano: 2_000_000, EndUnixNano: 8_000_000},
	})
	if err := notebook.Show(res); err != nil {
		panic(err)
	}
	// Output:
	// └── train (18.87 ms)
	//     └── load (6.00 ms)
}
