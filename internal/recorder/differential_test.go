package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func TestMain(m *testing.M) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // of processors' Shutdown
	os.Exit(m.Run())
}

// FuzzAsTheSDK drives our provider and the SDK's by the same calls: processors,
// sampler, ID generator and caller see the same in the same order, and nothing
// that was handed out changes.
func FuzzAsTheSDK(f *testing.F) {
	f.Add([]byte{})
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data) })
}

// Random calls, as the fuzzer makes them, in each run of the tests.
func TestAsTheSDK(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		data := make([]byte, r.IntN(800))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		compare(t, data)
		if t.Failed() {
			t.Fatalf("of %d bytes: %q", len(data), data)
		}
	}
}

func compare(t *testing.T, data []byte) {
	t.Helper()
	theirs, ours := newWorld(data, true), newWorld(data, false)
	theirs.run()
	ours.run()
	if diff := cmp.Diff(theirs.log, ours.log); diff != "" {
		t.Errorf("the SDK's -, ours +:\n%s", diff)
	}
	for _, h := range ours.held {
		if now := h.show(); now != h.before {
			t.Errorf("what was handed out has changed:\n%s\n%s", h.before, now)
		}
	}
}

// maxSteps keeps one run short.
const maxSteps = 200

func (w *world) run() {
	for range maxSteps {
		if len(w.in.data) == 0 {
			break
		}
		w.step()
	}
	for _, s := range w.spans {
		s.End()
	}
}

func (w *world) step() {
	switch w.in.n(16) {
	case 0, 1, 2:
		w.start()
	case 3:
		w.onProvider()
	case 4:
		w.panicking()
	case 5:
		w.span().End(w.in.endOptions()...)
	default:
		w.onSpan(w.span())
	}
}

// span chooses one that has begun.
func (w *world) span() trace.Span {
	if len(w.spans) == 0 {
		w.start()
	}
	return w.spans[len(w.spans)-1-w.in.n(len(w.spans))]
}

func (w *world) start() {
	w.decision = w.in.samplingResult()
	tracer := w.tracers[w.in.n(len(w.tracers))]
	before := w.in.context(w.contexts)
	if w.down && before == nil {
		before = context.Background() // the tracer that the SDK gives then would panic
	}
	ctx, s := tracer.Start(before, w.in.text(), w.in.startOptions()...) //nolint:spancheck // run ends it
	w.note("started %s recording %v of ours %v in its context %v", showContext(s.SpanContext()), s.IsRecording(),
		s.TracerProvider() == trace.TracerProvider(w.provider), trace.SpanFromContext(ctx).SpanContext().Equal(s.SpanContext()))
	w.contexts, w.spans = append(w.contexts, ctx), append(w.spans, s)
} //nolint:spancheck // run ends it

func (w *world) onProvider() {
	switch p := w.processors[w.in.n(len(w.processors))]; w.in.n(8) {
	case 0, 1:
		w.provider.RegisterSpanProcessor(p)
	case 2:
		w.provider.UnregisterSpanProcessor(p)
	case 3:
		ctx, cancel := context.WithCancel(context.Background())
		if w.in.oneIn(2) {
			cancel()
		}
		w.note("flushed: %v", w.provider.ForceFlush(ctx))
		cancel()
	case 4:
		if w.in.oneIn(3) {
			ctx, cancel := context.WithCancel(context.Background())
			if w.in.oneIn(2) {
				cancel()
			}
			w.down = true
			w.note("shut down: %v", w.provider.Shutdown(ctx))
			cancel()
		}
	default:
		w.tracers = append(w.tracers, w.provider.Tracer(w.in.text(), trace.WithInstrumentationVersion(w.in.text()),
			trace.WithSchemaURL(w.in.text()), trace.WithInstrumentationAttributes(w.in.attributes(4, 4)...)))
		for i, t := range w.tracers {
			w.note("tracer %d is the last one: %v", i, t == w.tracers[len(w.tracers)-1])
		}
	}
}

func (w *world) onSpan(s trace.Span) {
	switch w.in.n(9) {
	case 0:
		s.SetName(w.in.text())
	case 1:
		s.SetStatus(codes.Code(w.in.n(4)), w.in.text())
	case 2:
		for _, l := range w.in.links() {
			s.AddLink(l)
		}
	case 3, 4:
		s.AddEvent(w.in.text(), w.in.eventOptions()...)
	case 5:
		s.RecordError([]error{nil, errSpy, fmt.Errorf("outer: %w", errSpy), valueError("v"), &pointerError{}}[w.in.n(5)], w.in.eventOptions()...)
	case 6:
		w.read(s)
	default:
		s.SetAttributes(w.in.attributes(50, 3)...)
	}
}

func (w *world) read(s trace.Span) {
	ro, ok := s.(sdktrace.ReadWriteSpan)
	w.note("recording %v readable %v", s.IsRecording(), ok)
	if !ok {
		return
	}
	w.note("read %s dropped %d %d", show(ro), ro.DroppedEvents(), ro.DroppedLinks())
	attrs, events, links := ro.Attributes(), ro.Events(), ro.Links()
	w.hold(func() string { return showAll(attrs) + showEvents(events) + showLinks(links) })
	_ = append(attrs, attribute.Bool("reader's", true)) //nolint:gocritic // what is behind the reader's slice is its own
}

// panicking ends a span as a deferred End does while the goroutine panics.
func (w *world) panicking() {
	s, opts := w.span(), w.in.endOptions()
	cause := []any{"text", errSpy, 7, errors.New("x"), struct{ A int }{1}, &pointerError{}}[w.in.n(6)] //nolint:err113 // a test's
	defer func() { w.note("panic: %T %v", recover(), s.IsRecording()) }()
	defer s.End(opts...)
	panic(cause)
}

type valueError string

func (v valueError) Error() string { return string(v) }

type pointerError struct{}

func (*pointerError) Error() string { return "pointer" }
