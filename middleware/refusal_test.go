package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/middleware"
)

// TestRefusalsAreTraced has the middleware outside of what refuses requests, as
// the documentation says: a request that never reaches a route has its span.
func TestRefusalsAreTraced(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	auth := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(http.ResponseWriter, *http.Request) {})
	handler := middleware.New(auth(mux), middleware.WithTracerProvider(provider))

	for _, authorization := range []string{"", "Bearer x"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/orders/7", http.NoBody)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	spans := recorder.Ended()
	if len(spans) != 2 {
		t.Fatalf("%d spans, want one a request", len(spans))
	}
	for i, want := range []struct {
		name   string
		status int64
	}{{"GET", 401}, {"GET /orders/{id}", 200}} {
		var status int64
		for _, kv := range spans[i].Attributes() {
			if kv.Key == "http.response.status_code" {
				status = kv.Value.AsInt64()
			}
		}
		if spans[i].Name() != want.name || status != want.status {
			t.Errorf("span %d is %q with status %d, want %q with %d", i, spans[i].Name(), status, want.name, want.status)
		}
	}
}
