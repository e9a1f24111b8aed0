package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// The allocations of a request, the mux's own included, with the SDK, a batch processor and an exporter that
// discards. The request is the one of BenchmarkMiddleware. The goals (docs/benchmarks.md) are 14, 17, 7 and 10; the
// limits are what it takes, so that one more is noticed. A layer outside of the middleware gets the values of the path,
// which takes two more.
func TestAllocations(t *testing.T) {
	if middleware.RaceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	for _, tt := range []struct {
		name        string
		sampler     sdktrace.Sampler
		traceparent bool
		inside      bool // of another layer
		most        float64
	}{
		{"sampled", sdktrace.AlwaysSample(), false, false, 12},
		{"sampled, traceparent", sdktrace.AlwaysSample(), true, false, 14},
		{"sampled, inside of a layer", sdktrace.AlwaysSample(), false, true, 14},
		{"not sampled", sdktrace.NeverSample(), false, false, 6},
		{"not sampled, traceparent", sdktrace.NeverSample(), true, false, 8},
		{"not sampled, inside of a layer", sdktrace.NeverSample(), false, true, 8},
	} {
		h := waymark(benchProvider(t, tt.sampler))
		srv := &http.Server{Handler: h}
		if tt.inside {
			srv.Handler = http.NotFoundHandler()
		}
		w, r := &benchWriter{http.Header{}}, benchRequest(tt.traceparent)
		r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, srv))
		fresh := new(http.Request)
		got := testing.AllocsPerRun(1000, func() {
			*fresh = *r // the mux leaves the route on it
			h.ServeHTTP(w, fresh)
		})
		t.Logf("%s: %v allocations", tt.name, got)
		if got > tt.most {
			t.Errorf("%s: %v allocations, want at most %v", tt.name, got, tt.most)
		}
	}
}

func TestOffCostsNothing(t *testing.T) {
	if middleware.RaceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	next := status(http.StatusOK)
	h := middleware.New(next, middleware.WithTracerProvider(noop.NewTracerProvider()),
		middleware.WithPropagators(propagation.NewCompositeTextMapPropagator()))
	if !same(h, next) {
		t.Error("off is not the same handler")
	}
	r, w := benchRequest(false), &benchWriter{http.Header{}}
	if got := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// The benchmarked span is a whole one: every Required and Recommended attribute.
func TestBenchmarkedSpanIsComplete(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	wrap(tr, benchMux()).ServeHTTP(httptest.NewRecorder(), benchRequest(true))
	s := tr.Span("GET /users/{id}").Attr("http.request.method", "GET").Attr("url.path", "/users/42").Attr("url.scheme", "http").
		Attr("url.query", "page=2&sort=name").Attr("http.route", "/users/{id}").Attr("http.response.status_code", 200).
		Attr("server.address", "shop.example").Attr("server.port", 8080).Attr("client.address", "192.0.2.1").
		Attr("network.peer.address", "192.0.2.1").Attr("network.peer.port", 1234).Attr("network.protocol.version", "1.1").
		Attr("user_agent.original", "bench/1.0").One()
	if n := len(s.Attributes); n != 13 {
		t.Errorf("%d attributes, want 13", n)
	}
}
