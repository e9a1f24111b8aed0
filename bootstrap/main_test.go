package bootstrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// childKey names the scenario that the test binary runs instead of the tests:
// signals, globals, the process's own variables and its standard output need a
// process of their own.
const childKey = "WAYMARK_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childKey); name != "" {
		os.Exit(runChild(name))
	}
	// The one goroutine of package signal begins here, outside every bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	os.Exit(m.Run())
}

// sdkKey makes the tests run with the provider of OpenTelemetry's SDK:
// WAYMARK_TEST_SDK=true go test ./bootstrap.
const sdkKey = "WAYMARK_TEST_SDK"

// logs collects the lines of a logger.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// lines returns the records with the message.
func (l *logs) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(l.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if record["msg"] == message {
			found = append(found, record)
		}
	}
	return found
}

// start begins an independent tracing with a switch that is on.
func start(t *testing.T, vars env.Map, change ...func(*bootstrap.Config)) (*bootstrap.Tracing, *logs) {
	t.Helper()
	out := &logs{}
	all := env.Map{"SHOP_TRACING": "true", "XDG_STATE_HOME": t.TempDir()}
	maps.Copy(all, vars)
	cfg := bootstrap.Config{
		App: "shop", Lookup: all, Logger: out.logger(), NoGlobals: true, ShutdownTimeout: 30 * time.Second,
		SDK: os.Getenv(sdkKey) != "",
	}
	for _, f := range change {
		f(&cfg)
	}
	tracing, err := bootstrap.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = tracing.Shutdown(ctx)
	})
	return tracing, out
}

// makeSpans makes n root spans.
func makeSpans(t *testing.T, tp trace.TracerProvider, n int) {
	t.Helper()
	tracer := tp.Tracer("test")
	for range n {
		_, span := tracer.Start(context.Background(), "work")
		span.End()
	}
}

// shutdown ends tracing with time enough for a machine under load.
func shutdown(t *testing.T, tracing *bootstrap.Tracing) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return tracing.Shutdown(ctx)
}

// balance fails when a destination's account is not exact.
func balance(t *testing.T, r bootstrap.Report) {
	t.Helper()
	for _, d := range r.Destinations {
		if d.Ended != d.Exported+d.Failed+d.Dropped || d.Queued != 0 {
			t.Errorf("%s: ended %d != exported %d + failed %d + dropped %d (queued %d)", d.Name, d.Ended, d.Exported, d.Failed, d.Dropped, d.Queued)
		}
	}
}

func dirNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
