package bootstrap

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// stateSampler decides by the name, and adds to the trace state.
type stateSampler struct{}

func (stateSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	state, err := trace.SpanContextFromContext(p.ParentContext).TraceState().Insert("seen", "yes")
	r := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: state}
	if err != nil || len(p.Attributes) != 1 || p.Kind != trace.SpanKindServer || len(p.Links) != 1 {
		return r
	}
	switch p.Name {
	case "sample":
		r.Decision = sdktrace.RecordAndSample
	case "record":
		r.Decision = sdktrace.RecordOnly
	}
	return r
}

func (stateSampler) Description() string { return "StateSampler" }

// What others see of a span that is exported nowhere is what they see of the
// SDK's.
func TestUnexportedSpanContextIsTheSDKs(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("a=1,b=2")
	if err != nil {
		t.Fatal(err)
	}
	caller := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: state, Remote: true}
	with := func(change func(*trace.SpanContextConfig)) context.Context {
		c := caller
		change(&c)
		return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(c))
	}
	contexts := map[string]context.Context{
		"nil":     nil,
		"no span": context.Background(),
		"sampled": with(func(c *trace.SpanContextConfig) { c.TraceFlags = trace.FlagsSampled }),
		"dropped": with(func(*trace.SpanContextConfig) {}),
		"other flags": with(func(c *trace.SpanContextConfig) {
			c.TraceFlags = 0xfe
		}),
		"local":       with(func(c *trace.SpanContextConfig) { c.Remote = false; c.TraceFlags = trace.FlagsSampled }),
		"no span id":  with(func(c *trace.SpanContextConfig) { c.SpanID = trace.SpanID{} }),
		"no trace id": with(func(c *trace.SpanContextConfig) { c.TraceID = trace.TraceID{} }),
	}
	samplers := []sdktrace.Sampler{
		sdktrace.AlwaysSample(), sdktrace.NeverSample(), sdktrace.ParentBased(sdktrace.AlwaysSample()),
		sdktrace.ParentBased(sdktrace.NeverSample()), sdktrace.TraceIDRatioBased(1),
		stateSampler{},
	}
	options := map[string][]trace.SpanStartOption{
		"plain": nil,
		"root":  {trace.WithNewRoot()},
		"all": {
			trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.Int("a", 1)),
			trace.WithLinks(trace.Link{SpanContext: trace.NewSpanContext(caller)}),
		},
	}
	for where, ctx := range contexts {
		for _, sampler := range samplers {
			for how, opts := range options {
				for _, name := range []string{"sample", "record", "drop"} {
					sdk := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))
					ours := &unexported{spanProvider: sdk, sampler: sampler}
					_, want := sdk.Tracer("x").Start(ctx, name, opts...)
					gotCtx, got := ours.Tracer("x").Start(ctx, name, opts...)
					same(t, where+", "+sampler.Description()+", "+how+", "+name, got.SpanContext(), want.SpanContext())
					if got.IsRecording() || trace.SpanFromContext(gotCtx) != got || got.TracerProvider() != trace.TracerProvider(ours) {
						t.Errorf("%s: the span records, is not in its context or has another provider", where)
					}
					got.End()
					want.End()
				}
			}
		}
	}
}

func same(t *testing.T, what string, got, want trace.SpanContext) {
	t.Helper()
	if !got.IsValid() || got.IsRemote() {
		t.Errorf("%s: valid %t, remote %t", what, got.IsValid(), got.IsRemote())
	}
	if want.TraceID() == (trace.TraceID{1}) != (got.TraceID() == trace.TraceID{1}) {
		t.Errorf("%s: trace %s, want %s", what, got.TraceID(), want.TraceID())
	}
	if got.TraceFlags() != want.TraceFlags() || got.TraceState().String() != want.TraceState().String() {
		t.Errorf("%s: flags %s, state %q; want %s, %q", what, got.TraceFlags(), got.TraceState(), want.TraceFlags(), want.TraceState())
	}
}
