package middleware_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/middleware"
)

func TestInjectExtract(t *testing.T) {
	t.Parallel()
	p := middleware.WithPropagators(w3c())
	for name, headers := range map[string]map[string]string{
		"headers":     {"traceparent": callerHead, "tracestate": "a=b", "baggage": "k=v"},
		"environment": {"TRACEPARENT": callerHead, "TRACESTATE": "a=b", "BAGGAGE": "k=v"},
	} {
		ctx := middleware.Extract(t.Context(), headers, p)
		sc := trace.SpanContextFromContext(ctx)
		if sc.SpanID().String() != callerSpan || !sc.IsRemote() || sc.TraceState().Get("a") != "b" {
			t.Errorf("%s: extracted %v", name, sc)
		}
		if got := baggage.FromContext(ctx).Member("k").Value(); got != "v" {
			t.Errorf("%s: baggage = %q", name, got)
		}
		if got := middleware.Inject(ctx, p); got["traceparent"] != callerHead || got["tracestate"] != "a=b" || got["baggage"] != "k=v" {
			t.Errorf("%s: injected %v", name, got)
		}
	}
}

func TestInjectExtractOfNothing(t *testing.T) {
	t.Parallel()
	p := middleware.WithPropagators(w3c())
	var nilContext context.Context
	for _, ctx := range []context.Context{nilContext, t.Context()} {
		if got := middleware.Inject(ctx, p); got == nil || len(got) != 0 {
			t.Errorf("Inject = %v, want an empty map", got)
		}
		got := middleware.Extract(ctx, nil, p)
		if got == nil || ctx != nil && got != ctx {
			t.Errorf("Extract(nil) = %v", got)
		}
	}
	for _, bad := range []string{"", "x", "00-0-0-0", "00-00000000000000000000000000000000-0000000000000000-01", callerHead + "x"} {
		ctx := middleware.Extract(t.Context(), map[string]string{"traceparent": bad}, p)
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
			t.Errorf("traceparent %q was taken for %v", bad, sc)
		}
	}
	// Without options, and with the global propagators unset, nothing travels and nothing breaks.
	_ = middleware.Extract(t.Context(), map[string]string{"traceparent": callerHead})
	_ = middleware.Inject(t.Context())
}
