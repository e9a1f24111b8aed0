package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpsend"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// countingExporter cuts batches by bytes, sends the pieces and counts what became
// of them. It answers nil to the batch processor, which would hand each error to
// OTel's handler: the destination's diagnostics have it already.
type countingExporter struct {
	next    sender
	acc     *account
	stop    context.Context //nolint:containedctx // ends when the gate gives up, for every export alike
	timeout time.Duration   // of one piece; 0: none
	view    view
	diag    *diagnostics
	name    string

	reach   reach
	current atomic.Pointer[otlpsend.Tries] // of the piece that is sent, or was last
}

func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	sizes := make([]int, len(spans))
	held := 0
	for i, s := range spans {
		size := sdkotlp.SizeOf(s)
		sizes[i] = size.Encoded()
		held += size.Held()
	}
	// Not before: the batch processor keeps the spans until this returns.
	defer e.acc.release(held)
	for len(spans) > 0 {
		n := firstPiece(sizes)
		if !e.piece(ctx, spans[:n]) {
			break
		}
		spans, sizes = spans[n:], sizes[n:]
	}
	return nil
}

// firstPiece is how many spans make one request.
func firstPiece(sizes []int) int {
	n, bytes := 1, sizes[0]
	for n < len(sizes) && bytes+sizes[n] <= otlpsend.RequestBytes {
		bytes += sizes[n]
		n++
	}
	return n
}

// piece sends spans together; false: the account is closed.
func (e *countingExporter) piece(ctx context.Context, spans []sdktrace.ReadOnlySpan) bool {
	tries := &otlpsend.Tries{
		OnUnreached: func(err error) { //nolint:contextcheck // a log line, whatever becomes of the export
			e.diag.notReached(e.name, err)
			e.reach.set(true)
		},
		OnReached: func() { e.reach.set(false) },
	}
	e.current.Store(tries) // before the account can ask for it
	n := len(spans)
	if !e.acc.begin(n) {
		return false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if e.timeout > 0 {
		timer := time.AfterFunc(e.timeout, func() { cancel(errExportTimeout) })
		defer timer.Stop()
	}
	defer context.AfterFunc(e.stop, func() { cancel(errGivenUp) })() //nolint:contextcheck // both contexts end it
	r := e.send(ctx, e.view.spans(spans), tries)
	e.acc.settle(n, r)
	if r.err != nil {
		e.diag.exportFailed(e.name, r.failed, r.uncertain > 0, r.err) //nolint:contextcheck // a log line, whatever became of the export
	}
	return true
}

// send keeps a panic of an exporter from ending the program.
func (e *countingExporter) send(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{failed: len(spans), err: fmt.Errorf("panic in the exporter: %v", p)}
		}
	}()
	return e.next.send(ctx, spans, t)
}

func (e *countingExporter) Shutdown(ctx context.Context) error {
	return e.next.Shutdown(ctx)
}

var (
	errGivenUp       = errors.New("shutdown deadline reached")
	errUnreachable   = errors.New("the backend cannot be reached")
	errExportTimeout = errors.New("export timeout")
)

// unreachableTime is how long the last flush tries while no connection can be made.
const unreachableTime = 2 * time.Second

// reach is whether a destination's last try got a connection.
type reach struct {
	mu      sync.Mutex
	refused bool
	giveUp  func() // called while it is refused; nil: not yet
}

func (r *reach) set(refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = refused
	if r.refused && r.giveUp != nil {
		r.giveUp()
	}
}

// give calls f now when the last try was refused, and at each one that will be.
func (r *reach) give(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giveUp = f
	if r.refused {
		f()
	}
}
