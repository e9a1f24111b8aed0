package bootstrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces"
)

// hop serves one request with the given headers and returns what the next
// service gets, and the IDs that a log line has.
func hop(t *testing.T, tracing *bootstrap.Tracing, header http.Header) (next http.Header, traceID, spanID string) {
	t.Helper()
	peer := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { next = r.Header.Clone() }))
	defer peer.Close()
	var out bytes.Buffer
	logger := slog.New(tracing.LogHandler(slog.NewJSONHandler(&out, nil)))
	client := &http.Client{Transport: tracing.Transport(nil)}
	handler := tracing.Middleware()(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		logger.InfoContext(r.Context(), "inside")
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, peer.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
	}))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header = header
	handler.ServeHTTP(httptest.NewRecorder(), r)
	client.CloseIdleConnections()
	var line struct {
		TraceID string `json:"trace_id"`
		SpanID  string `json:"span_id"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("log %q: %v", &out, err)
	}
	return next, line.TraceID, line.SpanID
}

// With OTEL_TRACES_EXPORTER=none traces begin, are continued and propagated as
// with any other exporter.
func TestExportedNowhereIsPropagated(t *testing.T) {
	t.Parallel()
	const caller = "0af7651916cd43dd8448eb211c80319c"
	for _, tc := range []struct {
		name                     string
		traceparent, tracestate  string
		sampler                  string
		trace, flags, stateAfter string // trace "": a new one
	}{
		{name: "no caller", flags: "01"},
		{name: "no caller, never sampled", sampler: "always_off", flags: "00"},
		{name: "sampled caller", traceparent: "00-" + caller + "-b7ad6b7169203331-01", tracestate: "v=1,w=2", trace: caller, flags: "01", stateAfter: "v=1,w=2"},
		{name: "unsampled caller", traceparent: "00-" + caller + "-b7ad6b7169203331-00", trace: caller, flags: "00"},
		{name: "later version", traceparent: "01-" + caller + "-b7ad6b7169203331-01-more", trace: caller, flags: "01"},
		{name: "random flag", traceparent: "00-" + caller + "-b7ad6b7169203331-03", trace: caller, flags: "03"},
		{name: "refused", traceparent: "00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", tracestate: "v=1", flags: "01"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none", "OTEL_TRACES_SAMPLER": tc.sampler})
			header := http.Header{}
			for key, v := range map[string]string{"Traceparent": tc.traceparent, "Tracestate": tc.tracestate} {
				if v != "" {
					header.Set(key, v)
				}
			}
			next, traceID, spanID := hop(t, tracing, header)
			parts := strings.Split(next.Get("Traceparent"), "-")
			if len(parts) != 4 {
				t.Fatalf("the next service gets traceparent %q", next.Get("Traceparent"))
			}
			if tc.trace != "" && parts[1] != tc.trace || tc.trace == "" && parts[1] == caller || parts[1] != traceID {
				t.Errorf("trace %s, in the log %s, want %q", parts[1], traceID, tc.trace)
			}
			if parts[2] == "b7ad6b7169203331" || parts[2] == spanID || len(spanID) != 16 {
				t.Errorf("parent %s: want the client span, which is neither the caller's nor the server's (%s)", parts[2], spanID)
			}
			if parts[3] != tc.flags || next.Get("Tracestate") != tc.stateAfter {
				t.Errorf("flags %s, tracestate %q; want %s, %q", parts[3], next.Get("Tracestate"), tc.flags, tc.stateAfter)
			}
		})
	}
}

func TestExportedNowhereIsSeenByProcessors(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	tracing, _ := start(t, none(), withProcessor(tr.Processor()))
	hop(t, tracing, http.Header{})
	tr.Span("GET").Kind(traces.KindServer).One()
	tr.Span("GET").Kind(traces.KindClient).One()
}

// A capture sees its spans in this mode too, and costs nothing afterwards.
func TestExportedNowhereIsCaptured(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, none())
	tracer := tracing.TracerProvider().Tracer("shop")
	records := func(ctx context.Context) bool {
		_, span := tracer.Start(ctx, "work")
		defer span.End()
		return span.IsRecording()
	}
	if records(t.Context()) {
		t.Error("a span records before the capture")
	}
	result, err := capture.Run(t.Context(), "capture", func(ctx context.Context) error {
		if !records(ctx) {
			t.Error("a span of the capture does not record")
		}
		return nil
	}, capture.WithTracerProvider(tracing.TracerProvider()))
	if err != nil || len(result.Spans()) == 0 {
		t.Errorf("captured %d spans, %v", len(result.Spans()), err)
	}
	p, ok := tracing.TracerProvider().(interface {
		RegisterSpanProcessor(sdktrace.SpanProcessor)
		UnregisterSpanProcessor(sdktrace.SpanProcessor)
	})
	if !ok {
		t.Fatal("the provider takes no processor")
	}
	mine := &notingProcessor{}
	p.UnregisterSpanProcessor(mine)
	p.RegisterSpanProcessor(mine)
	if !records(t.Context()) {
		t.Error("a span does not record for a processor")
	}
	p.UnregisterSpanProcessor(mine)
	if len(mine.ended) != 1 {
		t.Errorf("the processor saw %d spans, want 1", len(mine.ended))
	}
}

// Spans that nobody sees cost no more than those that are not sampled.
func TestExportedNowhereCostsAsUnsampled(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	allocations := func(vars env.Map) float64 {
		tracing, _ := start(t, vars)
		h := tracing.Middleware()(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		return testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, r) })
	}
	got, most := allocations(none()), allocations(env.Map{"OTEL_TRACES_SAMPLER": "always_off"})
	if got > most {
		t.Errorf("%v allocations a request, want at most the %v of one that is not sampled", got, most)
	}
}
