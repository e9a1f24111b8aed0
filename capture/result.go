package capture

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// Result is the spans of one block, or of what [ParseOTLP] or [NewResult] is
// given. It does not change and is safe for concurrent use.
type Result struct {
	spans   []*traces.Span
	set     *traces.Set
	why     string
	dropped int
	late    *atomic.Int64
}

func newResult(spans []*traces.Span, why string) *Result {
	return &Result{spans: spans, set: traces.NewSet(spans), why: why, late: &atomic.Int64{}}
}

// NewResult makes a result of spans from elsewhere, like a span file, to be drawn
// and saved as those of a capture. It owns them from now on.
func NewResult(spans []*traces.Span) *Result { return newResult(spans, "there are no spans in it") }

// ParseOTLP reads what [Result.MarshalOTLP] returns, or any other binary OTLP
// TracesData or ExportTraceServiceRequest.
func ParseOTLP(b []byte) (*Result, error) {
	r := tracefile.NewReader(bytes.NewReader(b), tracefile.WithName("OTLP"))
	spans, err := r.All()
	if err != nil {
		return newResult(nil, "it could not be read"), fmt.Errorf("capture: parse: %w", err)
	}
	if skipped := r.Report(); skipped.Total > 0 {
		return NewResult(spans), fmt.Errorf("capture: parse: %s", skipped.Skipped[0])
	}
	return NewResult(spans), nil
}

// Spans returns the spans of a capture in the order in which they started, the
// root first. Slice and spans are the result's and must not be changed. A span
// that had not ended when the block did is [traces.Span.Open].
func (r *Result) Spans() []*traces.Span { return r.spans }

// Set returns the spans as a tree.
func (r *Result) Set() *traces.Set { return r.set }

// Root returns the span of the block, or nil if there is none.
func (r *Result) Root() *traces.Span {
	if roots := r.set.Roots(); len(roots) > 0 {
		return roots[0].Span()
	}
	return nil
}

// Dropped returns how many spans started that [WithMaxSpans] left no room for.
func (r *Result) Dropped() int { return r.dropped }

// Late returns how many spans of the block have ended since the block has. It
// grows; of the spans it shows those that had started by then, as open.
func (r *Result) Late() int { return int(r.late.Load()) }

// Empty says why there is nothing to see, and what to do about it, when the
// result has no spans or the root alone; else it returns "".
func (r *Result) Empty() string {
	switch {
	case len(r.spans) > 1:
		return ""
	case r.why != "":
		return r.why
	case r.dropped > 0:
		return "WithMaxSpans leaves no room for more than the root"
	default:
		return "nothing inside the block started a span with the block's context: " +
			"pass that context on, and see that what is called is instrumented and uses the captured provider"
	}
}

// Tree draws the spans as [render.Tree] does, those still open marked (open).
func (r *Result) Tree(opts ...render.TreeOption) string {
	return render.TreeString(r.set, append([]render.TreeOption{render.WithOpenMark()}, opts...)...)
}

// String is the tree.
func (r *Result) String() string { return r.Tree() }

// ChromeJSON returns the spans as a Chrome trace, which Perfetto, speedscope and
// chrome://tracing open; see [render.ChromeTrace].
func (r *Result) ChromeJSON(opts ...render.ChromeOption) []byte {
	return []byte(render.ChromeTraceString(r.set, opts...))
}

// HTML returns a fragment of HTML for a notebook: the tree, and the Chrome trace
// as a download; see [render.Inline]. For a page of its own see [render.HTML].
func (r *Result) HTML() string {
	return render.Inline(r.set, render.WithTreeOptions(render.WithOpenMark()))
}

// MarshalOTLP returns the spans as one binary OTLP TracesData message, which is
// an ExportTraceServiceRequest too. The same result gives the same bytes.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
func (r *Result) MarshalOTLP() ([]byte, error) {
	var b bytes.Buffer
	if _, err := tracefile.Write(&b, tracefile.OTLPProto, tracefile.Seq(r.spans)); err != nil {
		return nil, fmt.Errorf("capture: marshal: %w", err)
	}
	return b.Bytes(), nil
}

// LogValue is a group for [slog]: root, trace_id, spans, errors, duration, and
// dropped and late where there are any.
func (r *Result) LogValue() slog.Value {
	root := r.Root()
	if root == nil {
		return slog.GroupValue(slog.Int("spans", 0), slog.String("empty", r.Empty()))
	}
	failed := 0
	for _, s := range r.spans {
		if s.Failed() {
			failed++
		}
	}
	attrs := []slog.Attr{
		slog.String("root", strings.ToValidUTF8(root.Name, "\ufffd")),
		slog.String("trace_id", root.TraceID.String()),
		slog.Int("spans", len(r.spans)),
		slog.Int("errors", failed),
		slog.Duration("duration", root.Duration()),
	}
	if r.dropped > 0 {
		attrs = append(attrs, slog.Int("dropped", r.dropped))
	}
	if late := r.Late(); late > 0 {
		attrs = append(attrs, slog.Int("late", late))
	}
	return slog.GroupValue(attrs...)
}
