// Package capture keeps the spans of one block of code in memory and shows them:
// what did this call do, and where did its time go? Nothing has to be configured
// and nothing has to run beside the program.
//
//	res, err := capture.Run(ctx, "build", func(ctx context.Context) error {
//		return build(ctx)
//	})
//	fmt.Println(res)
//
// prints
//
//	└── build (18.87 ms) {scope=github.com/waymark-trace/waymark/capture}
//	    └── solve (6.26 ms) {scope=shop/solver} [variables=12]
//	        ├── convert (5.90 ms) {scope=shop/solver}
//	        └── call (88.0 µs) {scope=shop/solver}
//
// The block is a trace of its own: its root has a fresh trace ID and a link to
// the span around it, and the result holds the spans of that trace ID, whatever
// goroutine makes them. Pass ctx on to whatever is to be seen. Of a capture
// inside a capture only the inner one has the spans.
//
// The spans come from the provider that is active when the block starts, and go
// on to its exporters as before. A program that has set none gets one that
// records captured traces alone, until the program or bootstrap.Start sets a real
// one. Nothing happens on import.
//
// Where a sampler drops the block's trace there is nothing to see: wrap it with
// [Sampler]. [Result.Empty] says why a result is empty.
//
// Outside of a block nothing is kept, and a span costs a few nanoseconds more
// (BenchmarkNoWindow). Inside, [WithMaxSpans] bounds what is kept.
package capture
