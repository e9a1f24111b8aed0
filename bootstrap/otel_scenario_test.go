package bootstrap_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/bootstrap"
)

// childErrors makes OpenTelemetry report errors of its own, before, during and
// after tracing.
func childErrors() error {
	ctx := context.Background()
	cfg := childConfig()
	cfg.Logger = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg.SDK = true // it tells of itself; our provider does not
	tracing, err := bootstrap.Start(ctx, cfg)
	if err != nil {
		return err
	}
	for range 5 {
		otel.Handle(errors.New("trouble at https://ada:hunter2@collector/"))
	}
	// The SDK tells of each tracer at info.
	_, span := otel.Tracer("chatty").Start(ctx, "x")
	span.SetAttributes(attribute.Int("n", 1))
	span.End()
	return tracing.Shutdown(ctx)
}

func TestOpenTelemetrysOwnErrors(t *testing.T) {
	t.Parallel()
	for level, info := range map[string]bool{"": false, "info": true, "debug": true, "error": false, "none": false} {
		t.Run("level "+level, func(t *testing.T) {
			t.Parallel()
			_, stderr := newChild(t, "errors", "OTEL_LOG_LEVEL="+level).run(t)
			if n := strings.Count(stderr, `"msg":"tracing error"`); n != 1 {
				t.Errorf("%d lines at once, want 1", n)
			}
			if !strings.Contains(stderr, `"msg":"tracing error repeated"`) || !strings.Contains(stderr, `"count":4`) {
				t.Error("no count at shutdown")
			}
			if strings.Contains(stderr, "hunter2") {
				t.Error("a password is printed")
			}
			if got := strings.Contains(stderr, "Tracer created"); got != info {
				t.Errorf("information of the SDK: %t, want %t", got, info)
			}
			for line := range strings.Lines(stderr) {
				if !strings.HasPrefix(line, "{") {
					t.Errorf("printed outside of the log: %s", line)
				}
			}
			if t.Failed() {
				t.Logf("standard error:\n%s", stderr)
			}
		})
	}
}
