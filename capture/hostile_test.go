package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture"
)

// hostileNames are names that could tear a tree, a terminal or a document.
var hostileNames = []string{
	"", " ", "a\nb", "a\r\n└── b", "\x1b[31mred\x1b[0m", "a\xff\xfeb", "\u202eabc", "</pre><script>alert(1)</script>",
	"{scope=x}", "a [ERROR]", "a (1.00 ms)", strings.Repeat("x", 1<<16), "\x00", "a\u2028b",
}

// Whatever the names are: the result is whole in every form.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range hostileNames {
		tp, _ := provider()
		res, err := capture.Run(t.Context(), name, func(ctx context.Context) error {
			span(ctx, name)
			return nil
		}, capture.WithTracerProvider(tp), capture.Scope(name))
		if err != nil || len(res.Spans()) != 2 {
			t.Fatalf("%.20q: %d spans, %v", name, len(res.Spans()), err)
		}
		if tree := res.String(); strings.Count(tree, "\n") != 1 || strings.ContainsAny(tree, "\x1b\x00\r") {
			t.Errorf("%.20q: tree %.100q", name, tree)
		}
		if !json.Valid(res.ChromeJSON()) {
			t.Errorf("%.20q: the Chrome trace is no JSON", name)
		}
		if strings.Contains(res.HTML(), "<script>alert") {
			t.Errorf("%.20q: markup", name)
		}
		b, err := res.MarshalOTLP()
		if err != nil {
			t.Fatalf("%.20q: %v", name, err)
		}
		back, err := capture.ParseOTLP(b)
		if err != nil || utf8.ValidString(name) && back.String() != res.String() {
			t.Errorf("%.20q: %v: read back\n%.200s\nwant\n%.200s", name, err, back, res)
		}
		_ = res.LogValue().Group()
	}
}

func TestNilContext(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var none context.Context
	res, err := capture.Run(none, "block", func(ctx context.Context) error {
		span(ctx, "inside")
		return nil
	}, capture.WithTracerProvider(tp), nil)
	if err != nil {
		t.Error(err)
	}
	wantNames(t, res, "block", "inside")
	ctx, c := capture.Start(none, "block", capture.WithTracerProvider(struct{ trace.TracerProvider }{tp}))
	if c.Err() == nil || ctx == nil {
		t.Errorf("context %v, error %v", ctx, c.Err())
	}
	c.End(nil)
}

// A block that ends in many goroutines at once, with spans that end while it does.
func TestEndsAtOnce(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	for range 50 {
		ctx, c := capture.Start(t.Context(), "block", capture.WithTracerProvider(tp))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, s := tp.Tracer("test").Start(ctx, "s")
				s.End()
				s.End()
				c.End(nil)
				_ = c.Result().String()
				s.End()
			})
		}
		wg.Wait()
		res := c.Result()
		if n := len(res.Spans()); n < 2 || n > 9 || res.Spans()[0].Open() {
			t.Errorf("%d spans: %s", n, res)
		}
	}
}

// The provider is shut down while a block runs: what there was is shown.
func TestShutdownInside(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		span(ctx, "before")
		err := tp.Shutdown(ctx)
		span(ctx, "after")
		return err
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Error(err)
	}
	wantNames(t, res, "block", "before")
	if res.Root().Open() {
		t.Errorf("the root is open: %s", res)
	}
	res, err = capture.Run(t.Context(), "again", func(context.Context) error { return nil }, capture.WithTracerProvider(tp))
	if err != nil || !strings.Contains(res.Empty(), "shut down") {
		t.Errorf("%v, %q", err, res.Empty())
	}
}

// More spans in a block than it keeps: the first are there, the others counted.
func TestManyInOneBlock(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	const n = capture.DefaultMaxSpans + 20_000
	res, _ := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		tracer := tp.Tracer("test")
		for range n {
			_, s := tracer.Start(ctx, "s")
			s.End()
		}
		return nil
	}, capture.WithTracerProvider(tp))
	if len(res.Spans()) != capture.DefaultMaxSpans || res.Dropped() != 20_001 {
		t.Errorf("%d spans, %d dropped", len(res.Spans()), res.Dropped())
	}
}

// panicky is a sampler and a processor with a bug.
type panicky struct{ in string }

func (p panicky) do(in string) {
	if p.in == in {
		panic("a bug in " + in)
	}
}

func (p panicky) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	p.do("the sampler")
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}
func (panicky) Description() string                               { return "panicky" }
func (p panicky) OnStart(context.Context, sdktrace.ReadWriteSpan) { p.do("OnStart") }
func (p panicky) OnEnd(sdktrace.ReadOnlySpan)                     { p.do("OnEnd") }
func (panicky) ForceFlush(context.Context) error                  { return nil }
func (panicky) Shutdown(context.Context) error                    { return nil }

// What is hooked into the provider and panics is an error, and not the block's.
func TestProviderThatPanics(t *testing.T) {
	t.Parallel()
	for in, runs := range map[string]bool{"the sampler": false, "OnStart": false, "OnEnd": true} {
		p := panicky{in}
		tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(p), sdktrace.WithSpanProcessor(p))
		ran := false
		res, err := capture.Run(t.Context(), "block", func(context.Context) error { ran = true; return nil }, capture.WithTracerProvider(tp))
		if err == nil || !strings.Contains(err.Error(), "the tracer provider panicked: a bug in "+in) || ran != runs {
			t.Errorf("%s: error %v, block ran: %v", in, err, ran)
		}
		if res == nil || len(res.Spans()) > 0 != runs {
			t.Errorf("%s: result %v", in, res)
		}
		own := errors.New("own")
		if _, err := capture.Run(t.Context(), "block", func(context.Context) error { return own }, capture.WithTracerProvider(tp)); runs && !errors.Is(err, own) {
			t.Errorf("%s: error %v, want the block's own", in, err)
		}
	}
}

// misbehaving does what it is told when it is asked for its text.
type misbehaving struct{ do func() }

func (m misbehaving) Error() string { m.do(); return "done" }

// An error, or what is thrown, may panic, hang or end its goroutine when it is asked
// for its text, or hold itself: the window closes, and the block ends as it would.
func TestTextThatMisbehaves(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["again"] = loop
	release := make(chan struct{})
	for name, tt := range map[string]struct {
		cause any
		want  string
	}{
		"goexit":       {misbehaving{runtime.Goexit}, "<not encodable: capture_test.misbehaving>"},
		"hang":         {misbehaving{func() { <-release }}, "<not encodable: capture_test.misbehaving>"},
		"panic":        {misbehaving{func() { panic("no text") }}, "%!v(PANIC=Error method: no text)"},
		"holds itself": {loop, "<not encodable: map[string]interface {}>"},
		"struct":       {struct{ code int }{5}, "{5}"},
		"large":        {[]string{strings.Repeat("x", 1<<20)}, `["xxx`},
		"text":         {"boom", "boom"},
	} {
		for _, panics := range []bool{true, false} {
			failure, isError := tt.cause.(error)
			if !panics && !isError {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				if name == "hang" {
					release = make(chan struct{})
				}
				tp, _ := provider()
				var res *capture.Result
				done := make(chan struct{})
				returned := false
				go func() {
					defer close(done)
					defer func() { returned = (recover() != nil) == panics }()
					_, _ = capture.Run(context.Background(), "block", func(context.Context) error {
						if panics {
							panic(tt.cause)
						}
						return failure
					}, capture.WithTracerProvider(tp), capture.Into(&res))
				}()
				<-done
				if !returned || res == nil || len(res.Spans()) != 1 || res.Root().Open() {
					t.Fatalf("%s, panics: %v: ended as it should: %v, %v", name, panics, returned, res)
				}
				want := tt.want
				if panics {
					want = "panic: " + want
				}
				if got := res.Root().Status.Message; !strings.HasPrefix(got, want) || len(got) > 5<<10 {
					t.Errorf("%s, panics: %v: status %.100q, want %q", name, panics, got, want)
				}
				if name == "hang" {
					close(release)
				}
			})
		}
	}
}
