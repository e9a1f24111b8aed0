package bootstrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

func offTracing(t *testing.T) *bootstrap.Tracing {
	t.Helper()
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{App: "shop", Lookup: env.Map{}, NoGlobals: true})
	if err != nil {
		t.Fatal(err)
	}
	return tracing
}

func TestLogHandlerIsAHandler(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		buf.Reset()
		return offTracing(t).LogHandler(slog.NewJSONHandler(&buf, nil))
	}, func(t *testing.T) map[string]any {
		t.Helper()
		var record map[string]any
		if err := json.Unmarshal(buf.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
}

func spanContext() context.Context {
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab, 1}, SpanID: trace.SpanID{0xcd, 2},
	}))
}

const wantIDs = `"trace_id":"ab010000000000000000000000000000","span_id":"cd02000000000000"`

func TestLogHandlerAddsIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(*slog.Logger) *slog.Logger
		want string
	}{
		{"plain", func(l *slog.Logger) *slog.Logger { return l }, `{"level":"INFO","msg":"m","k":1,` + wantIDs + `}`},
		{"attributes", func(l *slog.Logger) *slog.Logger { return l.With(slog.Int("a", 1)) }, `{"level":"INFO","msg":"m","a":1,"k":1,` + wantIDs + `}`},
		{"group", func(l *slog.Logger) *slog.Logger { return l.WithGroup("g") }, `{"level":"INFO","msg":"m",` + wantIDs + `,"g":{"k":1}}`},
		{"all", func(l *slog.Logger) *slog.Logger {
			return l.With(slog.Int("a", 1)).WithGroup("g").With(slog.Int("b", 2)).WithGroup("h")
		}, `{"level":"INFO","msg":"m","a":1,` + wantIDs + `,"g":{"b":2,"h":{"k":1}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var buf bytes.Buffer
			handler := slog.NewJSONHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
				if len(groups) == 0 && a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
			logger := c.make(slog.New(offTracing(t).LogHandler(handler)))
			logger.InfoContext(spanContext(), "m", slog.Int("k", 1))
			if got := buf.String(); got != c.want+"\n" {
				t.Errorf("with a span:\n got %s\nwant %s", got, c.want)
			}
			buf.Reset()
			logger.InfoContext(context.Background(), "m", slog.Int("k", 1))
			if bytes.Contains(buf.Bytes(), []byte("trace_id")) {
				t.Errorf("without a span: %s", &buf)
			}
		})
	}
}

// Loggers that share a handler do not share what they add.
func TestLogHandlerSiblings(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	base := slog.New(offTracing(t).LogHandler(slog.NewJSONHandler(&buf, nil))).WithGroup("g").With(slog.Int("z", 0))
	a, b := base.With(slog.Int("a", 1)), base.With(slog.Int("b", 2))
	a.InfoContext(spanContext(), "m")
	if bytes.Contains(buf.Bytes(), []byte(`"b":2`)) {
		t.Errorf("the sibling's attribute: %s", &buf)
	}
	_ = b
}

func TestLogHandlerFollowsLevels(t *testing.T) {
	t.Parallel()
	h := offTracing(t).LogHandler(slog.NewJSONHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: slog.LevelError}))
	if h.Enabled(t.Context(), slog.LevelInfo) || !h.Enabled(t.Context(), slog.LevelError) {
		t.Error("the level of the handler inside does not count")
	}
}
