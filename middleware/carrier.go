package middleware

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Inject returns the headers that carry the trace (and baggage) of ctx to another process, say
//
//	{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
//
// for the environment of a command, a message, a job. The map is the caller's; it is empty, not nil, when there is
// nothing to carry. Of the options [WithPropagators] counts. ctx may be nil.
func Inject(ctx context.Context, opts ...Option) map[string]string {
	headers := map[string]string{}
	if ctx != nil {
		newSettings(newConfig(opts)).propagator().Inject(ctx, propagation.MapCarrier(headers))
	}
	return headers
}

// Extract returns ctx with what headers carry, as [Inject] wrote it: a span that starts from it is the child of the
// other process's. Names count in any case, so that environment variables (TRACEPARENT) work too. What is missing
// or malformed leaves ctx as it is. Of the options [WithPropagators] counts. A nil ctx is [context.Background].
func Extract(ctx context.Context, headers map[string]string, opts ...Option) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	if len(headers) == 0 {
		return ctx
	}
	return newSettings(newConfig(opts)).propagator().Extract(ctx, foldingCarrier(headers))
}

// foldingCarrier finds a name in any case.
type foldingCarrier propagation.MapCarrier

func (c foldingCarrier) Get(key string) string {
	if v, ok := c[key]; ok {
		return v
	}
	for k, v := range c {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

func (c foldingCarrier) Set(key, value string) { c[key] = value }

func (c foldingCarrier) Keys() []string { return propagation.MapCarrier(c).Keys() }

// headerCarrier is propagation.HeaderCarrier without the allocation for each lookup: http.Header.Get makes a new
// string to get from traceparent to Traceparent.
type headerCarrier http.Header

var _ propagation.ValuesGetter = headerCarrier{}

func (c headerCarrier) Get(key string) string {
	if vs := c.Values(key); len(vs) > 0 {
		return vs[0]
	}
	return ""
}

func (c headerCarrier) Values(key string) []string {
	switch key {
	case "traceparent":
		return c["Traceparent"]
	case "tracestate":
		return boundedState(c["Tracestate"])
	case "baggage":
		return c["Baggage"]
	}
	return http.Header(c).Values(key)
}

// maxState is what a tracestate of 32 members, of the longest keys and values, has room for.
const maxState = 32 * (256 + 1 + 256 + 1)

// boundedState returns a tracestate unless white space or empty members have made it longer than it can be: a span
// keeps its members, which are parts of it.
func boundedState(values []string) []string {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if size > maxState {
		return nil
	}
	return values
}

func (c headerCarrier) Set(key, value string) { http.Header(c).Set(key, value) }

func (c headerCarrier) Keys() []string { return propagation.HeaderCarrier(c).Keys() }

// serverTiming returns the value of the response header.
// Spec: https://www.w3.org/TR/server-timing/#the-server-timing-header-field
func serverTiming(sc trace.SpanContext) string {
	return `traceparent;desc="00-` + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + sc.TraceFlags().String() + `"`
}
