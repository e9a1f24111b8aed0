package capturetest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/capture/internal/sdkspan"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// Trace is the spans of one test. Its methods may be called while the code under
// test runs, from any goroutine, and report what is wrong by t.Errorf.
type Trace struct {
	tb       testing.TB
	cfg      config
	provider *sdktrace.TracerProvider
	recorder *recorder
	root     trace.Span
	ctx      context.Context //nolint:containedctx // of the root span, for Handler
}

// Start begins a span of the test's name, in a provider of its own, and returns it
// in a context that is otherwise the test's. At the end of the test it ends the
// span, fails the test for each span that is still open, and shows the spans if
// the test has failed. It keeps 100,000 spans; more fail the test, since nothing
// can be said of them.
func Start(tb testing.TB, opts ...Option) (context.Context, *Trace) {
	tb.Helper()
	tr := &Trace{tb: tb, recorder: &recorder{most: maxSpans, open: map[trace.SpanID]opened{}}}
	for _, o := range opts {
		if o != nil {
			tr.cfg = o.apply(tr.cfg)
		}
	}
	tr.provider = sdktrace.NewTracerProvider(append([]sdktrace.TracerProviderOption{
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.Empty()),
		sdktrace.WithIDGenerator(&sequence{}),
		sdktrace.WithSpanProcessor(tr.recorder),
	}, tr.cfg.provider...)...)
	tr.ctx, tr.root = tr.provider.Tracer(capture.ScopeName).Start(tb.Context(), tb.Name()) //nolint:spancheck // finish ends it
	tb.Cleanup(tr.finish)
	return tr.ctx, tr
}

// finish must not outlive the test: what it starts it waits for.
func (tr *Trace) finish() {
	tr.root.End()
	if !tr.cfg.allowOpen {
		for _, open := range tr.recorder.unended() {
			tr.tb.Error(open)
		}
	}
	if n := tr.recorder.lost(); n > 0 {
		tr.tb.Errorf("capturetest: %d spans were not kept, and nothing here knows of them: a test keeps %d", n, tr.recorder.most)
	}
	if tr.tb.Failed() {
		tr.show()
	}
	// The context of the test is over by now.
	if err := tr.provider.Shutdown(context.WithoutCancel(tr.ctx)); err != nil {
		tr.tb.Errorf("capturetest: shut down the provider: %v", err)
	}
}

// show puts the tree into the output and the Chrome trace into the artifacts.
func (tr *Trace) show() {
	res := tr.Result()
	tr.tb.Attr("trace_id", tr.root.SpanContext().TraceID().String())
	path := vacant(tr.tb.ArtifactDir(), "trace")
	_, err := io.WriteString(tr.tb.Output(), "the spans of "+tr.tb.Name()+":\n"+res.Tree(render.WithStatusText())+"\n")
	if err = errors.Join(err, res.SaveChrome(path)); err != nil {
		tr.tb.Logf("capturetest: %v", err)
		return
	}
	tr.tb.Logf("their Chrome trace: %s (kept with go test -artifacts)", path)
}

// vacant is the path of a JSON file that is not there yet: a test may have more
// than one trace.
func vacant(dir, name string) string {
	path := filepath.Join(dir, name+".json")
	for n := 2; ; n++ {
		if _, err := os.Stat(path); err != nil {
			return path
		}
		path = filepath.Join(dir, name+strconv.Itoa(n)+".json")
	}
}

// TracerProvider returns the test's provider, for code that is given one.
func (tr *Trace) TracerProvider() trace.TracerProvider { return tr.provider }

// Processor returns what records the test's spans, for a provider besides the
// test's, whose spans are then the test's too: that of a program that makes its
// own, as with Processors of bootstrap.Config.
func (tr *Trace) Processor() sdktrace.SpanProcessor { return tr.recorder }

// Result returns the spans so far, of every trace of the test's provider. Those
// that run are open, also the test's own.
func (tr *Trace) Result() *capture.Result {
	return capture.NewResult(sdkspan.Convert(tr.recorder.snapshot()))
}

// Tree returns the spans so far as a tree, without durations; spans that run are
// marked (open), but for the test's own.
func (tr *Trace) Tree() string { return drawLines(tr.linesOf(tr.Result().Set()), false) }

// hint says why there may be no spans but the test's own.
func (tr *Trace) hint() string {
	if len(tr.Spans().nodes) > 0 {
		return ""
	}
	return "\nnothing has started a span in the test's provider: the code under test has to take its tracer from the " +
		"context, or from tr.TracerProvider(), as by middleware.WithTracerProvider; tracers of otel.Tracer are of " +
		"another provider: see Trace.Processor"
}

// Traceparent returns the W3C header of the test's span. IDs count up from 1, so
// that the first test span is always
// 00-00000000000000000000000000000001-0000000000000001-01.
//
// Spec: https://www.w3.org/TR/trace-context-2/#traceparent-header
func (tr *Trace) Traceparent() string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(tr.ctx, carrier)
	return carrier.Get("traceparent")
}

// Handler returns h behind a caller whose span is the test's: requests without a
// traceparent header get [Trace.Traceparent]. If h continues the trace, its span
// stands below the test's.
func (tr *Trace) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") == "" {
			r = r.Clone(r.Context())
			r.Header.Set("Traceparent", tr.Traceparent())
		}
		h.ServeHTTP(w, r)
	})
}

// nodes are the spans so far that are kept, with their places in the tree.
func (tr *Trace) nodes(keep func(*traces.Node) bool) []*traces.Node {
	var out []*traces.Node
	for node := range tr.Result().Set().All() {
		if keep(node) {
			out = append(out, node)
		}
	}
	return out
}

func (tr *Trace) isOwn(s *traces.Span) bool {
	own := tr.root.SpanContext()
	return s.SpanID == traces.SpanID(own.SpanID()) && s.TraceID == traces.TraceID(own.TraceID())
}
