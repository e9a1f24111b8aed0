package middleware

import (
	"context"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
)

// NewTransport wraps base (nil: [http.DefaultTransport]) so that every outgoing request has a client span, named
// by its method, and the headers that carry the trace on. The span ends when the body of the response is read to
// its end, fails or is closed, and at once when there is none: with 204, 304, HEAD and empty bodies. That of an
// upgrade (101) is marked as [New] marks one. It is otelhttp's transport; url.full and the messages of errors have
// no secrets, and error.type is as on server spans.
//
// It returns base itself when that already is such a transport, and when the provider is a no-op and no propagator
// has a field. [WithTracerProvider], [WithPropagators], [WithFilter] (false: the headers, but no span),
// [WithRedactedQuery] and [WithKnownMethods] count.
func NewTransport(base http.RoundTripper, opts ...Option) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	switch base.(type) {
	case *transport, *otelhttp.Transport:
		return base
	}
	s := newSettings(newConfig(opts))
	if s.off() {
		return base
	}
	return &transport{settings: s, plain: base, traced: otelhttp.NewTransport(tap{base},
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
			return spanMethod(s.method(clientMethod(r)))
		}),
		otelhttp.WithTracerProvider(callTracers{settings: s}),
		otelhttp.WithPropagators(injector{s}))}
}

// transport chooses between a span and the bare headers.
type transport struct {
	*settings
	plain  http.RoundTripper
	traced *otelhttp.Transport
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.records(r) {
		c := &call{Context: r.Context(), Span: nothing, settings: t.settings}
		res, err := c.send(t.traced, r) //nolint:contextcheck // c is the context
		if err == nil && res != nil {
			res.Body = c.answer(r, res)
		}
		return res, err
	}
	r = r.Clone(r.Context()) // a RoundTripper may not change the caller's request
	if r.Header == nil {
		r.Header = http.Header{}
	}
	injector{t.settings}.Inject(r.Context(), headerCarrier(r.Header)) //nolint:contextcheck // it is the request's
	return t.plain.RoundTrip(r)
}

// records reports whether r gets a span. Filters are the program's: a panic costs the span.
func (t *transport) records(r *http.Request) (yes bool) {
	defer t.spare("a request has no span")
	return t.tracer() != nil && r.URL != nil && t.wants(r)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.plain.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func clientMethod(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// injector is the propagator as it is at each request.
type injector struct{ *settings }

// Inject writes the headers.
func (i injector) Inject(ctx context.Context, to propagation.TextMapCarrier) {
	defer i.spare("a request carries no trace")
	i.propagator().Inject(ctx, to)
}

// Extract is not used by a client.
func (i injector) Extract(ctx context.Context, from propagation.TextMapCarrier) context.Context {
	return i.propagator().Extract(ctx, from)
}

// Fields returns the names of the headers.
func (i injector) Fields() []string { return i.propagator().Fields() }

// tap runs inside of otelhttp's transport and notes what base itself answers: that transport wraps the body, and
// its wrapper neither says whether there is a body nor lets an upgraded connection be closed in one direction.
type tap struct{ base http.RoundTripper }

// RoundTrip sends one request.
func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.base.RoundTrip(r)
	if c := callOf(r.Context()); c != nil {
		c.answered, c.res, c.err = true, res, err
		if res != nil {
			c.body = res.Body
		}
	}
	return res, err
}
