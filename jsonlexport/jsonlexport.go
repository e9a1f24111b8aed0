// Package jsonlexport writes spans to a local file that every OTLP tool reads:
// Jaeger's upload, the Collector's otlpjsonfile receiver, otel-tui. Nothing has
// to run beside the program for its traces to be there afterwards.
//
// A line of the file is one OTLP/JSON TracesData document:
//
//	{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"4bf9…","name":"GET /","kind":2,…}],"scope":{"name":"…"}}],"resource":{"attributes":[…]}}]}
//
// The spans stand first, so that no two files begin with the same bytes.
//
// Register an [Exporter] as a span processor:
//
//	exporter, err := jsonlexport.New("spans.jsonl")
//	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exporter))
//
// It encodes a span when it ends and writes in the background; a disk that
// stalls never holds up the goroutine that ends a span. What cannot be kept is
// counted, see [Exporter.Stats].
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/protocol/file-exporter.md#json-lines-file
package jsonlexport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// Exporter is both a SpanProcessor, which is the cheaper and the lossless way to
// use it, and a SpanExporter for a batch processor. It is safe for concurrent
// use. It has one goroutine, which [Exporter.Shutdown] ends.
type Exporter struct {
	cfg  config
	enc  sdkotlp.JSON
	out  sink          // who holds writing has it alone after New
	wake chan struct{} // holds one: look at the state
	done chan struct{} // closed when the writer has ended
	pool sync.Pool     // *scratch
	full sync.Pool     // *chunk, for ExportSpans
	said [kinds]atomic.Bool

	writing chan struct{} // holds one: of who writes; mu is taken inside of it, never around
	round   round         // of who writes

	mu        sync.Mutex
	buf       *buffers
	stats     Stats
	flushes   []*flush
	closed    bool
	taken     uint64 // of stats.Failed: had been written
	abandoned bool   // Shutdown gave up: what is still being written is counted already
	cause     error  // why spans failed, the last time

	gaveUp   chan struct{} // closed with abandoned
	finished chan struct{} // closed when the first Shutdown has its result
	result   error
}

var (
	_ sdktrace.SpanExporter  = (*Exporter)(nil)
	_ sdktrace.SpanProcessor = (*Exporter)(nil)
)

// ErrClosed is returned by [Exporter.ExportSpans] after [Exporter.Shutdown].
var ErrClosed = errors.New("exporter is shut down")

// Stats is the account of one exporter. At every moment
// Ended = Exported + Failed + Dropped + Queued, and after Shutdown Queued is 0.
type Stats struct {
	Ended     uint64 // sampled spans that ended, or were handed to ExportSpans
	Queued    uint64 // encoded, not yet written
	Exported  uint64 // written
	Failed    uint64 // not written by Shutdown's deadline or at all, or cleared by another process
	Dropped   uint64 // past the bound of the buffers, or ended after Shutdown
	Discarded uint64 // of Exported: gone since, with an old part or a file that was deleted or emptied
}

// New opens the span file at path and clears it, with the old part beside it
// (spans.1.jsonl); [WithKeepPrevious] renames both instead. The folder is made
// when it is missing, for this user alone, as the file is.
//
// Whoever holds the lock beside the file (spans.lock for spans.jsonl) owns it.
// When another process or exporter does, the spans go to a file of their own
// beside it, spans-<pid>-<n>.jsonl, and the logger is told. The owner removes
// such files of processes that have ended. A lock that somebody deletes is taken
// again; when another process has taken it and cleared the file by then, the
// exporter goes on beside it, and counts what is gone as failed.
//
// An error that wraps [ErrNotOurs] says that path is something that must not be
// cleared; nothing has been touched then. The exporter is nil when err is not.
func New(path string, opts ...Option) (*Exporter, error) {
	e := newExporter(opts)
	f, err := openFile(path, e.cfg, e.gone)
	if err != nil {
		return nil, fmt.Errorf("jsonlexport: %w", err)
	}
	e.out = f
	go e.run()
	return e, nil
}

// NewWriter writes the same lines to w, one call of Write each, and does not
// close it. The options about files have no effect. A call that blocks holds up
// nobody but an ExportSpans whose context never ends; spans are dropped once the
// buffers are full.
func NewWriter(w io.Writer, opts ...Option) *Exporter {
	e := newExporter(opts)
	e.out = &writerSink{w: w}
	go e.run()
	return e
}

func newExporter(opts []Option) *Exporter {
	cfg := newConfig(opts)
	e := &Exporter{
		cfg:  cfg,
		wake: make(chan struct{}, 1),

		writing: make(chan struct{}, 1),

		done: make(chan struct{}),
		buf:  newBuffers(cfg.maxBufferBytes, cfg.maxFileBytes),

		gaveUp:   make(chan struct{}),
		finished: make(chan struct{}),
	}
	e.enc = sdkotlp.JSON{Transform: cfg.transform, Panicked: func(r any) {
		e.report(kindTransform, fmt.Errorf("transform panicked, the attribute is left out: %v", r))
	}}
	return e
}

// Path is the file that is written: the one given to New as an absolute path, or
// one beside it while another process or exporter owns that. It is empty for
// [NewWriter].
func (e *Exporter) Path() string { return e.out.path() }

// Stats returns the account so far. It costs one short lock.
func (e *Exporter) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

// The kinds of trouble of which the first is reported.
const (
	kindWrite = iota
	kindDrop
	kindTransform
	kindEncode
	kindFile
	kindLost
	kinds
)

// report tells the error handler the first time; the rest is only counted. Never
// call it under the lock: the handler is other people's code. A panic of it
// would end the process from the background writer.
func (e *Exporter) report(kind int, err error) {
	defer func() { _ = recover() }()
	if e.said[kind].CompareAndSwap(false, true) {
		e.cfg.handle(fmt.Errorf("jsonlexport: %w", err))
	}
}

// OnStart does nothing.
func (e *Exporter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (e *Exporter) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
