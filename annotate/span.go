package annotate

import (
	"context"
	"reflect"
	"runtime/debug"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/redact"
	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// maxMessageBytes is where the text of an error is cut.
const maxMessageBytes = 4 << 10

// Handle is a span that [Span] has begun. Every method works on nil and does nothing when the span does not
// record. It is safe for concurrent use.
type Handle struct {
	span   trace.Span
	client *Client
	parent *Handle
	block  *block
	info   *traceInfo
	seen   uint64 // the version of info when the span began
	name   string
	kind   Kind
	root   trace.SpanContext // of the trace, as far as this process knows
	kept   *kept             // what metrics and the sink need; nil: neither wants the span
	told   atomic.Bool       // somebody has set the output; what the function returns does not replace it
	ended  atomic.Bool
}

// Span begins a span with the default client, for where a function does not fit: [Do] is the simpler form. See
// [Client.Span].
func Span(ctx context.Context, name string, opts ...SpanOption) (context.Context, *Handle) {
	if name == "" {
		name = callerName()
	}
	return Default().Span(ctx, name, opts...)
}

// Span begins a span, the child of the current one of ctx, and returns a context in which it is the current
// one. It is for where a function does not fit: [Client.Do] ends the span by itself and misses no error. The
// caller ends it, with the address of its named result:
//
//	func rerank(ctx context.Context, query string) (ids []string, err error) {
//		ctx, s := annotate.Span(ctx, "rerank", annotate.Reranker, annotate.Input(query))
//		defer s.End(&err)
//
// The result must have the name: with an unnamed one, "return nil, fail()" sets no variable that End could see,
// and the span is none of an error.
//
// An empty name is that of the calling function. The kind is [Chain] unless an option says otherwise. When tracing is off the handle is nil, which works.
func (c *Client) Span(ctx context.Context, name string, opts ...SpanOption) (context.Context, *Handle) {
	cfg := config{client: c}
	for _, o := range opts {
		if o != nil {
			cfg = o.span(cfg)
		}
	}
	if name == "" {
		name = callerName()
	}
	ctx, h := cfg.client.start(ctx, name, &cfg)
	if cfg.hasInput && h.wants() {
		h.input(cfg.input, true)
	}
	return ctx, h
}

// start begins a span. The handle is nil when there is nothing to handle.
func (c *Client) start(ctx context.Context, name string, cfg *config) (context.Context, *Handle) {
	if ctx == nil {
		ctx = context.Background()
	}
	st := stateOf(ctx)
	if st.suppressed {
		return ctx, nil
	}
	a := c.attach()
	if a.off {
		return ctx, nil
	}
	if cfg.kind == "" {
		cfg.kind = Chain
	}
	attrs := make([]attribute.KeyValue, 1, 1+len(cfg.attrs))
	attrs[0] = SpanKindKey.String(string(cfg.kind))
	inner, span := a.tracer.Start(ctx, name, trace.WithAttributes(append(attrs, cfg.attrs...)...))
	if !span.SpanContext().IsValid() {
		return inner, nil
	}
	n := &spanContext{Context: inner, state: st}
	h := &n.handle
	*h = Handle{span: span, client: c, parent: st.current, block: st.block, name: name, kind: cfg.kind}
	info, rec := infoOf(ctx, st)
	if info == nil {
		info = &n.info
		n.state.trace = info
	}
	n.state.current, h.info, h.seen = h, info, info.now()
	h.root = rootOf(ctx, h, rec)
	if span.IsRecording() {
		if !a.processed {
			first, all := attributesFor(ctx)
			span.SetAttributes(first...)
			span.SetAttributes(all...)
		}
		h.keep(ctx, cfg)
	}
	return n, h
}

// rootOf returns the root of the trace as far as this process knows: the server span of the request, else the
// outermost span of this package.
func rootOf(ctx context.Context, h *Handle, rec *request.Record) trace.SpanContext {
	own := h.span.SpanContext()
	if rec != nil {
		if sc := trace.SpanContextFromContext(request.Outer(ctx)); sc.IsValid() && sc.TraceID() == own.TraceID() {
			return sc
		}
	}
	if h.parent != nil && h.parent.root.TraceID() == own.TraceID() {
		return h.parent.root
	}
	return own
}

// wants reports whether the span records.
func (h *Handle) wants() bool { return h != nil && h.span.IsRecording() }

// Recording reports whether the span records what it is told.
func (h *Handle) Recording() bool { return h.wants() }

// TraceID returns the trace's id, 32 hexadecimal digits; "" when there is no trace.
func (h *Handle) TraceID() string {
	if h == nil {
		return ""
	}
	return h.span.SpanContext().TraceID().String()
}

// SpanID returns the span's id, 16 hexadecimal digits; "" when there is no span.
func (h *Handle) SpanID() string {
	if h == nil {
		return ""
	}
	return h.span.SpanContext().SpanID().String()
}

// SetInput sets input.value of this span. What metrics and live interactions see is not changed: that is
// [SetInput] of the package.
func (h *Handle) SetInput(v any) {
	if h.wants() {
		h.input(v, false)
	}
}

// SetOutput sets output.value of this span. What metrics and live interactions see is not changed: that is
// [SetOutput] of the package.
func (h *Handle) SetOutput(v any) {
	if h.wants() {
		h.told.Store(true)
		h.output(v)
	}
}

// input returns the text that was recorded.
func (h *Handle) input(v any, keep bool) string {
	text, mime := h.client.encode(v, h.client.max)
	h.span.SetAttributes(InputValueKey.String(text), InputMIMETypeKey.String(mime))
	if keep {
		h.kept.setInput(v, text)
	}
	return text
}

func (h *Handle) output(v any) string {
	text, mime := h.client.encode(v, h.client.max)
	h.outputText(text, mime)
	return text
}

func (h *Handle) outputText(text, mime string) {
	h.span.SetAttributes(OutputValueKey.String(text), OutputMIMETypeKey.String(mime))
}

// SetAttribute sets an attribute: scalars and slices of scalars as they are, anything else as JSON.
func (h *Handle) SetAttribute(key string, value any) {
	if h.wants() && key != "" {
		h.span.SetAttributes(h.client.toAttribute(key, value, h.client.max))
	}
}

// SetAttributes sets attributes; the arguments are keys and values as package slog takes them, attributes or
// lists of them, or maps. A key is a string of any type, so that the keys of this package are keys too:
//
//	s.SetAttributes(annotate.LLMModelNameKey, "gpt-5", "attempt", 2, attribute.Bool("cached", false))
func (h *Handle) SetAttributes(pairs ...any) {
	if !h.wants() {
		return
	}
	for key, value := range h.client.eachPair(pairs) {
		h.SetAttribute(key, value)
	}
}

// SetError marks the span as an error. The description is the status of the span, by default the text of err;
// err becomes an exception event unless it is nil.
func (h *Handle) SetError(description string, err error) {
	if !h.wants() {
		return
	}
	if description != "" {
		description = h.client.errorText(description)
	}
	if err != nil {
		text := h.client.errorText(err)
		if description == "" {
			description = text
		}
		h.exception(typeName(err), text, "")
	}
	h.span.SetStatus(codes.Error, description)
	h.kept.fail(description)
}

// End ends the span. Deferred, it takes the address of the function's named result, or nil: an error there makes
// the span an error. An error that is returned as an unnamed result is lost to the span: see [Client.Span]. So does a panic, which goes on with its value; for that End must be deferred itself. A second
// End does nothing.
func (h *Handle) End(err *error) {
	if h == nil {
		return
	}
	p := recover()
	var failed error
	if err != nil {
		failed = *err
	}
	h.finish(outcome{err: failed, panicked: p})
	if p != nil {
		panic(p)
	}
}

// outcome is how the work of a span ended.
type outcome struct {
	err      error
	panicked any
	goexit   bool
}

// finish gives the span what is known now and ends it.
func (h *Handle) finish(o outcome) {
	if h.ended.Swap(true) {
		return
	}
	defer h.client.hand(h) // in any case, and after the end
	defer h.span.End()
	if !h.span.IsRecording() {
		return
	}
	h.conclude(o)
	if attrs, version := h.info.in(h.block); version != h.seen {
		h.span.SetAttributes(attrs...)
	}
	if h.client.cfg.GenAI {
		h.addGenAI()
	}
}

// conclude says how the work ended.
func (h *Handle) conclude(o outcome) {
	switch {
	case o.panicked != nil:
		message := h.client.errorText(o.panicked)
		h.exception(typeName(o.panicked), message, string(debug.Stack()))
		h.span.SetStatus(codes.Error, message)
		h.kept.fail(message)
	case o.goexit:
		h.span.SetAttributes(semconv.ErrorTypeKey.String("runtime.Goexit"))
		h.span.SetStatus(codes.Error, "goexit")
		h.kept.fail("goexit")
	case o.err != nil:
		h.SetError("", o.err)
		h.kept.failWith(o.err)
	}
}

// exception adds an exception event. Not RecordError: an error whose Error panics would take the program
// with it.
func (h *Handle) exception(name, message, stack string) {
	attrs := []attribute.KeyValue{
		semconv.ExceptionTypeKey.String(name),
		semconv.ExceptionMessageKey.String(message),
	}
	if stack != "" {
		attrs = append(attrs, semconv.ExceptionStacktraceKey.String(cut(redact.Text(stack, h.client.max), h.client.max)))
	}
	h.span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(attrs...))
	h.span.SetAttributes(semconv.ErrorTypeKey.String(name))
}

// typeName names the type of v as the SDK names exceptions.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t.PkgPath() != "" && t.Name() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}
