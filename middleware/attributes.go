package middleware

import (
	"net/http"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/redact"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// maxAttributes is how many attributes stand in the scratch itself. More of them, as chosen headers, are allocated.
const maxAttributes = 16

// scratch is where the attributes of a span stand until the SDK has copied them: span options are interface
// values, so a slice on the stack would be allocated (BenchmarkMiddleware: 3 allocations and 1 KB a request).
// It is pooled, and never seen by a handler. Tracers see the options, and may change them: all are set each time.
type scratch struct {
	attrs   [maxAttributes]attribute.KeyValue
	n       int
	more    []attribute.KeyValue                     // chosen headers, and what has no room in attrs
	options [5]trace.SpanStartOption                 // kind, attributes; more, a new root, a link
	first   [maxAttributes + 1]trace.SpanStartOption // first[n] hands over attrs[:n]
}

var scratches = sync.Pool{New: func() any { return new(scratch) }} //nolint:gochecknoglobals // a sync.Pool

func getScratch() *scratch {
	s, _ := scratches.Get().(*scratch)
	return s
}

func (s *scratch) release() {
	s.forget()
	scratches.Put(s)
}

// forget drops the values, some of them secrets or large.
func (s *scratch) forget() {
	clear(s.attrs[:s.n])
	clear(s.options[:])
	s.n, s.more = 0, nil
}

// next returns where the attribute of k stands, until the next call. Its value is set in place: as a value that is
// handed on it would be copied twice, right after it was written (ADR 0121).
func (s *scratch) next(k attribute.Key) *attribute.KeyValue {
	if s.n == maxAttributes {
		s.more = append(s.more, attribute.KeyValue{Key: k})
		return &s.more[len(s.more)-1]
	}
	kv := &s.attrs[s.n]
	s.n++
	kv.Key = k
	return kv
}

func (s *scratch) str(k attribute.Key, v string) {
	if v == "" {
		return
	}
	s.next(k).Value = attribute.StringValue(v)
}

func (s *scratch) num(k attribute.Key, v int) {
	if v <= 0 {
		return
	}
	s.next(k).Value = attribute.IntValue(v)
}

// start returns the options that hand the attributes over, and has room for two more.
func (s *scratch) start(kind trace.SpanStartOption) []trace.SpanStartOption {
	if s.first[s.n] == nil {
		s.first[s.n] = trace.WithAttributes(s.attrs[:s.n]...)
	}
	opts := append(s.options[:0], kind, s.first[s.n])
	if s.more != nil {
		opts = append(opts, trace.WithAttributes(s.more...))
	}
	return opts
}

// set hands the attributes over to a span that has begun.
func (s *scratch) set(span trace.Span) {
	span.SetAttributes(s.attrs[:s.n]...)
	if s.more != nil {
		span.SetAttributes(s.more...)
	}
}

// describe fills s with what samplers may ask for, which is what goes to Start: the conventions name it. What is
// given to Start is copied twice, and copied even for a span that is not sampled, so the rest waits for the end
// (ADR 0121).
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#http-server-span
func (s *settings) describe(sc *scratch, r *http.Request, method, route string) {
	peer, peerPort := peerOf(r)
	much := sharesMuch(r)
	o := origin{}
	if len(s.proxies) > 0 {
		o = s.proxies.origin(peer, r.Header)
	}
	sc.str(semconv.HTTPRequestMethodKey, method)
	if method == semconv.HTTPRequestMethodOther {
		sc.str(semconv.HTTPRequestMethodOriginalKey, own(clip(r.Method, maxMethod), much))
	}
	sc.str(semconv.URLSchemeKey, scheme(r, o))
	sc.str(semconv.URLPathKey, own(clip(urlPath(r), maxPath), much))
	if r.URL.RawQuery != "" {
		sc.str(semconv.URLQueryKey, own(s.urlQuery(r.URL.RawQuery), much))
	}
	sc.str(semconv.HTTPRouteKey, route)
	host, port := serverHost(r, o)
	if host != "" {
		sc.str(semconv.ServerAddressKey, own(host, much || o.host != ""))
		sc.num(semconv.ServerPortKey, port)
	}
	client := o.client
	if client == "" {
		client = own(clip(peer, maxHost), peerPort == 0)
	}
	sc.str(semconv.ClientAddressKey, client)
	if ua := r.Header["User-Agent"]; len(ua) > 0 {
		sc.str(semconv.UserAgentOriginalKey, clip(ua[0], maxUserAgent))
	}
	sc.more = append(sc.more, s.requestHeaders(r)...)
}

// network adds what is known of the connection, which no sampler needs.
func (s *scratch) network(r *http.Request) {
	peer, port := peerOf(r)
	s.str(semconv.NetworkPeerAddressKey, own(clip(peer, maxHost), port == 0))
	s.num(semconv.NetworkPeerPortKey, port)
	s.str(semconv.NetworkProtocolVersionKey, protocolVersion(r))
}

// peerOf returns who holds the other end of the connection. Without a port it is not net/http's word, and may be cut out
// of a header.
func peerOf(r *http.Request) (string, int) {
	peer, port := splitHostPort(r.RemoteAddr)
	if peer == "@" { // an unnamed Unix socket
		peer = ""
	}
	return peer, port
}

// urlPath returns the path. Only CONNECT has none; the empty path of an absolute URL is the root (RFC 3986, 6.2.3).
func urlPath(r *http.Request) string {
	if r.URL.Path == "" && r.Method != http.MethodConnect {
		return "/"
	}
	return r.URL.Path
}

// urlQuery returns the query without secrets. What stands for a secret may be longer than it.
func (s *settings) urlQuery(raw string) string {
	return clip(s.secrets.Query(raw[:min(len(raw), maxQuery)]), 2*maxQuery)
}

func scheme(r *http.Request, o origin) string {
	switch {
	case o.scheme != "":
		return o.scheme
	case r.TLS != nil:
		return "https"
	}
	return "http"
}

// serverHost returns the host that the client asked for: the proxies' word, else the request's. What is no host, or
// longer than a host name can be, is an attack on who counts by it, and left out.
func serverHost(r *http.Request, o origin) (string, int) {
	for _, hostport := range [...]string{o.host, r.Host} {
		if len(hostport) > maxHost+len("[]:65535") {
			continue
		}
		if host, port := splitHostPort(hostport); isHost(host) {
			return host, port
		}
	}
	return "", 0
}

func protocolVersion(r *http.Request) string {
	switch {
	case r.ProtoMajor == 1 && r.ProtoMinor == 1:
		return "1.1"
	case r.ProtoMajor == 2:
		return "2"
	case r.ProtoMajor == 1 && r.ProtoMinor == 0:
		return "1.0"
	case r.ProtoMajor == 3:
		return "3"
	}
	return ""
}

// method returns the value of http.request.method.
func (s *settings) method(m string) string {
	for _, known := range s.methods {
		if m == known {
			return known // m itself may be a part of a long request line
		}
	}
	return semconv.HTTPRequestMethodOther
}

// spanMethod returns what stands for the method in a span's name.
func spanMethod(method string) string {
	if method == semconv.HTTPRequestMethodOther {
		return "HTTP"
	}
	return method
}

func (s *settings) requestHeaders(r *http.Request) []attribute.KeyValue {
	if len(s.request) == 0 {
		return nil
	}
	var kvs []attribute.KeyValue
	for _, h := range s.request {
		values := r.Header[h.name]
		if h.name == "Host" && r.Host != "" { // net/http moves it
			values = []string{r.Host}
		}
		kvs = s.appendHeader(kvs, h, values)
	}
	return kvs
}

func (s *settings) responseHeaders(from http.Header) []attribute.KeyValue {
	var kvs []attribute.KeyValue
	for _, h := range s.response {
		kvs = s.appendHeader(kvs, h, from[h.name])
	}
	return kvs
}

func (s *settings) appendHeader(kvs []attribute.KeyValue, h header, values []string) []attribute.KeyValue {
	if len(values) == 0 {
		return kvs
	}
	out := make([]string, 0, min(len(values), maxHeaderValues))
	for _, v := range values[:cap(out)] {
		switch {
		case h.secret:
			v = redact.Mark
		case h.isURL:
			v = s.secrets.URL(v)
		default:
			v = s.secrets.Text(v, maxHeaderValue)
		}
		// Cloned: the program may have cut it out of anything.
		out = append(out, strings.Clone(clip(v, maxHeaderValue)))
	}
	return append(kvs, attribute.StringSlice(h.key, out))
}
