// Package tracecontext is a W3C Trace Context (Level 2) propagator.
package tracecontext

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
)

// Propagator reads and writes traceparent and tracestate.
type Propagator struct{ tc propagation.TraceContext }

var _ propagation.TextMapPropagator = Propagator{}

// New returns the propagator.
func New() Propagator { return Propagator{} }

// Inject writes the span context of ctx into carrier.
func (p Propagator) Inject(ctx context.Context, carrier propagation.TextMapCarrier) {
	p.tc.Inject(ctx, carrier)
}

// Extract returns ctx with the remote span context that carrier holds.
func (p Propagator) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	return p.tc.Extract(ctx, carrier)
}

// Fields returns the names of the headers.
func (p Propagator) Fields() []string { return p.tc.Fields() }
