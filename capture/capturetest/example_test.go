package capturetest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/middleware"
)

// A test function, which an example cannot run: see TestCheckout.
func ExampleStart() {
	reserve := func(ctx context.Context) { // the code under test
		_, s := trace.SpanFromContext(ctx).TracerProvider().Tracer("shop").Start(ctx, "reserve")
		defer s.End()
	}
	_ = func(t *testing.T) { //nolint:thelper // it is a test
		ctx, tr := capturetest.Start(t)
		reserve(ctx)
		tr.Want(`
			└── TestReserve
			    └── reserve {scope=shop}`)
		tr.Max("reserve", 50*time.Millisecond)
	}
}

// A program that starts tracing itself is given the test's processor, and no file:
// its spans are then the test's.
func ExampleTrace_Processor() {
	_ = func(t *testing.T) { //nolint:thelper // it is a test
		_, tr := capturetest.Start(t)
		tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
			App: "shop", Processors: []sdktrace.SpanProcessor{tr.Processor()},
			Lookup: env.Map{"SHOP_TRACING": "true", "OTEL_TRACES_EXPORTER": "none"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tracing.Shutdown(context.WithoutCancel(t.Context())) })
		srv := httptest.NewServer(tr.Handler(tracing.Middleware()(http.NotFoundHandler())))
		defer srv.Close()
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		tr.Wait("GET", 1).Attr("http.response.status_code", 404)
	}
}

// A server is called as by a client whose span is the test's.
func ExampleTrace_Wait() {
	_ = func(t *testing.T) { //nolint:thelper // it is a test
		_, tr := capturetest.Start(t)
		mux := http.NewServeMux()
		mux.HandleFunc("GET /users/{id}", func(http.ResponseWriter, *http.Request) {})
		srv := httptest.NewServer(tr.Handler(middleware.New(mux,
			middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(propagation.TraceContext{}))))
		defer srv.Close()
		resp, err := srv.Client().Get(srv.URL + "/users/42")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		tr.Wait("GET /users/{id}", 1).Attr("http.response.status_code", 200).NoErr().Under(t.Name())
	}
}
