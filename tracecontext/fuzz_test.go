package tracecontext_test

import (
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, tp := range []string{parent, "00-" + ids + "-03", "cc-" + ids + "-ff-more", " " + parent, "", "ff" + parent[2:]} {
		for _, ts := range []string{"", "a=1,b=2", " a=1 ,\t, b= 2", odd, numbered(32), "a=1,a=2", "A=1"} {
			f.Add(tp, ts, "")
			f.Add(tp, ts, "c=3")
		}
	}
}

// FuzzExtract compares with OpenTelemetry's propagator: what both accept, both
// read the same way, and what ours sends on is never less.
func FuzzExtract(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, tp, ts1, ts2 string) {
		h := http.Header{"Traceparent": {tp}, "Tracestate": {ts1}}
		if ts2 != "" {
			h.Add("Tracestate", ts2)
		}
		ours := trace.SpanContextFromContext(tracecontext.New().Extract(t.Context(), propagation.HeaderCarrier(h)))
		// OpenTelemetry reads the first header only, and takes "00-…-01-" for valid.
		combined := http.Header{"Traceparent": {tp}, "Tracestate": {strings.Join(h["Tracestate"], ",")}}
		theirs := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(t.Context(), propagation.HeaderCarrier(combined)))
		trailingDash := strings.HasPrefix(tp, "00") && len(tp) == len(parent)+1
		if theirs.IsValid() && !trailingDash {
			if !ours.WithTraceState(trace.TraceState{}).Equal(theirs.WithTraceState(trace.TraceState{})) {
				t.Errorf("traceparent %q: got %v, OpenTelemetry %v", tp, ours, theirs)
			}
			state := theirs.TraceState().String()
			if state != "" && len(combined["Tracestate"][0]) <= tracecontext.MaxTracestateBytes && ours.TraceState().String() != state {
				t.Errorf("tracestate %q: got %q, OpenTelemetry %q", h["Tracestate"], ours.TraceState(), state)
			}
		}
	})
}

// FuzzRoundTrip: what is sent on is valid, within the limits, and means the same
// to the next service.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, tp, ts1, ts2 string) {
		p := tracecontext.New()
		ctx := p.Extract(t.Context(), propagation.HeaderCarrier{"Traceparent": {tp}, "Tracestate": {ts1, ts2}})
		first := http.Header{}
		p.Inject(ctx, propagation.HeaderCarrier(first))
		sc := trace.SpanContextFromContext(ctx)
		if sc.IsValid() != (first.Get("traceparent") != "") {
			t.Fatalf("span context %v is sent on as %v", sc, first)
		}
		state := first.Get("tracestate")
		if len(state) > tracecontext.MaxTracestateBytes || strings.Count(state, ",") > 31 || strings.ContainsAny(state, "\t\r\n") {
			t.Errorf("tracestate %q is out of bounds", state)
		}
		ctx = p.Extract(t.Context(), propagation.HeaderCarrier(first))
		if got := trace.SpanContextFromContext(ctx); !got.Equal(sc) {
			t.Errorf("after a round trip %v is %v", sc, got)
		}
		second := http.Header{}
		p.Inject(ctx, propagation.HeaderCarrier(second))
		if first.Get("traceparent") != second.Get("traceparent") || state != second.Get("tracestate") {
			t.Errorf("first %v, then %v", first, second)
		}
	})
}
