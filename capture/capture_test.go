package capture_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/traces"
)

// names are those of the result's spans, in the order of their starts.
func names(r *capture.Result) []string {
	out := []string{}
	for _, s := range r.Spans() {
		out = append(out, s.Name)
	}
	return out
}

func wantNames(t *testing.T, r *capture.Result, want ...string) {
	t.Helper()
	if got := names(r); !slices.Equal(got, want) {
		t.Errorf("spans: %q, want %q", got, want)
	}
}

// span makes a span of the context's provider, which ends at once.
func span(ctx context.Context, name string) {
	_, s := trace.SpanFromContext(ctx).TracerProvider().Tracer("test").Start(ctx, name)
	s.End()
}

// provider is one of the SDK's, and what its exporter gets.
func provider(opts ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, *tracetest.InMemoryExporter) {
	exporter := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(append(opts, sdktrace.WithSyncer(exporter))...), exporter
}

func TestRun(t *testing.T) {
	t.Parallel()
	tp, exporter := provider()
	res, err := capture.Run(t.Context(), "build", func(ctx context.Context) error {
		ctx, outer := tp.Tracer("shop").Start(ctx, "outer", trace.WithAttributes(attribute.Int("n", 1)))
		defer outer.End()
		span(ctx, "inner")
		return nil
	}, capture.WithTracerProvider(tp), capture.WithAttributes(attribute.Bool("root", true)))
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, res, "build", "outer", "inner")
	root := res.Root()
	if root.Name != "build" || root.ScopeName() != capture.ScopeName || root.Failed() || root.Open() {
		t.Errorf("root: %+v", root)
	}
	if v, ok := root.Attr("root"); !ok || !v.AsBool() {
		t.Error("the root has no attribute")
	}
	if got := len(exporter.GetSpans()); got != 3 {
		t.Errorf("the exporter got %d spans, want 3", got)
	}
	if res.Empty() != "" || res.Dropped() != 0 || res.Late() != 0 {
		t.Errorf("Empty %q, Dropped %d, Late %d", res.Empty(), res.Dropped(), res.Late())
	}
	lines := strings.Split(res.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "└── build (") || !strings.HasPrefix(lines[2], "        └── inner (") {
		t.Errorf("tree:\n%s", res)
	}
}

type key struct{}

// The block is a trace of its own, and everything else of the context stays.
func TestFreshTrace(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
	ctx, ambient := tp.Tracer("test").Start(ctx, "ambient")
	defer ambient.End()
	cause := errors.New("cause")
	res, err := capture.Run(ctx, "block", func(inner context.Context) error {
		if inner.Value(key{}) != "value" {
			t.Error("the value is gone")
		}
		span(inner, "inside")
		span(ctx, "sibling of the ambient span")
		cancel(cause)
		<-inner.Done()
		return context.Cause(inner)
	}, capture.WithTracerProvider(tp))
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	wantNames(t, res, "block", "inside")
	root := res.Root()
	around := ambient.SpanContext()
	if root.TraceID == traces.TraceID(around.TraceID()) || !root.ParentID.IsZero() {
		t.Errorf("the root is in the trace around it: %+v", root)
	}
	if len(root.Links) != 1 || root.Links[0].SpanID != traces.SpanID(around.SpanID()) || root.Links[0].TraceID != traces.TraceID(around.TraceID()) {
		t.Errorf("links: %+v", root.Links)
	}
}

// Only an ambient span is linked.
func TestNoAmbientSpan(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	res, _ := capture.Run(t.Context(), "block", func(context.Context) error { return nil }, capture.WithTracerProvider(tp))
	if links := res.Root().Links; len(links) > 0 {
		t.Errorf("links: %+v", links)
	}
}

func exception(t *testing.T, s *traces.Span) traces.Exception {
	t.Helper()
	for e := range s.Exceptions() {
		return e
	}
	t.Errorf("no exception on %+v", s)
	return traces.Exception{}
}

// wild is an error whose method panics.
type wild struct{}

func (*wild) Error() string { panic("wild") }

func TestError(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"plain": errors.New("boom"), "panics when asked": &wild{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tp, _ := provider()
			res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
				span(ctx, "inside")
				return failure
			}, capture.WithTracerProvider(tp))
			if err != failure { //nolint:errorlint // the error itself is wanted, not one that wraps it
				t.Errorf("error %T, want it as it was", err)
			}
			wantNames(t, res, "block", "inside")
			root := res.Root()
			if !root.Failed() || name == "plain" && root.Status.Message != "boom" {
				t.Errorf("status %+v", root.Status)
			}
			e := exception(t, root)
			if e.Type != reflect.TypeOf(failure).String() || e.Stacktrace == "" || name == "plain" && e.Message != "boom" {
				t.Errorf("exception %+v", e)
			}
		})
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	value := &struct{ n int }{7}
	var res *capture.Result
	var recovered any
	func() {
		defer func() { recovered = recover() }()
		_, _ = capture.Run(t.Context(), "block", func(ctx context.Context) error {
			span(ctx, "inside")
			panic(value)
		}, capture.WithTracerProvider(tp), capture.Into(&res))
	}()
	if recovered != any(value) {
		t.Errorf("recovered %v, want the value as it was", recovered)
	}
	if res == nil {
		t.Fatal("no result")
	}
	wantNames(t, res, "block", "inside")
	if root := res.Root(); root.Status.Message != "panic: &{7}" || root.Open() {
		t.Errorf("root %+v", root)
	}
	if e := exception(t, res.Root()); e.Type != "*struct { n int }" || !strings.Contains(e.Stacktrace, "TestPanic") {
		t.Errorf("exception %+v", e)
	}
}

func goexit() { runtime.Goexit() }

func TestGoexit(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	for name, block := range map[string]func(into **capture.Result){
		"Run": func(into **capture.Result) {
			_, _ = capture.Run(t.Context(), "block", func(ctx context.Context) error {
				span(ctx, "inside")
				goexit()
				return nil
			}, capture.WithTracerProvider(tp), capture.Into(into))
		},
		"Start": func(into **capture.Result) {
			var err error
			ctx, c := capture.Start(t.Context(), "block", capture.WithTracerProvider(tp), capture.Into(into))
			defer c.End(&err)
			span(ctx, "inside")
			goexit()
		},
	} {
		var res *capture.Result
		after := false
		var wg sync.WaitGroup
		wg.Go(func() {
			block(&res)
			after = true
		})
		wg.Wait()
		if after {
			t.Errorf("%s: the goroutine went on", name)
		}
		wantNames(t, res, "block", "inside")
		if s := res.Root().Status; s.Code != traces.StatusError || s.Message != "goexit" {
			t.Errorf("%s: status %+v", name, s)
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	boom := errors.New("boom")
	var c *capture.Capture
	block := func() (err error) {
		var ctx context.Context
		ctx, c = capture.Start(t.Context(), "", capture.WithTracerProvider(tp))
		defer c.End(&err)
		span(ctx, "inside")
		if r := c.Result(); r == nil || len(r.Spans()) > 0 || !strings.Contains(r.Empty(), "not ended") {
			t.Errorf("result before the end: %v", r)
		}
		return boom
	}
	if err := block(); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	res := c.Result()
	wantNames(t, res, "TestStart", "inside")
	if !res.Root().Failed() || c.Err() != nil {
		t.Errorf("root %+v, Err %v", res.Root(), c.Err())
	}
	c.End(nil) // once only
	if c.Result() != res {
		t.Error("another End made another result")
	}
}

// A panic is noted and goes on unchanged through a deferred End as well.
func TestStartPanic(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var res *capture.Result
	defer func() {
		if r := recover(); r != "boom" {
			t.Errorf("recovered %v", r)
		}
		if s := res.Root().Status; s.Message != "panic: boom" {
			t.Errorf("status %+v", s)
		}
	}()
	_, c := capture.Start(t.Context(), "block", capture.WithTracerProvider(tp), capture.Into(&res))
	defer c.End(nil)
	panic("boom")
}

func TestOpenAndLate(t *testing.T) {
	t.Parallel()
	tp, exporter := provider()
	var open trace.Span
	var inside context.Context
	res, _ := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		inside = ctx //nolint:fatcontext // for after the block
		_, open = tp.Tracer("test").Start(ctx, "open")
		open.SetAttributes(attribute.String("k", "v"))
		return nil
	}, capture.WithTracerProvider(tp))
	wantNames(t, res, "block", "open")
	if s := res.Spans()[1]; !s.Open() || len(s.Attributes) != 1 {
		t.Errorf("span %+v, want it open", s)
	}
	if tree := res.String(); !strings.Contains(tree, "open (0.0 µs) (open)") {
		t.Errorf("tree:\n%s", tree)
	}
	open.End()
	span(inside, "after")
	if res.Late() != 2 || !res.Spans()[1].Open() || len(res.Spans()) != 2 {
		t.Errorf("Late %d, spans %q", res.Late(), names(res))
	}
	if got := len(exporter.GetSpans()); got != 3 {
		t.Errorf("the exporter got %d spans, want 3", got)
	}
}

// Spans of another trace are not captured, wherever they start.
func TestOnlyOwnTrace(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var inner *capture.Result
	outer, _ := capture.Run(t.Context(), "outer", func(ctx context.Context) error {
		span(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), "not recorded: no provider in the context")
		_, other := tp.Tracer("test").Start(ctx, "new root", trace.WithNewRoot())
		other.End()
		done := make(chan struct{})
		go func() { // no context
			defer close(done)
			_, s := tp.Tracer("test").Start(context.Background(), "goroutine")
			s.End()
		}()
		<-done
		var wg sync.WaitGroup
		wg.Go(func() { span(ctx, "goroutine with the context") })
		wg.Wait()
		inner, _ = capture.Run(ctx, "inner", func(ctx context.Context) error {
			span(ctx, "innermost")
			return nil
		}, capture.WithTracerProvider(tp))
		return nil
	}, capture.WithTracerProvider(tp))
	wantNames(t, outer, "outer", "goroutine with the context")
	wantNames(t, inner, "inner", "innermost")
	if inner.Root().Links[0].SpanID != outer.Root().SpanID {
		t.Error("the inner capture is not linked to the outer one")
	}
}

func TestMaxSpans(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	res, _ := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		for range 10 {
			span(ctx, "s")
		}
		return nil
	}, capture.WithTracerProvider(tp), capture.WithMaxSpans(4))
	if len(res.Spans()) != 4 || res.Dropped() != 7 || res.Root() == nil {
		t.Errorf("%d spans, %d dropped, want 4 and 7", len(res.Spans()), res.Dropped())
	}
}
