package middleware_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// One test for each gap of otelhttp that the middleware closes.

func TestFacts4_3Row01MuxRoute(t *testing.T) {
	t.Parallel()
	tr := one(t, muxOf("GET /ok/{id}", status(http.StatusOK)), get("/ok/1"))
	tr.Span("GET /ok/{id}").Attr("http.route", "/ok/{id}")
}

func TestFacts4_3Row02CopiedRequest(t *testing.T) {
	t.Parallel()
	tr := one(t, copying(middleware.Routes(muxOf("GET /ok/{id}", status(http.StatusOK)))), get("/ok/1"))
	tr.Span("GET /ok/{id}").Attr("http.route", "/ok/{id}")
}

func TestFacts4_3Row03Panic(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	tr, value := panicsWith(t, muxOf("GET /ok/{id}", func(http.ResponseWriter, *http.Request) { panic(boom) }), get("/ok/1"))
	if value != any(boom) {
		t.Errorf("raised again: %v, want the same value", value)
	}
	s := tr.Span("GET /ok/{id}").Err().Attr("http.route", "/ok/{id}").Attr("error.type", "*errors.errorString").
		NoAttr("http.response.status_code").One()
	if s.Status.Message != "boom" {
		t.Errorf("status message = %q", s.Status.Message)
	}
	wantException(t, s, "*errors.errorString", "boom", "TestFacts4_3Row03Panic")
}

func TestFacts4_3Row04AbortHandler(t *testing.T) {
	t.Parallel()
	tr, value := panicsWith(t, status2(http.StatusOK, func() { panic(http.ErrAbortHandler) }), get("/"))
	if value != any(http.ErrAbortHandler) {
		t.Errorf("raised again: %v", value)
	}
	s := tr.Span("GET").NoErr().Attr("waymark.http.end", "aborted").Attr("http.response.status_code", 200).NoAttr("error.type").One()
	if len(s.Events) != 0 {
		t.Errorf("events %v, want none", s.Events)
	}
}

func TestFacts4_3Row05ServerError(t *testing.T) {
	t.Parallel()
	tr := one(t, status(http.StatusServiceUnavailable), get("/"))
	s := tr.Span("GET").Err().Attr("error.type", "503").Attr("http.response.status_code", 503).One()
	if s.Status.Message != "" {
		t.Errorf("status message = %q, want none: the code says it", s.Status.Message)
	}
}

func TestFacts4_3Row06ClientGone(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusOK, http.StatusInternalServerError} {
		ctx, cancel := context.WithCancel(t.Context())
		tr := one(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(code)
		}), get("/").WithContext(ctx))
		s := tr.Span("GET").Attr("waymark.http.end", "client_disconnected").Attr("http.response.status_code", code).One()
		if s.Failed() != (code >= 500) {
			t.Errorf("%d: status %v", code, s.Status)
		}
	}
}

func TestFacts4_3Row07Hijack(t *testing.T) {
	t.Parallel()
	take := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _, _ = as[http.Hijacker](w).Hijack() })
	tests := []struct {
		name    string
		request *http.Request
		stream  string
	}{
		{"upgrade", get("/", "Connection", "keep-alive, Upgrade", "Upgrade", "websocket"), "upgrade"},
		{"Upgrade without Connection", get("/", "Upgrade", "websocket"), "hijack"},
		{"plain", get("/"), "hijack"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			wrap(tr, take).ServeHTTP(&hijackable{ResponseRecorder: httptest.NewRecorder()}, tt.request)
			s := tr.Span("GET").NoErr().Attr("waymark.http.stream", tt.stream)
			if tt.stream == "upgrade" {
				s.Attr("http.response.status_code", 101)
			} else {
				s.NoAttr("http.response.status_code")
			}
		})
	}
}

type hijackable struct {
	*httptest.ResponseRecorder
	err error
}

func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, h.err }

func TestFacts4_3Row07FailedHijackIsNone(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	take := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := as[http.Hijacker](w).Hijack(); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	wrap(tr, take).ServeHTTP(&hijackable{httptest.NewRecorder(), errors.New("no")}, get("/"))
	tr.Span("GET").Attr("http.response.status_code", 400).NoAttr("waymark.http.stream")
}

func TestFacts4_3Row08Query(t *testing.T) {
	t.Parallel()
	tr := one(t, status(http.StatusOK), get("/?page=2&Token=abc"))
	tr.Span("GET").Attr("url.query", "page=2&Token=REDACTED").Attr("url.path", "/")
}

func TestFacts4_3Row09Row10Row11Proxies(t *testing.T) {
	t.Parallel()
	proxy := middleware.WithTrustedProxies(netip.MustParsePrefix("192.0.2.0/24")) // httptest's peer is 192.0.2.1
	headers := []string{
		"Forwarded", `for="[2001:db8::7]:4711";proto=https;host="shop.example:8443", for=192.0.2.9`,
		"X-Forwarded-For", " 9.9.9.9 ,1.1.1.1", "X-Forwarded-Proto", "http", "X-Forwarded-Host", "evil.example",
	}
	tr := one(t, status(http.StatusOK), get("http://inner:80/", headers...), proxy)
	tr.Span("GET").Attr("client.address", "2001:db8::7").Attr("url.scheme", "https").Attr("server.address", "shop.example").
		Attr("server.port", 8443).Attr("network.peer.address", "192.0.2.1").Attr("network.peer.port", 1234)

	tr = one(t, status(http.StatusOK), get("http://inner:80/", headers[2:]...), proxy)
	tr.Span("GET").Attr("client.address", "1.1.1.1").Attr("url.scheme", "http").Attr("server.address", "evil.example").NoAttr("server.port")

	tr = one(t, status(http.StatusOK), get("http://inner:80/", headers...))
	tr.Span("GET").Attr("client.address", "192.0.2.1").Attr("url.scheme", "http").Attr("server.address", "inner").
		Attr("server.port", 80)
}

func TestFacts4_3Row12HTTP2Version(t *testing.T) {
	t.Parallel()
	for proto, want := range map[[2]int]string{{1, 0}: "1.0", {1, 1}: "1.1", {2, 0}: "2", {3, 0}: "3", {0, 9}: ""} {
		r := get("/")
		r.ProtoMajor, r.ProtoMinor = proto[0], proto[1]
		tr := one(t, status(http.StatusOK), r)
		text(tr.Span("GET").NoAttr("network.protocol.name"), "network.protocol.version", want)
	}
}

func TestFacts4_3Row13Row14Methods(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("X", 100)
	tests := []struct {
		method             string
		known              []string
		name, want, before string
	}{
		{"QUERY", nil, "QUERY", "QUERY", ""},
		{"PATCH", nil, "PATCH", "PATCH", ""},
		{"CONNECT", nil, "CONNECT", "CONNECT", ""},
		{"get", nil, "HTTP", "_OTHER", "get"},
		{"Get", nil, "HTTP", "_OTHER", "Get"},
		{"BREW", nil, "HTTP", "_OTHER", "BREW"},
		{long, nil, "HTTP", "_OTHER", long[:32]},
		{"BREW", []string{"BREW"}, "BREW", "BREW", ""},
		{"GET", []string{"BREW"}, "HTTP", "_OTHER", "GET"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(tt.method, "/", http.NoBody)
		tr := one(t, status(http.StatusOK), r, middleware.WithKnownMethods(tt.known...))
		text(tr.Span(tt.name).Attr("http.request.method", tt.want), "http.request.method_original", tt.before)
	}
}

func TestFacts4_3Row15NoBodySizes(t *testing.T) {
	t.Parallel()
	tr := one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		httptest.NewRequest(http.MethodPost, "/", strings.NewReader("body")))
	tr.Span("POST").NoAttr("http.request.body.size", "http.response.body.size")
}

func TestFacts4_3Row16FilteredRequestsPropagate(t *testing.T) {
	t.Parallel()
	tests := map[string]middleware.Option{
		"filter":    middleware.WithFilter(func(r *http.Request) bool { return r.URL.Path != "/healthz" }),
		"skip path": middleware.WithSkipPaths("/readyz", "/healthz"),
	}
	for name, opt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			var seen trace.SpanContext
			var bag string
			r := get("/healthz", "Traceparent", callerHead, "Baggage", "k=v")
			h := wrap(tr, muxOf("/healthz", func(_ http.ResponseWriter, r *http.Request) {
				seen = trace.SpanContextFromContext(r.Context())
				bag = baggage.FromContext(r.Context()).Member("k").Value()
			}), opt)
			h.ServeHTTP(httptest.NewRecorder(), r)
			tr.Spans().Times(0)
			if seen.TraceID().String() != callerID || !seen.IsRemote() || bag != "v" {
				t.Errorf("handler sees %v, baggage %q", seen, bag)
			}
			if r.Pattern != "/healthz" {
				t.Errorf("outer request's Pattern = %q", r.Pattern)
			}
			h.ServeHTTP(httptest.NewRecorder(), get("/healthz/x"))
			tr.Spans().Times(1)
		})
	}
}

func TestFacts4_3Row17ServerTimingAndHeaders(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server-Timing", "db;dur=53")
		w.Header().Set("X-Kind", "tea")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write([]byte("ok"))
	})
	_, tr := capturetest.Start(t)
	w := httptest.NewRecorder()
	wrap(tr, h, middleware.WithServerTiming(), middleware.WithHeaders([]string{"x-tenant"}, []string{"X-KIND"})).
		ServeHTTP(w, get("/", "X-Tenant", "a", "X-Tenant", "b"))
	s := tr.Span("GET").Attr("http.request.header.x-tenant", []string{"a", "b"}).Attr("http.response.header.x-kind", []string{"tea"}).One()
	want := []string{"db;dur=53", fmt.Sprintf(`traceparent;desc="00-%s-%s-01"`, s.TraceID, s.SpanID)}
	if got := w.Header()["Server-Timing"]; fmt.Sprint(got) != fmt.Sprint(want) { // Result() freezes at the 103
		t.Errorf("Server-Timing = %q, want %q", got, want)
	}
}

func TestFacts4_3Row18Informational(t *testing.T) {
	t.Parallel()
	tr := one(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusContinue)
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot) // superfluous
	}), get("/"))
	tr.Span("GET").Attr("http.response.status_code", 202)
}

func TestFacts4_3Row18PublicEndpoint(t *testing.T) {
	t.Parallel()
	public := func(r *http.Request) bool { return r.URL.Path == "/public" }
	for _, opt := range []middleware.Option{middleware.WithPublicEndpoint(nil), middleware.WithPublicEndpoint(public)} {
		s := one(t, status(http.StatusOK), get("/public", "Traceparent", callerHead), opt).Span("GET").One()
		if s.TraceID.String() == callerID || !s.ParentID.IsZero() {
			t.Error("a public request continues the caller's trace")
		}
		if len(s.Links) != 1 || s.Links[0].SpanID.String() != callerSpan {
			t.Errorf("links = %v", s.Links)
		}
	}
	s := one(t, status(http.StatusOK), get("/private", "Traceparent", callerHead), middleware.WithPublicEndpoint(public)).Span("GET").One()
	if s.TraceID.String() != callerID || len(s.Links) != 0 {
		t.Error("a private request does not continue the caller's trace")
	}
	s = one(t, status(http.StatusOK), get("/public"), middleware.WithPublicEndpoint(nil)).Span("GET").One()
	if len(s.Links) != 0 {
		t.Error("a link to nothing")
	}
}

func TestFacts4_3Row18BodyAndForm(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	m := multipart.NewWriter(&body)
	_ = m.WriteField("a", "b")
	_ = m.Close()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body.String()))
	r.Header.Set("Content-Type", m.FormDataContentType())
	before := r.Body
	one(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 10); err != nil {
			t.Error(err)
		}
	}), r)
	if r.Body != before {
		t.Error("the outer request's Body was replaced")
	}
	if r.MultipartForm == nil || r.MultipartForm.Value["a"][0] != "b" {
		t.Error("the form did not come back: its temporary files would stay")
	}
	one(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			t.Error("NoBody was wrapped")
		}
	}), get("/"))
}

func TestFacts4_3Row18ResponseController(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := httptest.NewServer(wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		err := errors.Join(c.SetReadDeadline(time.Now().Add(patience)), c.SetWriteDeadline(time.Now().Add(patience)),
			c.EnableFullDuplex(), c.Flush())
		if err != nil {
			t.Error(err)
		}
	})))
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	tr.Wait("GET", 1).Attr("http.response.status_code", 200)
}

// status2 answers and then does something.
func status2(code int, then func()) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		then()
	}
}
