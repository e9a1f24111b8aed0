package capture

import (
	"context"
	"reflect"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"

	"github.com/waymark-trace/waymark/internal/capturing"
)

// standIn is the provider that a capture installs where the program has set
// none. Outside of captures it drops every span, as if it were not there, until
// somebody gives it a processor. Once the program sets a provider it hands over
// to that one: OTel lets tracers that were taken before any provider was set
// change over once only, which was to the stand-in.
type standIn struct {
	embedded.TracerProvider
	sdk *sdktrace.TracerProvider
	all atomic.Bool
}

var _ trace.TracerProvider = (*standIn)(nil)

func newStandIn() *standIn {
	s := &standIn{}
	s.sdk = sdktrace.NewTracerProvider(sdktrace.WithSampler(
		capturing.NewSampler(standInSampler{&s.all}, sdktrace.RecordAndSample)))
	return s
}

// StandIn tells bootstrap that the program has set no provider.
func (*standIn) StandIn() bool { return true }

// Unwrap returns the SDK's provider.
func (s *standIn) Unwrap() trace.TracerProvider { return s.sdk }

// RegisterSpanProcessor adds somebody's processor, for whom all spans are
// recorded from now on.
func (s *standIn) RegisterSpanProcessor(p sdktrace.SpanProcessor) {
	s.all.Store(true)
	s.sdk.RegisterSpanProcessor(p)
}

// UnregisterSpanProcessor removes a processor.
func (s *standIn) UnregisterSpanProcessor(p sdktrace.SpanProcessor) { s.sdk.UnregisterSpanProcessor(p) }

// ForceFlush flushes the processors.
func (s *standIn) ForceFlush(ctx context.Context) error { return s.sdk.ForceFlush(ctx) }

// Shutdown shuts the SDK's provider down.
func (s *standIn) Shutdown(ctx context.Context) error { return s.sdk.Shutdown(ctx) }

// Tracer returns a tracer that hands over.
func (s *standIn) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return &standInTracer{from: s, own: s.sdk.Tracer(name, opts...), name: name, opts: opts}
}

type standInSampler struct{ all *atomic.Bool }

func (s standInSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if s.all.Load() {
		return sdktrace.ParentBased(sdktrace.AlwaysSample()).ShouldSample(p)
	}
	return sdktrace.NeverSample().ShouldSample(p)
}

func (standInSampler) Description() string { return "StandIn" }

type standInTracer struct {
	embedded.Tracer
	from *standIn
	own  trace.Tracer
	name string
	opts []trace.TracerOption
	next atomic.Pointer[handedOver]
}

// handedOver is the tracer of the provider that came after the stand-in.
type handedOver struct {
	provider trace.TracerProvider // a pointer, so that it can be compared
	tracer   trace.Tracer
}

// Start begins a span of the provider that is set now.
func (t *standInTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.tracer(otel.GetTracerProvider()).Start(ctx, name, opts...) //nolint:spancheck // the caller ends it
}

func (t *standInTracer) tracer(now trace.TracerProvider) trace.Tracer {
	if now == trace.TracerProvider(t.from) {
		return t.own
	}
	next := t.next.Load()
	if next == nil || next.provider != now {
		if !t.from.handsOverTo(now) {
			return t.own
		}
		next = &handedOver{now, now.Tracer(t.name, t.opts...)}
		t.next.Store(next)
	}
	return next.tracer
}

// handsOverTo reports whether tp is known to have another provider than s behind
// it. One that wraps s would send the span back here, for ever.
func (s *standIn) handsOverTo(tp trace.TracerProvider) bool {
	if reflect.TypeOf(tp).Kind() != reflect.Pointer {
		return false
	}
	for i := range maxUnwrap {
		if _, ok := tp.(*sdktrace.TracerProvider); ok {
			return true
		}
		u, ok := tp.(unwrapper)
		if !ok {
			return i > 0 // what is inside is no SDK, so not ours
		}
		if u == unwrapper(s) {
			return false
		}
		tp = u.Unwrap()
	}
	return false
}
