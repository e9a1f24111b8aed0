package capture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/capture/internal/sdkspan"
	"github.com/waymark-trace/waymark/internal/capturing"
	"github.com/waymark-trace/waymark/internal/recorder"
	"github.com/waymark-trace/waymark/internal/redact"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// Run calls fn in a root span of that name and returns the spans that were made
// with the context it gives to fn. The context keeps the deadline and the values
// of ctx. With an empty name the calling function's is taken.
//
// The result is never nil, also when err is not. err is what fn returns, as it
// is, and the root span is marked with it. A panic of fn goes on as it is, and so
// does a runtime.Goexit; see [Into] for how to get at the result then.
//
// Without having called fn, err wraps [ErrNoSDK] when the active provider takes
// no span processor, and [ErrTraceIDInUse].
func Run(ctx context.Context, name string, fn func(ctx context.Context) error, opts ...Option) (*Result, error) {
	if name == "" {
		name = callerName()
	}
	return run(ctx, name, fn, newConfig(opts))
}

func run(ctx context.Context, name string, fn func(context.Context) error, cfg config) (res *Result, err error) {
	ctx, c := start(ctx, name, cfg)
	if c.err != nil {
		c.End(nil)
		return c.Result(), c.err
	}
	defer func() { res = c.Result() }()
	defer c.End(&err)
	return nil, fn(ctx)
}

// Capture is a block that is being captured. It is used once: what is captured
// next takes a new one.
type Capture struct {
	cfg       config
	err       error // why nothing is captured
	root      trace.Span
	seen      *capturing.Trace
	collector *collector
	window    *window
	detach    func()
	late      *atomic.Int64
	why       string
	own       error // of capturing or saving, once the block has ended

	once   sync.Once
	result atomic.Pointer[Result]
}

// Start begins a block that ends with [Capture.End]:
//
//	func build(ctx context.Context) (err error) {
//		ctx, c := capture.Start(ctx, "build")
//		defer c.End(&err)
//
// It is [Run] for where a function does not fit. The result must have a name: what
// is returned as an unnamed one, End does not see. When the block cannot be
// captured the context is ctx, and [Capture.Err] and End say why.
func Start(ctx context.Context, name string, opts ...Option) (context.Context, *Capture) {
	if name == "" {
		name = callerName()
	}
	return start(ctx, name, newConfig(opts))
}

func start(ctx context.Context, name string, cfg config) (context.Context, *Capture) {
	if ctx == nil {
		ctx = context.Background()
	}
	if cfg.name != "" {
		name = cfg.name
	}
	c := &Capture{
		cfg: cfg, seen: &capturing.Trace{}, late: &atomic.Int64{}, detach: func() {},
		root: noop.Span{},
	}
	inner, err := c.begin(ctx, name)
	if err != nil {
		c.err = fmt.Errorf("capture: %w", err)
		c.why = "nothing was captured: " + err.Error()
		return ctx, c
	}
	return inner, c
}

// begin starts the root in the active provider and opens its window.
func (c *Capture) begin(ctx context.Context, name string) (inner context.Context, err error) {
	tp, reg, err := activeProvider(c.cfg)
	if err != nil {
		return nil, err
	}
	opts := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithAttributes(c.cfg.attributes...)}
	around := trace.SpanContextFromContext(ctx)
	if around.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: around}))
	}
	inner, err = c.startRoot(capturing.With(ctx, c.seen), tp, name, opts)
	if err == nil {
		err = c.open(reg, around)
	}
	if err != nil {
		_ = c.endRoot() // the first error is the one to tell
		c.seen.End()
	}
	return inner, err
}

func (c *Capture) startRoot(ctx context.Context, tp trace.TracerProvider, name string, opts []trace.SpanStartOption) (inner context.Context, err error) {
	defer recovered(&err)
	inner, c.root = tp.Tracer(c.cfg.scope).Start(ctx, name, opts...) //nolint:spancheck // endRoot ends it
	return inner, nil
}

func (c *Capture) endRoot() (err error) {
	defer recovered(&err)
	c.root.End()
	return nil
}

// recovered turns a panic of the provider's sampler or of one of its processors
// into an error: it is not the block's.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the tracer provider panicked: %v", p)
	}
}

// open opens the window of the root's trace ID.
func (c *Capture) open(reg registrar, around trace.SpanContext) error {
	sc := c.root.SpanContext()
	if !sc.IsValid() || sc.TraceID() == around.TraceID() {
		// A no-op tracer hands on the span around it.
		c.why = "the tracer provider makes no spans: it was shut down, or tracing is switched off"
		return nil
	}
	if !c.root.IsRecording() {
		c.why = "the provider's sampler dropped the trace: wrap it with capture.Sampler to see it all the same"
	}
	col := c.attach(reg)
	root, _ := c.root.(sdktrace.ReadOnlySpan)
	w := newWindow(c.cfg.maxSpans, sc.SpanID(), root)
	if !col.begin(sc.TraceID(), w, c.late) {
		return fmt.Errorf("%w: %s", ErrTraceIDInUse, sc.TraceID())
	}
	c.collector, c.window = col, w
	return nil
}

// attach returns the collector of the provider that the root came from. One that
// is neither the SDK's nor ours cannot be held weakly: it gets a collector for
// this block.
func (c *Capture) attach(reg registrar) *collector {
	switch tp := c.root.TracerProvider().(type) {
	case *sdktrace.TracerProvider:
		return collectorOf(attached, tp)
	case *recorder.Provider:
		return collectorOf(attached, tp)
	}
	col := &collector{}
	reg.RegisterSpanProcessor(col)
	c.detach = func() { reg.UnregisterSpanProcessor(col) }
	return col
}

// Err says why nothing is captured: it wraps [ErrNoSDK] or [ErrTraceIDInUse]. It
// is nil for a block that is captured.
func (c *Capture) Err() error { return c.err }

// Result returns the spans of the block once it has ended, and an empty result
// before; never nil. It may be called from any goroutine.
func (c *Capture) Result() *Result {
	if r := c.result.Load(); r != nil {
		return r
	}
	return newResult(nil, "the block has not ended yet")
}

// End ends the block. Deferred as such, without a function around it, it marks
// the root span with *err, with a panic, which goes on as it is, and with a
// runtime.Goexit. Without *err, what could not be captured or saved is written
// there. err may be nil. Every further call does nothing.
func (c *Capture) End(err *error) {
	panicked := recover()
	c.once.Do(func() {
		var failed error
		if err != nil {
			failed = *err
		}
		c.mark(failed, panicked, panicked == nil && calledByGoexit())
		c.own = c.finish()
		switch {
		case c.own == nil:
		case err != nil && *err == nil && panicked == nil:
			*err = c.own
		default:
			c.cfg.logger.Debug("not captured or not saved", slog.Any("error", c.own))
		}
	})
	if panicked != nil {
		panic(panicked) // as it was
	}
}

// finish closes the window and makes the result.
func (c *Capture) finish() error {
	ended := c.endRoot()
	if ended != nil {
		ended = fmt.Errorf("capture: end: %w", ended)
	}
	c.seen.End()
	res := newResult(nil, c.why)
	if c.window != nil {
		id := c.root.SpanContext().TraceID()
		spans, dropped := c.window.close()
		c.collector.end(id, c.late)
		c.detach()
		res = newResult(sdkspan.Convert(spans), c.why)
		res.dropped, res.late = dropped, c.late
		col, late := c.collector, c.late
		runtime.AddCleanup(res, func(id trace.TraceID) { col.forget(id, late) }, id)
	}
	c.result.Store(res)
	for _, into := range c.cfg.into {
		*into = res
	}
	if c.err != nil || c.cfg.output == "" {
		return errors.Join(c.err, ended)
	}
	return errors.Join(ended, res.SaveChrome(c.cfg.output))
}

// mark puts on the root how the block ended. It does not leave that to
// RecordError, which panics when the error's method does, nor to the span's End,
// which notes a panic only where it is deferred itself and never as an error.
func (c *Capture) mark(err error, panicked any, goexit bool) {
	switch {
	case !c.root.IsRecording():
	case panicked != nil:
		c.root.SetStatus(codes.Error, "panic: "+c.fail(panicked))
	case goexit:
		c.root.SetStatus(codes.Error, "goexit")
	case err != nil:
		c.root.SetStatus(codes.Error, c.fail(err))
	}
}

// maxCause is how many bytes of a message and of a stack are recorded.
const maxCause = 64 << 10

// fail adds the exception event and returns its message.
func (c *Capture) fail(cause any) string {
	message := clip(redact.Message(textOf(redact.Showable(cause)), maxCause))
	c.root.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(
		semconv.ExceptionTypeKey.String(fmt.Sprintf("%T", cause)),
		semconv.ExceptionMessageKey.String(message),
		semconv.ExceptionStacktraceKey.String(clip(redact.Text(string(debug.Stack()), maxCause))),
		attribute.Bool("exception.escaped", true),
	))
	return message
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxCause)], "\uFFFD") }
