package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/middleware"
)

// names prints the names of the spans that h makes of a request.
func names(target string, wrap func(...middleware.Option) http.Handler, opts ...middleware.Option) {
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	h := wrap(append(opts, middleware.WithTracerProvider(tp))...)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, http.NoBody))
	fmt.Println(len(spans.Ended()), "span")
	for _, s := range spans.Ended() {
		fmt.Println(s.Name())
	}
}

func ExampleNew() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(http.ResponseWriter, *http.Request) {})
	names("/users/42", func(opts ...middleware.Option) http.Handler { return middleware.New(mux, opts...) },
		middleware.WithSkipPaths("/healthz"),
		middleware.WithTrustedProxies(netip.MustParsePrefix("10.0.0.0/8")),
	)
	// Output:
	// 1 span
	// GET /users/{id}
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	names("/healthz", func(opts ...middleware.Option) http.Handler { return middleware.Handler(opts...)(mux) },
		middleware.WithSkipPaths("/healthz"))
	// Output:
	// 0 span
}

func ExampleRoutes() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(http.ResponseWriter, *http.Request) {})
	auth := func(next http.Handler) http.Handler { // passes on a copy of the request
		type user struct{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), user{}, "u1")))
		})
	}
	names("/users/42", func(opts ...middleware.Option) http.Handler {
		return middleware.New(auth(middleware.Routes(mux)), opts...)
	})
	// Output:
	// 1 span
	// GET /users/{id}
}

func ExampleSetRoute() {
	router := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { // a router of another kind
		middleware.SetRoute(r.Context(), "/users/:id")
	})
	names("/users/42", func(opts ...middleware.Option) http.Handler { return middleware.New(router, opts...) })
	// Output:
	// 1 span
	// GET /users/:id
}

func ExampleNewTransport() {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("traceparent arrived:", r.Header.Get("Traceparent") != "")
	}))
	defer srv.Close()
	client := &http.Client{Transport: middleware.NewTransport(http.DefaultTransport,
		middleware.WithTracerProvider(sdktrace.NewTracerProvider()), middleware.WithPropagators(propagation.TraceContext{}))}
	resp, err := client.Get(srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resp.Body.Close()
	// Output:
	// traceparent arrived: true
}

// A command gets the trace in its environment, as TRACEPARENT.
func ExampleInject() {
	w3c := middleware.WithPropagators(propagation.TraceContext{})
	ctx := middleware.Extract(context.Background(), map[string]string{
		"TRACEPARENT": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}, w3c)
	fmt.Println(middleware.Inject(ctx, w3c)["traceparent"])
	// Output:
	// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
}

func ExampleExtract() {
	job := map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
	ctx := middleware.Extract(context.Background(), job, middleware.WithPropagators(propagation.TraceContext{}))
	fmt.Println(trace.SpanContextFromContext(ctx).TraceID())
	// Output:
	// 4bf92f3577b34da6a3ce929d0e0e4736
}
