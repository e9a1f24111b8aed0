package bootstrap

import (
	"context"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// maxQueuedBytes is about how much the spans that wait for an exporter, or are
// being exported, hold.
const maxQueuedBytes = 64 << 20

// gate stands in front of a batch processor. It knows what has ended and has
// not been exported, and drops at the queue's bounds itself: the SDK drops
// without a word, knows no bound in bytes, and takes bad sizes literally.
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

func newGate(next sender, b env.Batch, v view, diag *diagnostics, name string) *gate {
	limit := b.MaxQueueSize.V
	stop, abort := context.WithCancel(context.Background())
	acc := &account{limit: limit, limitBytes: maxQueuedBytes}
	counting := &countingExporter{next: next, acc: acc, stop: stop, timeout: b.ExportTimeout.V, view: v, diag: diag, name: name}
	g := &gate{acc: acc, exp: counting, abort: abort, flush: make(chan struct{}, 1), done: make(chan struct{})}
	diag.silently(func() {
		g.batch = sdktrace.NewBatchSpanProcessor(
			counting,
			// One place more than the gate lets in, for the marker of a flush:
			// the SDK's queue is never full.
			sdktrace.WithMaxQueueSize(limit+1),
			sdktrace.WithMaxExportBatchSize(b.MaxExportBatchSize.V),
			sdktrace.WithBatchTimeout(b.ScheduleDelay.V),
			sdktrace.WithExportTimeout(0), // it is the pieces' of a batch
		)
	})
	return g
}

func (g *gate) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if g.acc.end(sdkotlp.SizeOf(s).Held()) {
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
		defer g.acc.finish(func() bool { return g.exp.current.Load().MayHaveArrived() })
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
