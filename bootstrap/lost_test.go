//go:build !waymark_nootlp

package bootstrap_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
)

// A program tells a loss of spans, which its exit code need not, from a server
// that failed.
func TestLossIsToldFromFailure(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *bootstrap.Tracing {
		t.Helper()
		_, vars := collectorFor(t, "http/protobuf", func(context.Context, int) (int64, string, int) {
			return 0, "go away", http.StatusBadRequest
		})
		tracing, _ := start(t, vars)
		makeSpans(t, tracing.TracerProvider(), 1)
		return tracing
	}
	t.Run("Shutdown", func(t *testing.T) {
		t.Parallel()
		err := shutdown(t, begin(t))
		if !errors.Is(err, bootstrap.ErrSpansLost) {
			t.Fatalf("Shutdown: %v, want ErrSpansLost in it", err)
		}
		for _, want := range []string{"1 span lost", "go away"} {
			if strings.Count(err.Error(), want) != 1 {
				t.Errorf("Shutdown: %v, want %q in it once", err, want)
			}
		}
	})
	t.Run("Serve", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		tracing := begin(t)
		if err := tracing.ServeListener(ctx, &http.Server{}, newPipeListener()); err != nil {
			t.Errorf("Serve: %v, want how the server ended, which was in order", err)
		}
		if got := tracing.Report().Lost(); got != 1 {
			t.Errorf("the report has %d lost spans, want 1", got)
		}
		if err := shutdown(t, tracing); !errors.Is(err, bootstrap.ErrSpansLost) {
			t.Errorf("Shutdown after Serve: %v, want ErrSpansLost in it", err)
		}
	})
	t.Run("failed server", func(t *testing.T) {
		t.Parallel()
		err := begin(t).Serve(t.Context(), &http.Server{Addr: "no address"})
		if err == nil || strings.Contains(err.Error(), "lost") {
			t.Errorf("Serve: %v, want the server's failure alone", err)
		}
	})
	t.Run("failed hook", func(t *testing.T) {
		t.Parallel()
		tracing, failed := begin(t), errors.New("hook failed")
		tracing.OnShutdown(func(context.Context) error { return failed })
		err := shutdown(t, tracing)
		if errors.Is(err, bootstrap.ErrSpansLost) || !errors.Is(err, failed) || !strings.Contains(err.Error(), "1 span lost") {
			t.Errorf("Shutdown: %v, want the loss in its text alone", err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		_, vars := collectorFor(t, "http/protobuf", func(ctx context.Context, _ int) (int64, string, int) {
			<-ctx.Done()
			return 0, "", http.StatusOK
		})
		tracing, _ := start(t, vars)
		makeSpans(t, tracing.TracerProvider(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := tracing.Shutdown(ctx)
		if !errors.Is(err, bootstrap.ErrSpansLost) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "provider") {
			t.Errorf("Shutdown: %v, want one line", err)
		}
	})
}
