package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
)

// network is a RoundTripper that keeps the request.
type network struct {
	saw *http.Request
	err error
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.saw = r
	if n.err != nil {
		return nil, n.err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok")), Request: r}, nil
}

func call(tb testing.TB, rt http.RoundTripper, ctx context.Context, url string) error { //nolint:revive // tb first in tests
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return err
	}
	if len(r.Header) != 0 {
		tb.Errorf("the caller's request got headers: %v", r.Header)
	}
	return resp.Body.Close()
}

func TestTransport(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	n := &network{}
	rt := middleware.NewTransport(n, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c()), middleware.WithRedactedQuery("pin"))
	if err := call(t, rt, t.Context(), "http://u:pw@shop.example/a?Token=x&page=2&pin=1"); err != nil {
		t.Fatal(err)
	}
	s := tr.Span("GET").NoErr().Kind(traces.KindClient).Attr("url.full", "http://shop.example/a?Token=REDACTED&page=2&pin=REDACTED").Attr("http.response.status_code", 200).
		Attr("server.address", "shop.example").One()
	if got := n.saw.Header.Get("Traceparent"); !strings.Contains(got, s.SpanID.String()) {
		t.Errorf("traceparent %q of span %s", got, s.SpanID)
	}
	if n.saw.URL.RawQuery != "Token=x&page=2&pin=1" || n.saw.URL.User == nil {
		t.Error("the request itself was redacted")
	}
}

func TestTransportError(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	n := &network{err: errors.New("no route")}
	rt := middleware.NewTransport(n, middleware.WithTracerProvider(tr.TracerProvider()))
	if err := call(t, rt, t.Context(), "http://shop.example/"); !errors.Is(err, n.err) {
		t.Errorf("err = %v", err)
	}
	tr.Span("GET").Err()
}

func TestTransportFilterAndOffStillPropagate(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	ctx := middleware.Extract(t.Context(), map[string]string{"traceparent": callerHead}, middleware.WithPropagators(w3c()))
	for name, opt := range map[string]middleware.Option{
		"filter": middleware.WithFilter(func(*http.Request) bool { return false }),
		"off":    middleware.WithTracerProvider(noop.NewTracerProvider()),
	} {
		n := &network{}
		rt := middleware.NewTransport(n, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c()), opt)
		if err := call(t, rt, ctx, "http://shop.example/"); err != nil {
			t.Fatal(err)
		}
		if got := n.saw.Header.Get("Traceparent"); got != callerHead {
			t.Errorf("%s: traceparent = %q", name, got)
		}
	}
	tr.Spans().Times(0)
}

func TestTransportIsNotWrappedTwice(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	once := middleware.NewTransport(nil, middleware.WithTracerProvider(tr.TracerProvider()))
	if got := middleware.NewTransport(once, middleware.WithTracerProvider(tr.TracerProvider())); got != once {
		t.Error("our own transport is wrapped again")
	}
	theirs := otelhttp.NewTransport(nil)
	if got := middleware.NewTransport(theirs, middleware.WithTracerProvider(tr.TracerProvider())); got != http.RoundTripper(theirs) {
		t.Error("otelhttp's transport is wrapped again")
	}
	n := &network{}
	off := middleware.NewTransport(n, middleware.WithTracerProvider(noop.NewTracerProvider()),
		middleware.WithPropagators(propagation.NewCompositeTextMapPropagator()))
	if off != http.RoundTripper(n) {
		t.Error("the base is wrapped although there is nothing to do")
	}
}

func TestTransportOverARealServer(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := httptest.NewServer(wrap(tr, status(http.StatusNoContent)))
	defer srv.Close()
	client := &http.Client{Transport: middleware.NewTransport(nil, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c()))}
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	client.CloseIdleConnections()
	tr.Wait("GET", 2).Kind(traces.KindServer).Under("GET")
}

// A request without a URL is the transport's to refuse; one without a method is a GET; one without a header gets one.
func TestRequestsThatLeaveOut(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	n := &network{}
	opts := []middleware.Option{middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c())}
	all := middleware.NewTransport(n, opts...)
	some := middleware.NewTransport(n, append(opts, middleware.WithSkipPaths("/skipped"))...)
	ctx := middleware.Extract(t.Context(), map[string]string{"traceparent": callerHead}, middleware.WithPropagators(w3c()))
	for _, tt := range []struct {
		rt    http.RoundTripper
		path  string
		spans int
	}{{all, "", 0}, {some, "", 0}, {some, "/a", 1}, {some, "/skipped", 0}} {
		before := len(tr.Spans().All())
		r := (&http.Request{}).WithContext(ctx)
		if tt.path != "" {
			r.URL = &url.URL{Scheme: "http", Host: "shop.example", Path: tt.path}
		}
		resp, err := tt.rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := len(tr.Spans().All()) - before; got != tt.spans {
			t.Errorf("%q: %d spans, want %d", tt.path, got, tt.spans)
		}
		if n.saw.Header.Get("Traceparent") == "" || r.Header != nil {
			t.Errorf("%q: sent %v; the caller's own header is now %v", tt.path, n.saw.Header, r.Header)
		}
	}
	tr.Span("GET").Times(1).Attr("url.full", "http://shop.example/a")
}

// Without a provider of its own a call goes where its parent goes.
func TestTransportOfTheParentsProvider(t *testing.T) {
	t.Parallel()
	ctx, tr := capturetest.Start(t)
	if err := call(t, middleware.NewTransport(&network{}), ctx, "http://shop.example/"); err != nil {
		t.Fatal(err)
	}
	tr.Span("GET").Times(1).Under(t.Name())
}

type idle struct {
	network
	closed bool
}

func (i *idle) CloseIdleConnections() { i.closed = true }

func TestCloseIdleConnections(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	base := &idle{}
	(&http.Client{Transport: middleware.NewTransport(base, middleware.WithTracerProvider(tr.TracerProvider()))}).CloseIdleConnections()
	if !base.closed {
		t.Error("the transport inside is not told")
	}
}

// A long message is cut, whether the request fails or the body.
func TestLongErrorsOfCalls(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	opt := middleware.WithTracerProvider(tr.TracerProvider())
	long := errors.New(strings.Repeat("é", 5000))
	_ = call(t, middleware.NewTransport(&network{err: long}, opt), t.Context(), "http://shop.example/")
	resp := send(t, &http.Client{Transport: middleware.NewTransport(answering{http.Response{StatusCode: http.StatusOK, Body: brokenBody{long}}}, opt)}, http.MethodGet, "http://shop.example/") //nolint:bodyclose // closed when the test ends
	_, _ = io.ReadAll(resp.Body)
	for _, s := range tr.Span("GET").Times(2).Err().All() {
		if m := s.Status.Message; m != strings.Repeat("é", 2048) {
			t.Errorf("a message of %d bytes", len(m))
		}
	}
}
