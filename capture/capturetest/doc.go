// Package capturetest shows a test the spans that the code under test makes: as
// a tree that is compared with one in the test, as single spans, and, when the
// test fails, in the test's output.
//
//	func TestCheckout(t *testing.T) {
//		ctx, tr := capturetest.Start(t)
//		err := shop.Checkout(ctx, cart)
//		…
//		tr.Want(`
//			└── TestCheckout
//			    └── checkout {scope=shop} [ERROR]
//			        ├── reserve
//			        └── charge [order='A-1']`)
//		tr.Span("charge").Attr("order", "A-1").Err().Under("checkout")
//		tr.None("refund")
//		tr.Max("reserve", 50*time.Millisecond)
//	}
//
// Each test has a provider of its own and OTel's globals stay as they are, so that
// tests may run in parallel. The code under test has to take its tracer from the
// context, as trace.SpanFromContext(ctx).TracerProvider().Tracer(name), or from a
// provider that it is given: [Trace.TracerProvider]. A program that makes its own
// provider is given [Trace.Processor], as in Processors of bootstrap.Config. Of a
// tracer that comes from OTel's globals nothing is seen here: look at such code
// with capture.Run.
//
// A server's span ends after its client has the response, so wait for it:
//
//	srv := httptest.NewServer(tr.Handler(handler))
//	defer srv.Close()
//	…
//	tr.Wait("GET /users/{id}", 1).Attr("http.response.status_code", 200).NoErr()
//
// A span that is never ended fails the test, which says where it was started.
// When the test fails, the tree is in its output and the Chrome trace in its
// artifacts; run go test -artifacts to keep those.
//
// IDs count up from 1. In a testing/synctest bubble durations are exact, and can be
// written into the wanted tree and into golden files: see [WithDurations].
package capturetest
