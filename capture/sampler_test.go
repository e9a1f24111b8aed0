package capture_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/jsonlexport"
)

// Captures see what is not sampled; no exporter does, nor the span file.
func TestSampler(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	jsonl := jsonlexport.NewWriter(&file)
	exporter := tracetest.NewInMemoryExporter()
	sampler := capture.Sampler(sdktrace.ParentBased(sdktrace.NeverSample()))
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler),
		sdktrace.WithSyncer(exporter), sdktrace.WithBatcher(exporter), sdktrace.WithSpanProcessor(jsonl))
	var inside context.Context
	res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		inside = ctx //nolint:fatcontext // for after the block
		ctx, s := tp.Tracer("test").Start(ctx, "outer")
		defer s.End()
		if s.SpanContext().IsSampled() {
			t.Error("the span is sampled")
		}
		span(ctx, "inner")
		_, other := tp.Tracer("test").Start(ctx, "other trace", trace.WithNewRoot())
		defer other.End()
		if other.IsRecording() {
			t.Error("a span of another trace is recorded")
		}
		return nil
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, res, "block", "outer", "inner")
	if _, s := tp.Tracer("test").Start(inside, "after"); s.IsRecording() {
		t.Error("a span is recorded after the block")
	}
	if _, s := tp.Tracer("test").Start(inside, "new trace after", trace.WithNewRoot()); s.IsRecording() {
		t.Error("a root is recorded after the block")
	}
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(exporter.GetSpans()); n > 0 || file.Len() > 0 || jsonl.Stats().Ended > 0 {
		t.Errorf("%d spans exported, the file has %q", n, file.String())
	}
	if want := "CaptureSampler{" + sdktrace.ParentBased(sdktrace.NeverSample()).Description() + "}"; sampler.Description() != want {
		t.Errorf("Description %q, want %q", sampler.Description(), want)
	}
}

// What base samples stays sampled.
func TestSamplerKeepsBase(t *testing.T) {
	t.Parallel()
	tp, exporter := provider(sdktrace.WithSampler(capture.Sampler(sdktrace.AlwaysSample())))
	res, _ := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		span(ctx, "inside")
		return nil
	}, capture.WithTracerProvider(tp))
	wantNames(t, res, "block", "inside")
	if n := len(exporter.GetSpans()); n != 2 {
		t.Errorf("exported %d spans, want 2", n)
	}
}

// A server in the same process has the trace ID, and not the context.
func TestSamplerAcrossHTTP(t *testing.T) {
	t.Parallel()
	tp, exporter := provider(sdktrace.WithSampler(capture.Sampler(sdktrace.ParentBased(sdktrace.NeverSample()))))
	w3c := propagation.TraceContext{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, s := tp.Tracer("server").Start(w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), "handle")
		s.End()
	}))
	defer srv.Close()
	res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		if err != nil {
			return err
		}
		w3c.Inject(ctx, propagation.HeaderCarrier(req.Header))
		resp, err := srv.Client().Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, res, "block", "handle")
	if len(exporter.GetSpans()) > 0 {
		t.Error("exported")
	}
	if remote, _ := res.Spans()[1].RemoteParent(); !remote || res.Spans()[1].ParentID != res.Root().SpanID {
		t.Errorf("span %+v", res.Spans()[1])
	}
}

func TestUnsampledExplains(t *testing.T) {
	t.Parallel()
	tp, _ := provider(sdktrace.WithSampler(sdktrace.NeverSample()))
	res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		span(ctx, "inside")
		return nil
	}, capture.WithTracerProvider(tp))
	if err != nil || res.String() != "(no spans)" || !strings.Contains(res.Empty(), "capture.Sampler") {
		t.Errorf("%v: %s: %s", err, res, res.Empty())
	}
}

// A provider that was shut down hurts nobody: the block runs.
func TestShutDownProvider(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	ctx, s := tp.Tracer("test").Start(t.Context(), "around")
	s.End()
	_ = tp.Shutdown(t.Context())
	for name, ctx := range map[string]context.Context{"no span around": t.Context(), "a span around": ctx} {
		ran := false
		boom := errors.New("boom")
		res, err := capture.Run(ctx, "block", func(ctx context.Context) error {
			ran = true
			span(ctx, "inside")
			return boom
		}, capture.WithTracerProvider(tp))
		if !errors.Is(err, boom) || !ran || res.String() != "(no spans)" || !strings.Contains(res.Empty(), "shut down") {
			t.Errorf("%s: ran %v, %v: %s: %s", name, ran, err, res, res.Empty())
		}
	}
}

func TestOnlyRootExplains(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	res, _ := capture.Run(t.Context(), "block", func(context.Context) error { return nil }, capture.WithTracerProvider(tp))
	if !strings.Contains(res.Empty(), "context") || len(res.Spans()) != 1 {
		t.Errorf("%q", res.Empty())
	}
	res, _ = capture.Run(t.Context(), "block", func(ctx context.Context) error { span(ctx, "s"); return nil },
		capture.WithTracerProvider(tp), capture.WithMaxSpans(1))
	if !strings.Contains(res.Empty(), "WithMaxSpans") {
		t.Errorf("%q", res.Empty())
	}
}

// sameIDs always makes the same trace ID.
type sameIDs struct{}

func (*sameIDs) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	return trace.TraceID{1}, trace.SpanID{1}
}
func (*sameIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return trace.SpanID{2} }

// When the window cannot be opened the root ends and the context is the old one.
func TestTraceIDInUse(t *testing.T) {
	t.Parallel()
	tp, exporter := provider(sdktrace.WithIDGenerator(&sameIDs{}))
	outer, err := capture.Run(t.Context(), "outer", func(ctx context.Context) error {
		ran := false
		ctx = trace.ContextWithSpan(ctx, noop.Span{}) // none around
		res, err := capture.Run(ctx, "inner", func(context.Context) error { ran = true; return nil }, capture.WithTracerProvider(tp))
		if !errors.Is(err, capture.ErrTraceIDInUse) || ran || len(res.Spans()) > 0 {
			t.Errorf("ran %v, %v: %v", ran, err, res)
		}
		if same, _ := capture.Start(ctx, "inner", capture.WithTracerProvider(tp)); same != ctx {
			t.Error("the context is not the old one")
		}
		if n := len(exporter.GetSpans()); n != 2 {
			t.Errorf("%d roots have ended, want 2", n)
		}
		return nil
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Error(err)
	}
	if outer.Root() == nil {
		t.Error("the outer capture is lost")
	}
}
