package suite

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/jsonlexport"
)

// The ways from a span to a file that are compared.
const (
	PipelineNone   = "none"        // the bare program
	PipelineOurs   = "waymark"     // bootstrap, its middleware, the file
	PipelineStdout = "stdouttrace" // otelhttp, batch processor, stdouttrace
	PipelineFast   = "fast"        // otelhttp, batch processor, our encoder
)

// Pipeline is one of them, running.
type Pipeline struct {
	Wrap     func(http.Handler) http.Handler
	Provider trace.TracerProvider
	// Stop ends it and returns how many spans have reached the file, as far as
	// the pipeline itself knows.
	Stop func(context.Context) (Account, error)
}

// Account is what a pipeline says about the spans that ended.
type Account struct{ Ended, Exported, Failed, Dropped uint64 }

// Open builds the pipeline of the name, to the file at path.
func Open(name, path string) (*Pipeline, error) { return openStalling(name, path, 0) }

// openStalling is Open with a disk that hangs for the given time once a second.
func openStalling(name, path string, stall time.Duration) (*Pipeline, error) {
	switch name {
	case PipelineNone:
		return &Pipeline{
			Wrap: func(h http.Handler) http.Handler { return h }, Provider: noop.NewTracerProvider(),
			Stop: func(context.Context) (Account, error) { return Account{}, nil },
		}, nil
	case PipelineOurs:
		if stall > 0 {
			return exporterPipeline(path, stall)
		}
		return oursPipeline(path)
	case PipelineStdout, PipelineFast:
		return batchPipeline(name, path, stall)
	}
	return nil, fmt.Errorf("no pipeline %q", name)
}

// oursPipeline is what the README shows.
func oursPipeline(path string) (*Pipeline, error) {
	t, err := bootstrap.Start(context.Background(), bootstrap.Config{
		App: "bench", Lookup: env.Map{"BENCH_TRACING": "true", "BENCH_TRACES_FILE": path}, NoGlobals: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return &Pipeline{
		Wrap: func(h http.Handler) http.Handler { return t.Middleware()(h) }, Provider: t.TracerProvider(),
		Stop: func(ctx context.Context) (Account, error) {
			err := t.Shutdown(ctx)
			var a Account
			for _, d := range t.Report().Destinations {
				a = Account{d.Ended, d.Exported, d.Failed, d.Dropped}
			}
			return a, err
		},
	}, nil
}

// exporterPipeline is our exporter on a disk of the benchmark's making.
func exporterPipeline(path string, stall time.Duration) (*Pipeline, error) {
	f, err := os.Create(path) //nolint:gosec // our own folder
	if err != nil {
		return nil, err
	}
	e := jsonlexport.NewWriter(&stalling{w: f, stall: stall})
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e))
	return &Pipeline{Provider: tp, Stop: func(ctx context.Context) (Account, error) {
		err := tp.Shutdown(ctx)
		s := e.Stats()
		_ = f.Close()
		return Account{s.Ended, s.Exported, s.Failed, s.Dropped}, err
	}}, nil
}

// batchPipeline is OpenTelemetry's own: its batch processor with the defaults.
func batchPipeline(name, path string, stall time.Duration) (*Pipeline, error) {
	f, err := os.Create(path) //nolint:gosec // our own folder
	if err != nil {
		return nil, err
	}
	var w io.Writer = f
	if stall > 0 {
		w = &stalling{w: f, stall: stall}
	}
	var exporter sdktrace.SpanExporter = ours(w)
	if name == PipelineStdout {
		exporter = stdout(w)
	}
	c := &counting{SpanExporter: exporter}
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(c))
	return &Pipeline{
		Wrap: func(h http.Handler) http.Handler { return otelhttpAround(h, tp) }, Provider: tp,
		Stop: func(ctx context.Context) (Account, error) {
			err := tp.Shutdown(ctx)
			_ = f.Close()
			return Account{Exported: c.spans.Load()}, err
		},
	}, nil
}

// counting counts what reaches an exporter: the batch processor keeps its own
// account of what it drops to itself.
type counting struct {
	sdktrace.SpanExporter
	spans atomic.Uint64
}

func (c *counting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		c.spans.Add(uint64(len(spans)))
	}
	return err
}

// stalling is a disk that hangs once a second.
type stalling struct {
	w     io.Writer
	stall time.Duration
	next  time.Time
}

func (s *stalling) Write(p []byte) (int, error) {
	if now := time.Now(); now.After(s.next) {
		if !s.next.IsZero() {
			time.Sleep(s.stall)
		}
		s.next = now.Add(time.Second)
	}
	return s.w.Write(p)
}

// children makes spans-1 spans under the one of ctx, as a handler would that
// asks a database.
func children(ctx context.Context, t trace.Tracer, spans int) {
	for c := 1; c < spans; c++ {
		_, child := t.Start(ctx, "SELECT orders", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("db.system.name", "postgresql"), attribute.String("db.namespace", "shop"),
			attribute.String("db.query.text", "SELECT id, total FROM orders WHERE customer = $1"),
			attribute.String("db.operation.name", "SELECT"), attribute.Int("db.response.returned_rows", c),
		))
		child.End()
	}
}
