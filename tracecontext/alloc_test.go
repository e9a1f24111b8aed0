//go:build !race

package tracecontext_test

import (
	"context"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/waymark-trace/waymark/tracecontext"
)

// The race detector allocates, so this file is left out there.
func TestAllocations(t *testing.T) {
	extract := func(p propagation.TextMapPropagator, h http.Header) float64 {
		ctx, c := context.Background(), propagation.HeaderCarrier(h)
		var carrier propagation.TextMapCarrier = c
		return testing.AllocsPerRun(200, func() { p.Extract(ctx, carrier) })
	}
	inject := func(ctx context.Context, p propagation.TextMapPropagator) float64 {
		var carrier propagation.TextMapCarrier = propagation.HeaderCarrier{}
		return testing.AllocsPerRun(200, func() { p.Inject(ctx, carrier) })
	}
	ours, theirs := tracecontext.New(), propagation.TraceContext{}
	tests := []struct {
		name string
		h    http.Header
		max  float64 // of Extract
	}{
		{"no traceparent", http.Header{"Accept": {"*/*"}}, 0},
		{"traceparent", http.Header{"Traceparent": {parent}}, 2},
		{"with tracestate", http.Header{"Traceparent": {parent}, "Tracestate": {"a=1,b=2"}}, 5},
	}
	for _, tt := range tests {
		got, otel := extract(ours, tt.h), extract(theirs, tt.h)
		t.Logf("%s: Extract %v allocations, OpenTelemetry %v", tt.name, got, otel)
		if got > tt.max || got > otel {
			t.Errorf("%s: Extract allocates %v times, want at most %v and OpenTelemetry's %v", tt.name, got, tt.max, otel)
		}
		ctx := ours.Extract(context.Background(), propagation.HeaderCarrier(tt.h))
		got, otel = inject(ctx, ours), inject(ctx, theirs)
		t.Logf("%s: Inject %v allocations, OpenTelemetry %v", tt.name, got, otel)
		if got > otel {
			t.Errorf("%s: Inject allocates %v times, OpenTelemetry %v", tt.name, got, otel)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	for _, p := range []struct {
		name string
		p    propagation.TextMapPropagator
	}{{"waymark", tracecontext.New()}, {"otel", propagation.TraceContext{}}} {
		for name, h := range map[string]propagation.HeaderCarrier{
			"none": {}, "traceparent": {"Traceparent": {parent}},
			"tracestate": {"Traceparent": {parent}, "Tracestate": {"a=1,b=2"}},
		} {
			b.Run(name+"/"+p.name, func(b *testing.B) {
				b.ReportAllocs()
				var c propagation.TextMapCarrier = h
				ctx := context.Background()
				for b.Loop() {
					p.p.Extract(ctx, c)
				}
			})
		}
	}
}
