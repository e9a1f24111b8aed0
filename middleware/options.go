package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Option configures [New], [Handler], [NewTransport], [Inject] and [Extract]. Options that do not concern
// one of them have no effect there. Of two that set the same thing, the later wins.
type Option interface{ apply(config) config }

// config is what the options say; newSettings turns it into what a request needs.
type config struct {
	provider       trace.TracerProvider
	propagators    propagation.TextMapPropagator
	filters        []func(*http.Request) bool
	skip           []string
	public         func(*http.Request) bool
	trusted        []netip.Prefix
	redacted       []string
	requestHeader  []string
	responseHeader []string
	methods        []string
	serverTiming   bool
}

type option func(config) config

func (o option) apply(c config) config { return o(c) }

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			c = o.apply(c)
		}
	}
	return c
}

// WithTracerProvider sets the provider of the spans. Default, also for nil: OpenTelemetry's global one, as
// it is at each request.
func WithTracerProvider(tp trace.TracerProvider) Option {
	return option(func(c config) config { c.provider = tp; return c })
}

// WithPropagators sets what reads and writes the headers that carry a trace from process to process.
// Default, also for nil: OpenTelemetry's global ones, as they are at each request.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return option(func(c config) config { c.propagators = p; return c })
}

// WithFilter gives spans only to the requests for which f is true. The others still carry the caller's trace
// on to what they call. With several filters all must be true; nil is ignored. f must be safe for concurrent use.
func WithFilter(f func(*http.Request) bool) Option {
	return option(func(c config) config {
		if f != nil {
			c.filters = append(slices.Clip(c.filters), f)
		}
		return c
	})
}

// WithSkipPaths leaves requests for exactly these paths (/healthz) without spans, as [WithFilter] would.
// Several calls add up.
func WithSkipPaths(paths ...string) Option {
	return option(func(c config) config {
		c.skip = append(slices.Clip(c.skip), paths...)
		return c
	})
}

// WithPublicEndpoint starts a trace of its own, linked to the caller's span, for the requests for which f is
// true (nil: for all), because a stranger's trace ID and sampling decision are not to be trusted. Default:
// every caller is trusted. f must be safe for concurrent use.
func WithPublicEndpoint(f func(*http.Request) bool) Option {
	if f == nil {
		f = func(*http.Request) bool { return true }
	}
	return option(func(c config) config { c.public = f; return c })
}

// WithTrustedProxies names the networks of the proxies in front of the server. Only behind them do the
// headers Forwarded (RFC 7239) and X-Forwarded-For, -Proto and -Host count; client.address is then the last
// hop that is not one of them: the lists are read from the end, where proxies append, and what a client has put
// in front is not looked at. Forwarded wins over X-Forwarded-*, so the outermost proxy must set or remove both.
// Default: no proxy is trusted, and client.address is the peer.
func WithTrustedProxies(p ...netip.Prefix) Option {
	return option(func(c config) config { c.trusted = p; return c })
}

// WithRedactedQuery adds keys, in any case, whose values in url.query (and in url.full of outgoing requests)
// are replaced by REDACTED. Several calls add up; the built-in list stays.
func WithRedactedQuery(keys ...string) Option {
	return option(func(c config) config {
		c.redacted = append(slices.Clip(c.redacted), keys...)
		return c
	})
}

// WithHeaders records the named headers, in any case, as http.request.header.NAME and
// http.response.header.NAME, with all their values as an array of strings (at most 16). Values that hold
// credentials are REDACTED whatever the list says: Authorization, Proxy-Authorization, Cookie, Set-Cookie,
// X-Api-Key, X-Auth-Token, X-Csrf-Token, X-Amz-Security-Token. Default: none.
func WithHeaders(request, response []string) Option {
	return option(func(c config) config { c.requestHeader, c.responseHeader = request, response; return c })
}

// WithKnownMethods replaces the list of methods that are recorded by name. It is case-sensitive; every other
// method is _OTHER and names its span HTTP. Default, also for no method: those of RFC 9110, PATCH and QUERY.
func WithKnownMethods(methods ...string) Option {
	return option(func(c config) config { c.methods = methods; return c })
}

// WithServerTiming answers each traced request with
//
//	Server-Timing: traceparent;desc="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
//
// beside what the handler itself puts there, so that a browser's developer tools show the trace. Default: no
// header.
func WithServerTiming() Option {
	return option(func(c config) config { c.serverTiming = true; return c })
}

// header is one chosen header.
type header struct {
	name   string // canonical
	key    string // of the attribute
	secret bool
	isURL  bool
}

func newHeaders(prefix string, names []string) []header {
	var hs []header
	for _, n := range names {
		n = strings.TrimSpace(n)
		if n == "" {
			continue
		}
		h := header{name: http.CanonicalHeaderKey(n), key: prefix + strings.ToLower(n)}
		switch h.name {
		case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token",
			"X-Csrf-Token", "X-Amz-Security-Token":
			h.secret = true
		case "Referer", "Location", "Content-Location":
			h.isURL = true
		}
		hs = append(hs, h)
	}
	return hs
}
