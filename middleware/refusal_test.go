package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// TestRefusalsAreTraced has the middleware outside of what refuses requests, as
// the documentation says: a request that never reaches a route has its span.
func TestRefusalsAreTraced(t *testing.T) {
	t.Parallel()
	ctx, tr := capturetest.Start(t)
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
	handler := middleware.New(auth(mux), middleware.WithTracerProvider(tr.TracerProvider()))

	for _, authorization := range []string{"", "Bearer x"} {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/orders/7", http.NoBody)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	tr.Want(`
		└── TestRefusalsAreTraced
		    ├── GET [http.response.status_code=401]
		    └── GET /orders/{id} [http.response.status_code=200]`)
}
