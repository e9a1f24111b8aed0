// Package jsonlexport writes spans to an OTLP/JSON Lines file.
package jsonlexport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Exporter is a SpanExporter and a SpanProcessor.
type Exporter struct{}

var (
	_ sdktrace.SpanExporter  = (*Exporter)(nil)
	_ sdktrace.SpanProcessor = (*Exporter)(nil)
)

// ErrNotOurs is in the error of New when the path is something that is never
// cleared or written: a file of other content, a symlink, a FIFO, a device, a
// file of another user.
var ErrNotOurs = errors.New("not a span file of ours")

// Stats is the account of one exporter; Ended = Exported + Failed + Dropped + Queued.
type Stats struct {
	Ended     uint64 // sampled spans that ended, or were handed to ExportSpans
	Queued    uint64 // encoded, not yet written
	Exported  uint64 // written
	Failed    uint64 // could not be written
	Dropped   uint64 // past the bound, or after Shutdown
	Discarded uint64 // written, and gone since with an old part
}

// Option configures an Exporter.
type Option interface{ apply(config) config }

type config struct{}

// WithMaxFileBytes sets the size past which the file becomes the old part; default 1 GiB.
func WithMaxFileBytes(n int64) Option { panic("stub") }

// WithKeepPrevious keeps the previous run's file as spans.prev.jsonl.
func WithKeepPrevious() Option { panic("stub") }

// WithMaxBufferBytes bounds all buffers together; default 64 MiB.
func WithMaxBufferBytes(n int64) Option { panic("stub") }

// WithFlushInterval sets how long an ended span waits at most; default 200 ms.
func WithFlushInterval(d time.Duration) Option { panic("stub") }

// WithTransform changes or hides (false) each attribute before it is encoded.
func WithTransform(f func(attribute.KeyValue) (attribute.KeyValue, bool)) Option { panic("stub") }

// WithLogger sets where notices go; default: nowhere.
func WithLogger(l *slog.Logger) Option { panic("stub") }

// New opens (and clears) the span file at path.
func New(path string, opts ...Option) (*Exporter, error) { return &Exporter{}, nil }

// NewWriter writes the same lines to w, which it does not close.
func NewWriter(w io.Writer, opts ...Option) *Exporter { return &Exporter{} }

// Path is the file that is written: the one given, or one beside it when
// another process or exporter owns that.
func (e *Exporter) Path() string { return "" }

// Stats returns the account so far.
func (e *Exporter) Stats() Stats { return Stats{} }

// OnStart does nothing.
func (e *Exporter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd encodes a sampled span.
func (e *Exporter) OnEnd(sdktrace.ReadOnlySpan) {}

// ExportSpans writes the spans.
func (e *Exporter) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

// ForceFlush writes what is buffered.
func (e *Exporter) ForceFlush(context.Context) error { return nil }

// Shutdown flushes and closes; twice is fine.
func (e *Exporter) Shutdown(context.Context) error { return nil }
