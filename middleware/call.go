package middleware

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// call is an outgoing request: the context from which otelhttp's transport starts the span, and, for that transport,
// the span, so that no attribute and no message gets past it.
type call struct {
	context.Context //nolint:containedctx // this is a context
	trace.Span
	*settings
	ended atomic.Bool

	answered bool // by the transport inside, with these:
	res      *http.Response
	body     io.ReadCloser
	err      error
}

// send sends the request by otelhttp's transport. What that transport and the program's hooks do after the answer is
// not to cost the answer; a panic of the transport inside goes on.
func (c *call) send(traced *otelhttp.Transport, r *http.Request) (res *http.Response, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if !c.answered {
			c.Span.SetStatus(codes.Error, "the transport did not return")
			c.End()
			return
		}
		c.tell("a span is not whole", recover())
		if c.err != nil {
			c.fail(c.err)
			c.End()
		}
		res, err = c.res, c.err
	}()
	r = r.WithContext(c) // a copy
	if r.Header == nil {
		r.Header = http.Header{}
	}
	res, err = traced.RoundTrip(r)
	returned = true
	c.res, c.err = nil, nil // who keeps the context keeps no answer
	return res, err
}

type callKey struct{}

// Value returns c for the package's key and what the caller's context has for all others.
func (c *call) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	return c.Context.Value(key)
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// SetStatus sets the status. A message of otelhttp's transport is the text of an error.
func (c *call) SetStatus(code codes.Code, message string) {
	c.Span.SetStatus(code, clip(c.secrets.Message(message, maxMessage), maxMessage))
}

// SetAttributes sets attributes. otelhttp's transport owns kvs and lets go of it.
func (c *call) SetAttributes(kvs ...attribute.KeyValue) {
	for i, kv := range kvs {
		switch {
		case kv.Key == semconv.URLFullKey:
			full := kv.Value.AsString()
			kvs[i] = kv.Key.String(clip(c.secrets.URL(full[:min(len(full), maxURL)]), maxURL))
		case kv.Key == semconv.ErrorTypeKey && c.err != nil:
			kvs[i] = kv.Key.String(errorType(c.err))
		case kv.Key == semconv.NetworkProtocolVersionKey && kv.Value.AsString() == "2.0":
			kvs[i] = kv.Key.String("2") // as the conventions have it
		}
	}
	c.Span.SetAttributes(kvs...)
}

// fail marks the span with a failure to receive the body, or to write to an upgraded connection.
func (c *call) fail(err error) {
	c.Span.SetAttributes(semconv.ErrorTypeKey.String(errorType(err)))
	c.Span.SetStatus(codes.Error, clip(c.secrets.Message(err, maxMessage), maxMessage))
}

// End ends the span, once.
func (c *call) End(opts ...trace.SpanEndOption) {
	defer c.spare("a span was not ended")
	if !c.ended.Swap(true) {
		c.Span.End(opts...)
	}
}

// callTracers is the provider that otelhttp's transport gets.
type callTracers struct {
	embedded.TracerProvider
	*settings
}

// Tracer returns a tracer of the provider as it is at each request.
func (p callTracers) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	t := callTracer{settings: p.settings, name: name, opts: opts}
	if p.provider != nil {
		t.fixed = p.provider.Tracer(name, opts...)
	}
	return t
}

type callTracer struct {
	embedded.Tracer
	*settings
	name  string
	opts  []trace.TracerOption
	fixed trace.Tracer // nil: that of the parent span's provider, else of the global one
}

// Start starts the span of the call in ctx. A panic of a sampler or a processor costs the span, not the request.
func (t callTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := callOf(ctx)
	if c == nil {
		return ctx, nothing
	}
	return t.start(ctx, c, name, opts), c
}

func (t callTracer) start(ctx context.Context, c *call, name string, opts []trace.SpanStartOption) (started context.Context) {
	defer func() {
		if started == nil {
			started = ctx
			t.tell("a request has no span", recover())
		}
	}()
	tracer := t.fixed
	if tracer == nil {
		tracer = t.providerFor(ctx).Tracer(t.name, t.opts...)
	}
	started, c.Span = tracer.Start(ctx, name, opts...) //nolint:spancheck // the call ends it
	return started
}

func (s *settings) providerFor(ctx context.Context) trace.TracerProvider {
	if parent := trace.SpanFromContext(ctx); parent.SpanContext().IsValid() {
		return parent.TracerProvider()
	}
	return otel.GetTracerProvider()
}
