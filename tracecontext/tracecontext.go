// Package tracecontext carries a trace from one service to the next in the
// traceparent and tracestate headers: a propagator for W3C Trace Context,
// Level 2.
//
// OpenTelemetry's propagation.TraceContext follows Level 1 and loses what
// [trace.TraceState] cannot hold. This one reads Level 2 as it is written:
//
//   - Several tracestate headers are one list; a second traceparent is an error.
//   - Duplicate keys, keys that begin with a digit, keys with "@" anywhere after
//     the first character: all valid in Level 2, and all reach the next service,
//     although [trace.TraceState] shows none of them. They travel in the context,
//     bound to the trace id, so a new root does not inherit them.
//   - Flags that are not defined yet are ignored, not an error.
//
// Where both accept a header, both give the same span context.
//
// Spec: https://www.w3.org/TR/trace-context-2/
package tracecontext

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const (
	traceparentName = "traceparent"
	tracestateName  = "tracestate"

	// The names as net/http keeps them. Indexing with them saves the
	// allocation that http.Header.Get makes to find them each time.
	traceparentCanonical = "Traceparent"
	tracestateCanonical  = "Tracestate"
)

// Propagator reads and writes traceparent and tracestate. The zero value works.
// It holds nothing and is safe for concurrent use.
type Propagator struct{}

var _ propagation.TextMapPropagator = Propagator{}

// New returns the propagator.
func New() Propagator { return Propagator{} }

// Inject writes the span context of ctx into carrier, replacing what is there:
// a tracestate that the carrier holds from elsewhere is removed when the span
// context has none, because it would belong to another parent. Without a valid
// span context the carrier stays as it is.
//
// Members of tracestate that were changed since [Propagator.Extract] come first;
// those that [trace.TraceState] could not hold follow in their old order. More
// than 32 members, or more than [MaxTracestateBytes], lose members as
// tracestate-limits says.
//
// Spec: https://www.w3.org/TR/trace-context-2/#mutating-the-tracestate-field
func (Propagator) Inject(ctx context.Context, carrier propagation.TextMapCarrier) {
	sc := trace.SpanContextFromContext(ctx)
	if carrier == nil || !sc.IsValid() {
		return
	}
	set(carrier, traceparentName, traceparentCanonical, formatTraceparent(sc))
	if state := outgoing(ctx, sc); state != "" {
		set(carrier, tracestateName, tracestateCanonical, state)
	} else {
		remove(carrier, tracestateName, tracestateCanonical)
	}
}

// Extract returns ctx with the remote span context that carrier holds, or ctx
// itself when there is no traceparent, more than one, or one that is not valid.
// A tracestate that cannot be read is left out whole; the traceparent stays.
//
// A carrier that is a [propagation.ValuesGetter] gives all its headers. Header
// names are found in any case in a [propagation.MapCarrier]; other carriers
// decide that for themselves.
//
// Spec: https://www.w3.org/TR/trace-context-2/#a-traceparent-is-received
func (Propagator) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	if carrier == nil {
		return ctx
	}
	var one [1]string
	parents := lookup(carrier, traceparentName, traceparentCanonical, &one)
	if len(parents) != 1 {
		return ctx
	}
	scc, ok := parseTraceparent(parents[0])
	if !ok {
		return ctx
	}
	state, rest := incoming(lookup(carrier, tracestateName, tracestateCanonical, &one), scc.TraceID)
	scc.TraceState, scc.Remote = state, true
	return trace.ContextWithRemoteSpanContext(withCarried(ctx, rest), trace.NewSpanContext(scc))
}

// Fields returns the names of the headers that Inject sets: traceparent and
// tracestate. The slice is the caller's.
func (Propagator) Fields() []string { return []string{traceparentName, tracestateName} }
