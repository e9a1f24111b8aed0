package capturetest_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// A test function, which an example cannot run: see TestCheckout.
func ExampleStart() {
	reserve := func(ctx context.Context) { // the code under test
		_, s := trace.SpanFromContext(ctx).TracerProvider().Tracer("shop").Start(ctx, "reserve")
		defer s.End()
	}
	_ = func(t *testing.T) { //nolint:thelper // it is a test
		ctx, tr := capturetest.Start(t)
		reserve(ctx)
		tr.Want(`
			└── TestReserve
			    └── reserve {scope=shop}`)
		tr.Max("reserve", 50*time.Millisecond)
	}
}
