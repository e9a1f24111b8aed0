package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// rewritten hands a request on with another path.
func rewritten(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := r.Clone(r.Context())
		r2.URL.Path = path
		h.ServeHTTP(w, r2)
	})
}

func strip(prefix string, h http.Handler) http.Handler { return http.StripPrefix(prefix, h) }

func TestRoutes(t *testing.T) {
	t.Parallel()
	ok := status(http.StatusOK)
	nest := func(pattern string, inner http.Handler) *http.ServeMux {
		mux := http.NewServeMux()
		mux.Handle(pattern, inner)
		return mux
	}
	tests := []struct {
		name    string
		handler http.Handler
		request *http.Request
		want    string // name
		route   string
	}{
		{"mux", muxOf("GET /users/{id}", ok), get("/users/1"), "GET /users/{id}", "/users/{id}"},
		{"pattern without method", muxOf("/users/{id}", ok), get("/users/1"), "GET /users/{id}", "/users/{id}"},
		{"pattern with host", muxOf("example.com/users/{id}", ok), get("/users/1"), "GET /users/{id}", "/users/{id}"},
		{"pattern with method and host", muxOf("GET example.com/a", ok), get("/a"), "GET /a", "/a"},
		{"rest", muxOf("/files/{path...}", ok), get("/files/a/b"), "GET /files/{path...}", "/files/{path...}"},
		{"no match", muxOf("/users/{id}", ok), get("/other/1"), "GET", ""},
		{"method not allowed", muxOf("POST /users/{id}", ok), get("/users/1"), "GET", ""},
		{"trailing slash redirect", muxOf("/tree/", ok), get("/tree"), "GET /tree/", "/tree/"},
		{"no mux", ok, get("/users/1"), "GET", ""},
		{"copy hides the route", copying(muxOf("/users/{id}", ok)), get("/users/1"), "GET", ""},
		{"Routes behind a copy", copying(middleware.Routes(muxOf("/users/{id}", ok))), get("/users/1"), "GET /users/{id}", "/users/{id}"},
		{"Routes without a copy", middleware.Routes(muxOf("/users/{id}", ok)), get("/users/1"), "GET /users/{id}", "/users/{id}"},
		{"Routes without a match", copying(middleware.Routes(muxOf("/users/{id}", ok))), get("/x"), "GET", ""},
		{"nested mux", nest("/api/", muxOf("/api/users/{id}", ok)), get("/api/users/1"), "GET /api/users/{id}", "/api/users/{id}"},
		{"nested mux behind a copy", copying(nest("/api/", copying(middleware.Routes(muxOf("/api/users/{id}", ok))))), get("/api/users/1"), "GET /api/users/{id}", "/api/users/{id}"},
		{"nested Routes: the innermost", copying(middleware.Routes(nest("/api/", copying(middleware.Routes(muxOf("/api/users/{id}", ok)))))), get("/api/users/1"), "GET /api/users/{id}", "/api/users/{id}"},
		{"StripPrefix: the outer pattern", nest("/api/", strip("/api", muxOf("/users/{id}", ok))), get("/api/users/1"), "GET /api/", "/api/"},
		{"StripPrefix and Routes: both", nest("/api/", strip("/api", middleware.Routes(muxOf("/users/{id}", ok)))), get("/api/users/1"), "GET /api/users/{id}", "/api/users/{id}"},
		{"StripPrefix of a wildcard", nest("/t/{tenant}/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			strip("/t/"+r.PathValue("tenant"), middleware.Routes(muxOf("/users/{id}", ok))).ServeHTTP(w, r)
		})), get("/t/acme/users/1"), "GET /t/{tenant}/users/{id}", "/t/{tenant}/users/{id}"},
		{"StripPrefix without an outer pattern", strip("/api", middleware.Routes(muxOf("/users/{id}", ok))), get("/api/users/1"), "GET /users/{id}", "/users/{id}"},
		{"StripPrefix twice", nest("/a/", strip("/a", nest("/b/", strip("/b", middleware.Routes(muxOf("/c", ok)))))), get("/a/b/c"), "GET /c", "/c"},
		{"rewritten: the end of a path stands for no segment", rewritten("/", nest("/{$}", rewritten("/x", middleware.Routes(muxOf("/x", ok))))), get("/v1/x"), "GET /x", "/x"},
		{"MaxBytesHandler hides the route", http.MaxBytesHandler(muxOf("/u/{id}", ok), 10), get("/u/1"), "GET", ""},
		{"MaxBytesHandler and Routes", http.MaxBytesHandler(middleware.Routes(muxOf("/u/{id}", ok)), 10), get("/u/1"), "GET /u/{id}", "/u/{id}"},
		{"TimeoutHandler hides the route", http.TimeoutHandler(muxOf("/u/{id}", ok), patience, ""), get("/u/1"), "GET", ""},
		{"TimeoutHandler and Routes", http.TimeoutHandler(middleware.Routes(muxOf("/u/{id}", ok)), patience, ""), get("/u/1"), "GET /u/{id}", "/u/{id}"},
		{"unknown method", muxOf("/u/{id}", ok), httptest.NewRequest("BREW", "/u/1", http.NoBody), "HTTP /u/{id}", "/u/{id}"},
		{"CONNECT redirect leaves no path as route", muxOf("/{x}/", ok), httptest.NewRequest(http.MethodConnect, "/secret", http.NoBody), "CONNECT", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr := one(t, tt.handler, tt.request)
			text(tr.Span(tt.want), "http.route", tt.route)
		})
	}
}

func TestSetRoute(t *testing.T) {
	t.Parallel()
	set := func(routes ...string) http.HandlerFunc {
		return func(_ http.ResponseWriter, r *http.Request) {
			for _, route := range routes {
				middleware.SetRoute(r.Context(), route)
			}
		}
	}
	tests := []struct {
		name    string
		handler http.Handler
		want    string
	}{
		{"plain", set("/users/:id"), "/users/:id"},
		{"no slash in front", set("users/:id"), "users/:id"},
		{"last wins", set("/a", "/b"), "/b"},
		{"empty is nothing", set("/a", ""), "/a"},
		{"a pattern", set("GET example.com/users/{id}"), "/users/{id}"},
		{"a route with a blank", set("/a b/{id}"), "/a b/{id}"},
		{"wins over the mux", muxOf("/users/{id}", set("/mine")), "/mine"},
		{"through copies", copying(copying(set("/users/:id"))), "/users/:id"},
		{"wins over Routes", copying(middleware.Routes(muxOf("/users/{id}", set("/mine")))), "/mine"},
		{"clipped", set("/" + strings.Repeat("x", 1000)), "/" + strings.Repeat("x", 511)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr := one(t, tt.handler, get("/users/1"))
			tr.Span("GET "+tt.want).Attr("http.route", tt.want)
		})
	}
}

func TestSetRouteWithoutARequestIsANoOp(t *testing.T) {
	t.Parallel()
	var nilContext context.Context
	middleware.SetRoute(nilContext, "/a")
	middleware.SetRoute(t.Context(), "/a")
	w := httptest.NewRecorder()
	middleware.Routes(muxOf("/a", status(http.StatusTeapot))).ServeHTTP(w, get("/a"))
	if w.Code != http.StatusTeapot {
		t.Errorf("Routes without a traced request answered %d", w.Code)
	}
}

// A route that is known before the span starts goes to the sampler.
func TestRouteKnownAtStart(t *testing.T) {
	t.Parallel()
	var saw sdktrace.SamplingParameters
	_, tr := capturetest.Start(t, capturetest.WithProviderOptions(sdktrace.WithSampler(spy{&saw})))
	mux := http.NewServeMux()
	mux.Handle("GET /users/{id}", wrap(tr, status(http.StatusOK)))
	mux.ServeHTTP(httptest.NewRecorder(), get("/users/1"))
	tr.Span("GET /users/{id}").Attr("http.route", "/users/{id}")
	if saw.Name != "GET /users/{id}" {
		t.Errorf("name at start = %q", saw.Name)
	}
}

// The layers outside of ours see the pattern too.
func TestPatternIsHandedToTheOutside(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	r := get("/users/1")
	wrap(tr, muxOf("/users/{id}", status(http.StatusOK))).ServeHTTP(httptest.NewRecorder(), r)
	if r.Pattern != "/users/{id}" {
		t.Errorf("outer request's Pattern = %q", r.Pattern)
	}
}

// TimeoutHandler answers while the handler still runs: the route is there, and what comes late hurts nobody.
func TestTimeoutHandlerWithALateHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // whose clock waits until the handler runs
		_, tr := capturetest.Start(t)
		timedOut, done := make(chan struct{}), make(chan struct{})
		late := muxOf("/u/{id}", func(w http.ResponseWriter, r *http.Request) {
			defer close(done)
			<-timedOut
			middleware.SetRoute(r.Context(), "/late")
			if _, err := w.Write([]byte("late")); err == nil {
				t.Error("a late write succeeded")
			}
		})
		w := httptest.NewRecorder()
		wrap(tr, http.TimeoutHandler(middleware.Routes(late), time.Millisecond, "too late")).ServeHTTP(w, get("/u/1"))
		close(timedOut)
		<-done
		if w.Code != http.StatusServiceUnavailable || w.Body.String() != "too late" {
			t.Errorf("answer = %d %q", w.Code, w.Body.String())
		}
		tr.Span("GET /u/{id}").Err().Attr("http.route", "/u/{id}").Attr("http.response.status_code", 503).Attr("error.type", "503")
	})
}

func TestNameCacheIsBounded(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	h := wrap(tr, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { middleware.SetRoute(r.Context(), r.URL.Path) }))
	path := func(i int) string { return "/" + strings.Repeat("x", i%1500) }
	for i := range 3000 {
		h.ServeHTTP(httptest.NewRecorder(), get(path(i)))
	}
	for i, s := range tr.Spans().Times(3000).All() {
		if want := path(i); s.Name != "GET "+want[:min(len(want), 512)] {
			t.Fatalf("name %d is wrong", i)
		}
	}
}
