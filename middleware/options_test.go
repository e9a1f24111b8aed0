package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// odd is a provider that cannot be compared.
type odd struct {
	trace.TracerProvider
	_ []int
}

func same(a, b http.Handler) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() && reflect.TypeOf(a) == reflect.TypeOf(b)
}

func TestNewReturnsNextWhenThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	next := status(http.StatusOK)
	noProp := propagation.NewCompositeTextMapPropagator()
	for name, tp := range map[string]trace.TracerProvider{
		"noop": noop.NewTracerProvider(), "noop pointer": &noop.TracerProvider{},
		"deprecated noop": trace.NewNoopTracerProvider(), //nolint:staticcheck // programs still use it
	} {
		if got := middleware.New(next, middleware.WithTracerProvider(tp), middleware.WithPropagators(noProp)); !same(got, next) {
			t.Errorf("%s: New wraps", name)
		}
		if got := middleware.New(next, middleware.WithTracerProvider(tp), middleware.WithPropagators(w3c())); same(got, next) {
			t.Errorf("%s: New does not wrap, and the caller's trace gets lost", name)
		}
	}
}

func TestOffStillPropagates(t *testing.T) {
	t.Parallel()
	var seen trace.SpanContext
	h := middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = trace.SpanContextFromContext(r.Context())
	}), middleware.WithTracerProvider(noop.NewTracerProvider()), middleware.WithPropagators(w3c()))
	h.ServeHTTP(httptest.NewRecorder(), get("/", "Traceparent", callerHead))
	if seen.SpanID().String() != callerSpan {
		t.Errorf("handler sees %v, want the caller's span itself", seen)
	}
}

// It sets the global provider: not parallel.
func TestGlobalProviderSetLater(t *testing.T) {
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	next := status(http.StatusOK)
	h := middleware.New(next)
	if same(h, next) {
		t.Fatal("New does not wrap while no global provider is set")
	}
	h.ServeHTTP(httptest.NewRecorder(), get("/"))
	for range 2 { // also the second one, to which OpenTelemetry's own placeholder does not follow
		_, tr := capturetest.Start(t)
		otel.SetTracerProvider(tr.TracerProvider())
		h.ServeHTTP(httptest.NewRecorder(), get("/"))
		tr.Spans().Times(1)
	}
	otel.SetTracerProvider(noop.NewTracerProvider())
	h.ServeHTTP(httptest.NewRecorder(), get("/"))
	if !same(middleware.New(next), next) {
		t.Error("New wraps although the global provider is a no-op")
	}
}

func TestProviderThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	h := middleware.New(status(http.StatusOK), middleware.WithTracerProvider(odd{TracerProvider: tr.TracerProvider()}), middleware.WithPropagators(w3c()))
	for range 2 {
		h.ServeHTTP(httptest.NewRecorder(), get("/"))
	}
	tr.Spans().Times(2)
}

func TestNilAndZeroOptionsKeepTheDefaults(t *testing.T) {
	t.Parallel()
	tr := one(t, status(http.StatusOK), get("/?token=a"), nil, middleware.WithFilter(nil), middleware.WithSkipPaths(),
		middleware.WithTrustedProxies(), middleware.WithRedactedQuery(), middleware.WithHeaders(nil, nil), middleware.WithKnownMethods())
	tr.Span("GET").Attr("url.query", "token=REDACTED")
}

func TestLaterOptionsDoNotReachIntoEarlierHandlers(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	base := []middleware.Option{middleware.WithSkipPaths("/a"), middleware.WithSkipPaths("/b")}
	first := wrap(tr, status(http.StatusOK), base...)
	wrap(tr, status(http.StatusOK), append(base, middleware.WithSkipPaths("/c"))...)
	first.ServeHTTP(httptest.NewRecorder(), get("/c"))
	tr.Spans().Times(1)
}

func TestHandlerIsNew(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	middleware.Handler(middleware.WithTracerProvider(tr.TracerProvider()))(status(http.StatusOK)).ServeHTTP(httptest.NewRecorder(), get("/"))
	tr.Spans().Times(1)
}

func TestHeadersWithSecrets(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "a=b")
		w.Header().Set("Location", "/cb?code=xyz&a=1")
	})
	r := get("http://shop.example/", "Authorization", "Bearer x", "Cookie", "c=d", "X-Api-Key", "k",
		"Referer", "https://u:p@a.example/?token=x", "X-Long", strings.Repeat("l", 2000))
	for range 20 {
		r.Header.Add("X-Many", "v")
	}
	tr := one(t, h, r, middleware.WithHeaders(
		[]string{"authorization", "COOKIE", "x-api-key", "referer", "x-long", "host", "x-many", "absent", " "},
		[]string{"set-cookie", "location", "absent"}))
	tr.Span("GET").
		Attr("http.request.header.authorization", []string{"REDACTED"}).
		Attr("http.request.header.cookie", []string{"REDACTED"}).
		Attr("http.request.header.x-api-key", []string{"REDACTED"}).
		Attr("http.request.header.host", []string{"shop.example"}).
		Attr("http.request.header.referer", []string{"https://REDACTED@a.example/?token=REDACTED"}).
		Attr("http.request.header.x-long", []string{strings.Repeat("l", 1024)}).
		Attr("http.request.header.x-many", slices.Repeat([]string{"v"}, 16)).
		Attr("http.response.header.set-cookie", []string{"REDACTED"}).
		Attr("http.response.header.location", []string{"/cb?code=REDACTED&a=1"}).
		NoAttr("http.request.header.absent", "http.response.header.absent")
}

func TestBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10000)
	r := get("/"+long+"?q="+long, "User-Agent", long)
	r.Host = long
	tr := one(t, status(http.StatusOK), r)
	tr.Span("GET").Attr("url.path", "/"+long[:4095]).Attr("url.query", "q="+long[:4094]).Attr("user_agent.original", long[:1024]).NoAttr("server.address", "server.port")

	r = get("/%ff%fe", "User-Agent", "\xff")
	r.Host = "\xff.example"
	tr = one(t, status(http.StatusOK), r)
	tr.Span("GET").Attr("url.path", "/\uFFFD").Attr("user_agent.original", "\uFFFD").NoAttr("server.address")
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, remote, server, port, client, peer, peerPort string }{
		{"shop.example", "1.2.3.4:5678", "shop.example", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"shop.example:443", "[::1]:5678", "shop.example", "443", "::1", "::1", "5678"},
		{"[::1]:8080", "1.2.3.4:5678", "::1", "8080", "1.2.3.4", "1.2.3.4", "5678"},
		{"", "", "", "", "", "", ""},
		{"evil:99999:[::1]@x", "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"user@shop.example:80", "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"shop.example/path", "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"[::1%<b>]:80", "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"a_b-c.d~e%41:80", "1.2.3.4:5678", "a_b-c.d~e%41", "80", "1.2.3.4", "1.2.3.4", "5678"},
		{strings.Repeat("x", 255) + ":8080", "1.2.3.4:5678", strings.Repeat("x", 255), "8080", "1.2.3.4", "1.2.3.4", "5678"},
		{strings.Repeat("x", 256), "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{strings.Repeat("x", 256) + ":8080", "1.2.3.4:5678", "", "", "1.2.3.4", "1.2.3.4", "5678"},
		{"shop.example", "evil:1:2", "shop.example", "", "", "", ""},
		{"unix", "@", "unix", "", "", "", ""},
		{"unix", "/run/shop.sock", "unix", "", "/run/shop.sock", "/run/shop.sock", ""},
	} {
		r := get("/")
		r.Host, r.RemoteAddr = tt.host, tt.remote
		tr := one(t, status(http.StatusOK), r)
		s := tr.Span("GET").One()
		for key, want := range map[string]string{
			"server.address": tt.server, "server.port": tt.port, "client.address": tt.client,
			"network.peer.address": tt.peer, "network.peer.port": tt.peerPort,
		} {
			v, has := s.Attr(key)
			if got := strings.Trim(render.FormatValue(v), "'"); has != (want != "") || has && got != want {
				t.Errorf("host %q, peer %q: %s = %s, want %q", tt.host, tt.remote, key, got, want)
			}
		}
	}
}

// A proxy's word that is no host leaves the request's own.
func TestForwardedHostThatIsNone(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"evil:99999:[::1]@x", strings.Repeat("x", 300), "a b"} {
		tr := one(t, status(http.StatusOK), get("http://inner:80/", "X-Forwarded-For", "1.1.1.1", "X-Forwarded-Host", host),
			middleware.WithTrustedProxies(netip.MustParsePrefix("192.0.2.0/24")))
		tr.Span("GET").Attr("client.address", "1.1.1.1").Attr("server.address", "inner").Attr("server.port", 80)
	}
}

// Everything that the conventions want at the start is there when the sampler decides.
func TestSamplerSeesTheRequest(t *testing.T) {
	t.Parallel()
	var saw sdktrace.SamplingParameters
	_, tr := capturetest.Start(t, capturetest.WithProviderOptions(sdktrace.WithSampler(spy{&saw})))
	wrap(tr, status(http.StatusOK), middleware.WithHeaders([]string{"X-Tenant"}, nil)).ServeHTTP(httptest.NewRecorder(),
		get("http://shop.example:8080/a?b=c", "User-Agent", "ua", "X-Tenant", "t", "Traceparent", callerHead))
	got := map[string]string{}
	for _, kv := range saw.Attributes {
		got[string(kv.Key)] = kv.Value.String()
	}
	for key, want := range map[string]string{
		"http.request.method": "GET", "url.path": "/a", "url.query": "b=c", "url.scheme": "http", "server.address": "shop.example",
		"server.port": "8080", "client.address": "192.0.2.1", "user_agent.original": "ua", "http.request.header.x-tenant": `["t"]`,
	} {
		if got[key] != want {
			t.Errorf("at the start %s = %q, want %q", key, got[key], want)
		}
	}
	if saw.Kind != trace.SpanKindServer || saw.Name != "GET" || trace.SpanContextFromContext(saw.ParentContext).SpanID().String() != callerSpan {
		t.Errorf("sampler saw kind %v, name %q", saw.Kind, saw.Name)
	}
}

type spy struct{ saw *sdktrace.SamplingParameters }

func (s spy) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	*s.saw = p
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}
func (spy) Description() string { return "spy" }

func TestParentAndSampling(t *testing.T) {
	t.Parallel()
	s := one(t, status(http.StatusOK), get("/", "Traceparent", callerHead)).Span("GET").Kind(traces.KindServer).One()
	if remote, _ := s.RemoteParent(); s.TraceID.String() != callerID || s.ParentID.String() != callerSpan || !remote {
		t.Errorf("not the child of the caller: %v of %v", s.ParentID, s.TraceID)
	}
	if s.ScopeName() != middleware.ScopeName {
		t.Errorf("scope %q", s.ScopeName())
	}
	s = one(t, status(http.StatusOK), get("/")).Span("GET").One()
	if !s.ParentID.IsZero() {
		t.Error("a request without a header has a parent")
	}

	// Not sampled: no span, the trace goes on, and Server-Timing tells the truth.
	_, tr := capturetest.Start(t, capturetest.WithProviderOptions(sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample()))))
	var seen trace.SpanContext
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = trace.SpanContextFromContext(r.Context()) })
	w := httptest.NewRecorder()
	wrap(tr, h, middleware.WithServerTiming()).ServeHTTP(w, get("/", "Traceparent", strings.TrimSuffix(callerHead, "1")+"0"))
	tr.Spans().Times(0)
	if seen.TraceID().String() != callerID || seen.IsSampled() {
		t.Errorf("handler sees %v", seen)
	}
	if got := w.Header().Get("Server-Timing"); !strings.HasSuffix(got, `-00"`) || !strings.Contains(got, callerID) {
		t.Errorf("Server-Timing = %q", got)
	}
}
