package middleware

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// NewTransport wraps base (nil: [http.DefaultTransport]) so that every outgoing request has a client span, named
// by its method, and the headers that carry the trace on. The span ends when the body of the response is read to
// its end or closed. It is otelhttp's transport, with the secrets of url.full redacted.
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
	t := &transport{settings: s, plain: base}
	o := []otelhttp.Option{
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
			return spanMethod(s.method(clientMethod(r)))
		}),
	}
	if s.provider != nil {
		o = append(o, otelhttp.WithTracerProvider(s.provider))
	}
	if s.propagators != nil {
		o = append(o, otelhttp.WithPropagators(s.propagators))
	}
	t.traced = otelhttp.NewTransport(scrubber{s, base}, o...)
	return t
}

// transport chooses between a span and the bare headers.
type transport struct {
	*settings
	plain  http.RoundTripper
	traced *otelhttp.Transport
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.tracer() != nil && t.wants(r) {
		return t.traced.RoundTrip(r)
	}
	r = r.Clone(r.Context()) // a RoundTripper may not change the caller's request
	if r.Header == nil {
		r.Header = http.Header{}
	}
	t.propagator().Inject(r.Context(), headerCarrier(r.Header)) //nolint:contextcheck // it is the request's
	return t.plain.RoundTrip(r)
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

// scrubber runs inside of otelhttp's transport, which records url.full with its query as it is: it sets the
// attribute again, and the later value counts.
type scrubber struct {
	*settings
	base http.RoundTripper
}

// RoundTrip sends one request.
func (s scrubber) RoundTrip(r *http.Request) (*http.Response, error) {
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() && r.URL != nil && r.URL.RawQuery != "" {
		if query := s.urlQuery(r.URL.RawQuery); query != r.URL.RawQuery {
			u := *r.URL
			u.User, u.RawQuery = nil, query
			span.SetAttributes(semconv.URLFullKey.String(u.String()))
		}
	}
	return s.base.RoundTrip(r)
}
