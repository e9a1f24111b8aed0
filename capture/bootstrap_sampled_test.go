package capture_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/env"
)

// TestBesideASamplingBootstrap captures what bootstrap's sampler leaves out,
// and the file stays without it.
func TestBesideASamplingBootstrap(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "spans.jsonl")
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{App: "shop", NoGlobals: true, Lookup: env.Map{
		"SHOP_TRACING": "true", "SHOP_TRACES_FILE": file, "OTEL_TRACES_SAMPLER": "always_off",
	}})
	if err != nil {
		t.Fatal(err)
	}
	tp := tracing.TracerProvider()
	result, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		_, span := tp.Tracer("shop").Start(ctx, "inside")
		span.End()
		return nil
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Error(err)
	}
	if got := len(result.Spans()); got != 2 {
		t.Errorf("the capture has %d spans, want 2:\n%s", got, result)
	}
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("the file is %v, %v; want it empty", info, err)
	}
	if r := tracing.Report(); r.Destinations[0].Ended != 0 {
		t.Errorf("the account counts unsampled spans: %v", r)
	}
}
