package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/middleware"
)

// ways are the three ways of a request through the middleware, with their options.
func ways(tb testing.TB) map[string][]middleware.Option {
	tb.Helper()
	tp := func(s sdktrace.Sampler) middleware.Option {
		return middleware.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(s)))
	}
	w3c := middleware.WithPropagators(w3c())
	return map[string][]middleware.Option{
		"recorded":    {w3c, tp(sdktrace.AlwaysSample())},
		"not sampled": {w3c, tp(sdktrace.NeverSample())},
		"filtered":    {w3c, tp(sdktrace.AlwaysSample()), middleware.WithFilter(func(*http.Request) bool { return false })},
	}
}

// trailing is a request with a body of unknown length and an announced trailer.
func trailing(t *testing.T, url string) *http.Request {
	t.Helper()
	body, write := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", callerHead)
	r.Trailer = http.Header{"X-Sum": nil}
	go func() {
		_, _ = io.WriteString(write, "body")
		r.Trailer.Set("X-Sum", "9")
		_ = write.Close()
	}()
	return r
}

// net/http gives trailers that were not announced to the request that it has made itself, when the body ends or is
// closed. Handlers see them as without us.
func TestTrailersThatWereNotAnnounced(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*http.Request){
		"read":   func(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"closed": func(r *http.Request) { _ = r.Body.Close() },
	}
	for way, opts := range ways(t) {
		for end, do := range ends {
			t.Run(way+", "+end, func(t *testing.T) {
				t.Parallel()
				got := make(chan http.Header, 1)
				srv := serve(t, middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					do(r)
					got <- r.Trailer
				}), opts...))
				c := dial(t, srv)
				c.send("POST / HTTP/1.1", "Host: a", "Traceparent: "+callerHead, "Transfer-Encoding: chunked", "", "4", "body", "0", "X-Sum: 9")
				_ = c.response("POST") //nolint:bodyclose // a raw connection
				if diff := cmp.Diff(http.Header{"X-Sum": {"9"}}, <-got); diff != "" {
					t.Errorf("trailers (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Announced trailers are in a map that copies of the request share, over HTTP/1 and HTTP/2.
func TestTrailersThatWereAnnounced(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.1", "2"} {
		for way, opts := range ways(t) {
			t.Run(version+" "+way, func(t *testing.T) {
				t.Parallel()
				got := make(chan http.Header, 1)
				srv := serveVersion(t, version, middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					got <- r.Trailer
				}), opts...))
				resp, err := srv.Client().Do(trailing(t, srv.URL))
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if diff := cmp.Diff(http.Header{"X-Sum": {"9"}}, <-got); diff != "" {
					t.Errorf("trailers (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// seen is what a layer outside sees of its request after the handler.
type seen struct {
	Pattern, ID, Rest, Missing string
	Form, PostForm             map[string][]string
	Files                      map[string][]string
	Body                       string
}

// Layers outside see of their request what they would see without us.
func TestLayersOutsideSeeWhatNetHTTPSets(t *testing.T) {
	t.Parallel()
	upload, contentType := form()
	handlers := map[string]http.Handler{
		"wildcards": muxOf("POST /a/{id}/{rest...}", func(http.ResponseWriter, *http.Request) {}),
		"end":       muxOf("POST /a/7/b/c/{$}", func(http.ResponseWriter, *http.Request) {}),
		"nothing":   muxOf("POST /b", func(http.ResponseWriter, *http.Request) {}),
		"form":      http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _ = r.ParseForm() }),
		"multipart": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _ = r.ParseMultipartForm(1 << 20) }),
		"body put back": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			all, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(all))
		}),
		"body of a type that cannot be compared": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			all, _ := io.ReadAll(r.Body)
			r.Body = uncomparableBody{io.NopCloser(bytes.NewReader(all)), nil}
		}),
		"body wrapped": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 4)
		}),
	}
	request := func() *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/a/7/b/c/?q=1", bytes.NewReader(upload))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Traceparent", callerHead)
		return r
	}
	outside := func(next http.Handler) seen {
		r := request()
		next.ServeHTTP(httptest.NewRecorder(), r)
		s := seen{Pattern: r.Pattern, ID: r.PathValue("id"), Rest: r.PathValue("rest"), Missing: r.PathValue("$"), Form: r.Form, PostForm: r.PostForm}
		if r.MultipartForm != nil {
			s.Files = r.MultipartForm.Value
		}
		all, err := io.ReadAll(r.Body)
		s.Body = string(all)
		if err != nil {
			s.Body += err.Error()
		}
		return s
	}
	for what, h := range handlers {
		for way, opts := range ways(t) {
			t.Run(what+", "+way, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(outside(h), outside(middleware.New(h, opts...))); diff != "" {
					t.Errorf("seen outside (-without +with):\n%s", diff)
				}
			})
		}
	}
}

type uncomparableBody struct {
	io.ReadCloser
	_ []int
}

func form() (body []byte, contentType string) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	_ = m.WriteField("a", "b")
	_ = m.Close()
	return b.Bytes(), m.FormDataContentType()
}

// The server's own handler has nobody outside: its request gets the form, whose files net/http removes, and keeps
// its own body, which net/http knows how to end.
func TestTheServersOwnRequest(t *testing.T) {
	t.Parallel()
	upload, contentType := form()
	for way, opts := range ways(t) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := middleware.New(muxOf("POST /a/{id}", func(_ http.ResponseWriter, r *http.Request) {
				_ = r.ParseMultipartForm(1 << 20)
				r.Body = io.NopCloser(strings.NewReader("another"))
			}), opts...)
			r := httptest.NewRequest(http.MethodPost, "/a/7", bytes.NewReader(upload))
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Traceparent", callerHead)
			r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{Handler: h}))
			before := r.Body
			h.ServeHTTP(httptest.NewRecorder(), r)
			if r.MultipartForm == nil || r.Pattern != "POST /a/{id}" {
				t.Errorf("form %v, pattern %q", r.MultipartForm, r.Pattern)
			}
			if r.Body != before || r.PathValue("id") != "" {
				t.Error("the server's request got what nobody looks at")
			}
		})
	}
}

// A server with a layer in front of the middleware has somebody outside.
func TestALayerInsideOfAServer(t *testing.T) {
	t.Parallel()
	for way, opts := range ways(t) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := middleware.New(muxOf("POST /a/{id}", func(http.ResponseWriter, *http.Request) {}), opts...)
			id := make(chan string, 1)
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				before := r.Body
				h.ServeHTTP(w, r)
				if r.Body != before {
					t.Error("the body that nobody has replaced is another")
				}
				id <- r.PathValue("id")
			}))
			c := dial(t, srv)
			c.send("POST /a/7 HTTP/1.1", "Host: a", "Traceparent: "+callerHead, "Transfer-Encoding: chunked", "", "0")
			_ = c.response("POST") //nolint:bodyclose // a raw connection
			if got := <-id; got != "7" {
				t.Errorf("id = %q outside", got)
			}
		})
	}
}

// A body that ends with an error brings no trailers, and one that fails is not read again.
func TestTrailersOfABrokenBody(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	srv := serve(t, middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if r.Trailer != nil {
			t.Errorf("trailers %v", r.Trailer)
		}
		got <- err
	}), ways(t)["recorded"]...))
	c := dial(t, srv)
	c.send("POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "", "nonsense")
	if err := <-got; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
}
