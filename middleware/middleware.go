package middleware

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/request"
)

// New wraps next so that every request has a server span. It returns next itself when the provider (the option's,
// else the global one) is a no-op and no propagator has a field. While no global provider is set it wraps, and
// records once one is.
//
// What next writes, and how it panics, passes unchanged. The ResponseWriter it gets is a Flusher, CloseNotifier,
// Hijacker and Pusher exactly where the server's is; [http.ResponseController], [io.WriteString] and [io.Copy] find
// everything else. Once next has returned, when net/http allows no use of it any more, it answers an error.
// The context of the request may be kept: it holds nothing of the request then, and is still of its trace. The handler
// is safe for concurrent use.
func New(next http.Handler, opts ...Option) http.Handler {
	s := newSettings(newConfig(opts))
	if s.off() {
		return next
	}
	return &handler{settings: s, next: next, kind: trace.WithSpanKind(trace.SpanKindServer)}
}

// Handler is [New] for middleware chains.
func Handler(opts ...Option) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return New(next, opts...) }
}

type handler struct {
	*settings
	next  http.Handler
	kind  trace.SpanStartOption
	kinds kinds
	names names
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := h.open(r)
	switch {
	case o.span == nil:
		h.pass(o.ctx, w, r) //nolint:contextcheck // a child of the request's, which the linter does not see
		return
	case !o.span.IsRecording() && !h.serverTiming:
		h.unrecorded(o.ctx, w, r) //nolint:contextcheck // as above
		return
	}
	x := &exchange{h: h, span: o.span, outer: r, method: r.Method, started: o.route, w: w, much: sharesMuch(r)}
	x.live = request.Live{Context: o.ctx, Path: r.URL.Path}
	x.kept = new(kept)
	x.kept.init(o.before, o.span, &x.live) //nolint:contextcheck // as above
	x.kept.w.x.Store(x)
	// Copied by value: WithContext is inlined, and its own copy stays on the stack (TestAllocations).
	x.inner = *r.WithContext(&x.kept.ctx) //nolint:contextcheck // as above
	if r.Body != nil && r.Body != http.NoBody {
		x.body.ReadCloser = r.Body
		x.inner.Body = &x.body
		if bringsTrailers(r) {
			x.body.inner, x.body.outer = &x.inner, r
		}
	}
	x.serve(combine(&x.kept.w, h.kinds.of(w))) //nolint:contextcheck // it is in the exchange
}

// opened is a request whose span has begun; without a span it gets none.
type opened struct {
	ctx    context.Context //nolint:containedctx // handed on at once
	before context.Context //nolint:containedctx // as ctx, without the span
	span   trace.Span
	route  string
}

// open finds the caller's trace and starts the span. Propagators, filters, samplers and processors are other people's
// code: a panic out of them costs the span, not the response.
func (h *handler) open(r *http.Request) (o opened) {
	o.ctx = r.Context()
	defer func() {
		if p := recover(); p != nil {
			o.span = nil
			h.tell("a request has no span", p)
		}
	}()
	if ctx := h.propagator().Extract(o.ctx, headerCarrier(r.Header)); ctx != nil {
		o.ctx = ctx
	}
	tracer := h.tracer()
	if tracer == nil || r.URL == nil || !h.wants(r) {
		return o
	}
	o.route = routeOf(r.Pattern)
	o.before = o.ctx
	o.ctx, o.span = h.start(o.ctx, tracer, r, o.route)
	return o
}

// start begins the span. Everything that a sampler may ask for is there from the start.
func (h *handler) start(ctx context.Context, t trace.Tracer, r *http.Request, route string) (context.Context, trace.Span) {
	method := h.method(r.Method)
	sc := getScratch()
	h.describe(sc, r, method, route)
	opts := sc.start(h.kind)
	if h.public != nil && h.public(r.WithContext(ctx)) {
		opts = append(opts, trace.WithNewRoot())
		if caller := trace.SpanContextFromContext(ctx); caller.IsValid() && caller.IsRemote() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: caller}))
		}
	}
	ctx, span := t.Start(ctx, h.names.get(spanMethod(method), route, r.Pattern), opts...) //nolint:spancheck // the exchange ends it
	sc.release()
	return ctx, span //nolint:spancheck // the exchange ends it
}

// pass serves a request without a span. The caller's trace still reaches what the handler calls.
func (h *handler) pass(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if same(ctx, r.Context()) {
		h.next.ServeHTTP(w, r)
		return
	}
	h.copied(ctx, w, r)
}

// unrecorded serves a request whose span nobody will see. The record is there nevertheless: a sampler may
// record a span further in.
func (h *handler) unrecorded(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	var c request.Context
	c.Init(ctx, nil)
	defer c.End()
	h.copied(&c, w, r) //nolint:contextcheck // a child of ctx, which the linter does not see
}

// copied serves a copy of r with another context, of which we record nothing.
func (h *handler) copied(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	inner := r.WithContext(ctx)
	if bringsTrailers(r) {
		inner.Body = &body{ReadCloser: r.Body, inner: inner, outer: r}
	}
	given := inner.Body
	defer func() { h.handOver(r, inner, given) }()
	h.next.ServeHTTP(w, inner)
}
