package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/tracecontext"
)

// keeping is an exporter whose backend hangs: it keeps all spans.
type keeping struct {
	sdktrace.SpanProcessor
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
}

func (*keeping) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (*keeping) Shutdown(context.Context) error                  { return nil }

func (k *keeping) OnEnd(s sdktrace.ReadOnlySpan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = append(k.spans, s)
}

// A span in a queue keeps what it shows, not the 900 kB that a client has put around it. net/http cuts method, target
// and an absolute target's host out of one string; a program may cut a route, an address or a header out of any.
func TestASpanKeepsLittleOfItsRequest(t *testing.T) { //nolint:paralleltest // it measures the heap
	const requests, most = 12, 16 << 10
	long := strings.Repeat("x", 900_000)
	nothing := func(http.ResponseWriter, *http.Request) {}
	first := func(r *http.Request) string { return r.URL.Path[:5] }
	for _, tt := range []struct {
		name    string
		request []string
		handler http.HandlerFunc
	}{
		{"path", []string{"GET /" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"path of a route", []string{"GET /user/" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"path not in ASCII", []string{"GET /" + strings.Repeat("é", 450_000) + " HTTP/1.1", "Host: a"}, nothing},
		{"short path, long query", []string{"GET /user/1?q=" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"long query with a secret", []string{"GET /user/1?token=a&q=" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"absolute target", []string{"GET http://shop.example:8080/user/1?q=" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"long method", []string{long + " /user/1 HTTP/1.1", "Host: a"}, nothing},
		{"short unknown method", []string{"BREW /user/1?q=" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"CONNECT", []string{"CONNECT a.example:80/" + long + " HTTP/1.1", "Host: a"}, nothing},
		{"User-Agent", []string{"GET / HTTP/1.1", "Host: a", "User-Agent: " + long}, nothing},
		{"asked header", []string{"GET / HTTP/1.1", "Host: a", "X-Tenant: " + long}, nothing},
		{"asked URL header", []string{"GET / HTTP/1.1", "Host: a", "Referer: https://u@a.example/" + long}, nothing},
		{"X-Forwarded-For", []string{"GET / HTTP/1.1", "Host: a", "X-Forwarded-For: " + long[:450_000] + ", 1.1.1.1", "X-Forwarded-Host: " + long[:450_000] + ", a.example"}, nothing},
		{"Forwarded", []string{"GET / HTTP/1.1", "Host: a", "Forwarded: for=" + long + ", for=1.1.1.1;host=a.example"}, nothing},
		{"tracestate", []string{"GET / HTTP/1.1", "Host: a", "Traceparent: " + callerHead, "Tracestate: a=1" + strings.Repeat(" ", 900_000) + ",b=2"}, nothing},
		{"route out of the path", []string{"GET /user/1?q=" + long + " HTTP/1.1", "Host: a"}, func(_ http.ResponseWriter, r *http.Request) {
			middleware.SetRoute(r.Context(), first(r))
		}},
		{"response header out of the path", []string{"GET /user/1?q=" + long + " HTTP/1.1", "Host: a"}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Kind", first(r))
		}},
		{"address out of a header", []string{"GET / HTTP/1.1", "Host: a", "X-Real-Ip: 192.0.2.1, " + long}, nothing},
		{"error", []string{"GET / HTTP/1.1", "Host: a"}, func(_ http.ResponseWriter, r *http.Request) {
			request.FromContext(r.Context()).SetError(errors.New(long))
		}},
		{"panic", []string{"GET / HTTP/1.1", "Host: a"}, func(http.ResponseWriter, *http.Request) { panic(long) }},
	} {
		for name, propagator := range map[string]propagation.TextMapPropagator{"ours": tracecontext.New(), "OpenTelemetry's": propagation.TraceContext{}} {
			if tt.name != "tracestate" && name != "ours" {
				continue
			}
			t.Run(tt.name+", "+name, func(t *testing.T) {
				mux := http.NewServeMux()
				mux.HandleFunc("/user/{id}", tt.handler)
				mux.HandleFunc("/", tt.handler)
				queue := &keeping{spans: make([]sdktrace.ReadOnlySpan, 0, requests)}
				h := middleware.New(mux, middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(queue))),
					middleware.WithPropagators(propagator), middleware.WithHeaders([]string{"X-Tenant", "Referer"}, []string{"X-Kind"}),
					middleware.WithTrustedProxies(netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")))
				srv := serve(t, realIP(h))
				quiet(srv)
				before := live()
				for range requests {
					c := dial(t, srv)
					c.send(tt.request...)
					_, _ = io.Copy(io.Discard, io.LimitReader(c, 12))
					_ = c.Close()
				}
				srv.Close()
				if n := len(queue.spans); n != requests {
					t.Fatalf("%d spans, want %d", n, requests)
				}
				each := (live() - before) / requests
				t.Logf("%d bytes each", each)
				if each > most {
					t.Errorf("%d bytes are kept for each span, want at most %d: %v", each, most, keys(queue.spans[0]))
				}
			})
		}
	}
}

// realIP is a layer that takes a header's word for the address, as some routers have it.
func realIP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ip, _, ok := strings.Cut(r.Header.Get("X-Real-Ip"), ","); ok {
			r.RemoteAddr = ip
		}
		next.ServeHTTP(w, r)
	})
}

// Over HTTP/2 each field has a string of its own, of which the target is one.
func TestASpanKeepsLittleOfItsRequestOverHTTP2(t *testing.T) { //nolint:paralleltest // it measures the heap
	const requests, most = 20, 200 << 10 // what the connection's buffers hold is in it
	queue := &keeping{spans: make([]sdktrace.ReadOnlySpan, 0, requests)}
	srv := serveVersion(t, "2", middleware.New(muxOf("/user/{id}", func(http.ResponseWriter, *http.Request) {}),
		middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(queue)))))
	send := func() {
		resp, err := srv.Client().Get(srv.URL + "/user/1?q=" + strings.Repeat("x", 900_000))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	send()
	before := live()
	for range requests {
		send()
	}
	if each := (live() - before) / requests; each > most {
		t.Errorf("%d bytes are kept for each span, want at most %d: %v", each, most, keys(queue.spans[0]))
	}
}

// keys lists the attributes of a span with the lengths of their values.
func keys(s sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	for _, kv := range s.Attributes() {
		fmt.Fprintf(&b, " %s:%d", kv.Key, len(kv.Value.String()))
	}
	return b.String()
}
