package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
)

// gate stands in front of a batch processor. It knows what has ended and has
// not been exported, and drops at the queue's bound itself: the SDK drops
// without a word, and takes bad sizes literally.
type gate struct {
	acc   *account
	exp   *countingExporter
	batch sdktrace.SpanProcessor
	abort context.CancelFunc // cuts the exports that run
	flush chan struct{}      // one flush at a time: each puts a marker into the SDK's queue

	once sync.Once
	done chan struct{}
	err  error
}

func newGate(exp sdktrace.SpanExporter, b env.Batch, v view, diag *diagnostics, name string) *gate {
	limit := b.MaxQueueSize.V
	stop, abort := context.WithCancel(context.Background())
	acc := &account{limit: limit}
	counting := &countingExporter{next: exp, acc: acc, stop: stop, view: v, diag: diag, name: name}
	g := &gate{acc: acc, exp: counting, abort: abort, flush: make(chan struct{}, 1), done: make(chan struct{})}
	diag.silently(func() {
		g.batch = sdktrace.NewBatchSpanProcessor(
			counting,
			// One place more than the gate lets in, for the marker of a flush:
			// the SDK's queue is never full.
			sdktrace.WithMaxQueueSize(limit+1),
			sdktrace.WithMaxExportBatchSize(b.MaxExportBatchSize.V),
			sdktrace.WithBatchTimeout(b.ScheduleDelay.V),
			sdktrace.WithExportTimeout(b.ExportTimeout.V),
		)
	})
	return g
}

func (g *gate) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if g.acc.end() {
		g.batch.OnEnd(s)
	}
}

// ForceFlush exports what has ended. When ctx ends first it returns, and the
// export goes on: cutting it would lose the batch.
func (g *gate) ForceFlush(ctx context.Context) error {
	select {
	case g.flush <- struct{}{}:
	case <-g.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	before := g.acc.lost()
	result := make(chan error, 1)
	go func() {
		defer func() { <-g.flush }()
		result <- g.batch.ForceFlush(context.WithoutCancel(ctx))
	}()
	select {
	case err := <-result:
		if lost := g.acc.lost() - before; err == nil && lost > 0 {
			err = lossError{text: spansLost(lost)}
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Shutdown exports what has ended and closes the account. When ctx ends first
// the running export is cut, and what waits is dropped and counted. So it is
// soon when nobody is there to take it: others wait for the end.
func (g *gate) Shutdown(ctx context.Context) error {
	g.once.Do(func() {
		defer close(g.done)
		defer g.abort()
		defer func() { g.acc.finish(g.exp.current.Load().nothingSent()) }()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := time.AfterFunc(unreachableTime, func() {
			g.exp.reach.give(func() { cancel(errUnreachable) })
		})
		defer timer.Stop()
		if g.err = g.batch.Shutdown(ctx); g.err != nil && ctx.Err() != nil {
			g.err = context.Cause(ctx)
		}
	})
	<-g.done
	return g.err
}

// countingExporter counts what the exporter did. It answers nil to the batch
// processor, which would hand each error to OTel's handler: the destination's
// diagnostics have it already.
type countingExporter struct {
	next sdktrace.SpanExporter
	acc  *account
	stop context.Context //nolint:containedctx // ends when the gate gives up, for every export alike
	view view
	utf8 cleaner
	diag *diagnostics
	name string

	reach   reach
	current atomic.Pointer[attempts] // of the export that runs, or ran last
}

func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	n := len(spans)
	if n == 0 {
		return nil
	}
	tries := &attempts{
		onRefused: func(err error) { //nolint:contextcheck // a log line, whatever becomes of the export
			e.diag.notReached(e.name, err)
			e.reach.set(true)
		},
		onSent: func() { e.reach.set(false) },
	}
	e.current.Store(tries) // before the account can ask for it
	if !e.acc.begin(n) {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.stop, func() { cancel(errGivenUp) })() //nolint:contextcheck // both contexts end it
	ctx = withAttempts(ctx, tries)
	err := e.export(ctx, e.utf8.spans(e.view.spans(spans)))
	failed, uncertain := n, false
	switch rejected, partial := partialSuccess(err); {
	case err == nil:
		failed = 0
	case partial:
		failed = int(min(max(rejected, 0), int64(n)))
	default:
		uncertain = !tries.nothingSent() && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err))
		err = tries.cause(err)
	}
	e.acc.settle(n, failed, uncertain)
	if err != nil {
		e.diag.exportFailed(e.name, failed, uncertain, err) //nolint:contextcheck // a log line, whatever became of the export
	}
	return nil
}

// export keeps a panic of an exporter from ending the program.
func (e *countingExporter) export(ctx context.Context, spans []sdktrace.ReadOnlySpan) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the exporter: %v", p)
		}
	}()
	return e.next.ExportSpans(ctx, spans)
}

func (e *countingExporter) Shutdown(ctx context.Context) error {
	return e.next.Shutdown(ctx)
}

var (
	errGivenUp     = errors.New("shutdown deadline reached")
	errUnreachable = errors.New("the backend cannot be reached")
)

// unreachableTime is how long the last flush tries while no connection can be made.
const unreachableTime = 2 * time.Second

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// partialSuccess finds the number of rejected spans in an exporter's error.
// The exporters say it in a type of their internal packages, one each, whose
// exported field is all that can be relied upon. Any other error beside it
// means that the request as a whole failed.
func partialSuccess(err error) (rejected int64, ok bool) {
	for _, leaf := range leaves(err, nil) {
		v := reflect.ValueOf(leaf)
		if v.Kind() != reflect.Struct {
			return 0, false
		}
		field := v.FieldByName("RejectedItems")
		if !field.IsValid() || field.Kind() != reflect.Int64 {
			return 0, false
		}
		rejected, ok = rejected+field.Int(), true
	}
	return rejected, ok
}

// leaves appends the innermost errors of a tree.
func leaves(err error, to []error) []error {
	switch e := err.(type) { //nolint:errorlint // the tree itself is walked
	case nil:
	case interface{ Unwrap() []error }:
		for _, sub := range e.Unwrap() {
			to = leaves(sub, to)
		}
	case interface{ Unwrap() error }:
		if sub := e.Unwrap(); sub != nil {
			return leaves(sub, to)
		}
		to = append(to, err)
	default:
		to = append(to, err)
	}
	return to
}
