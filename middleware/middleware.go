// Package middleware gives every request of a net/http handler its server span.
package middleware

import (
	"context"
	"net/http"
	"net/netip"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Option configures the handler and the transport.
type Option interface{ apply(config) config }

type config struct{}

// New wraps next.
func New(next http.Handler, opts ...Option) http.Handler { return next }

// Handler is New for middleware chains.
func Handler(opts ...Option) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return New(next, opts...) }
}

// NewTransport gives outgoing requests a client span and the headers.
func NewTransport(base http.RoundTripper, opts ...Option) http.RoundTripper { return base }

// Routes tells the server span the pattern of a mux when something between copies the request.
func Routes(mux http.Handler) http.Handler { return mux }

// SetRoute tells the server span its route.
func SetRoute(ctx context.Context, route string) {}

// Inject returns the headers that carry ctx to another process.
func Inject(ctx context.Context, opts ...Option) map[string]string { return nil }

// Extract returns ctx with what the headers carry.
func Extract(ctx context.Context, headers map[string]string, opts ...Option) context.Context {
	return ctx
}

// WithTracerProvider sets the provider; default: the global one.
func WithTracerProvider(tp trace.TracerProvider) Option { panic("stub") }

// WithPropagators sets the propagators; default: the global ones.
func WithPropagators(p propagation.TextMapPropagator) Option { panic("stub") }

// WithFilter traces only the requests for which f is true; the others keep propagation.
func WithFilter(f func(*http.Request) bool) Option { panic("stub") }

// WithSkipPaths leaves exact paths without spans.
func WithSkipPaths(paths ...string) Option { panic("stub") }

// WithPublicEndpoint starts a new trace linked to the caller's when f (nil: always) is true.
func WithPublicEndpoint(f func(*http.Request) bool) Option { panic("stub") }

// WithTrustedProxies names the proxies whose Forwarded and X-Forwarded-* headers count.
func WithTrustedProxies(p ...netip.Prefix) Option { panic("stub") }

// WithRedactedQuery adds query keys whose values are redacted.
func WithRedactedQuery(keys ...string) Option { panic("stub") }

// WithHeaders records the named request and response headers.
func WithHeaders(request, response []string) Option { panic("stub") }

// WithKnownMethods replaces the list of known methods.
func WithKnownMethods(methods ...string) Option { panic("stub") }

// WithServerTiming answers with a Server-Timing header that carries the traceparent.
func WithServerTiming() Option { panic("stub") }
