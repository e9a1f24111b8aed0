package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
)

// calling makes the client of k a traced one.
func (k *talk) calling(tr *capturetest.Trace, opts ...middleware.Option) {
	base := []middleware.Option{middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c())}
	k.client.Transport = middleware.NewTransport(k.client.Transport, append(base, opts...)...)
}

// An answer that is whole with its header ends the span at once: many callers do not close what is empty.
func TestEmptyAnswersEndAtOnce(t *testing.T) {
	t.Parallel()
	answers := map[string]struct {
		method string
		h      http.HandlerFunc
	}{
		"204":          {http.MethodGet, status(http.StatusNoContent)},
		"304":          {http.MethodGet, status(http.StatusNotModified)},
		"HEAD":         {http.MethodHead, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") }},
		"HEAD, length": {http.MethodHead, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000") }},
		"empty":        {http.MethodPost, status(http.StatusOK)},
		"length 0": {http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "0")
			_ = http.NewResponseController(w).Flush()
		}},
		"500": {http.MethodGet, status(http.StatusInternalServerError)},
	}
	for protocol := range protocols {
		for name, tt := range answers {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				t.Parallel()
				_, tr := capturetest.Start(t)
				k := newTalk(t, protocol, tt.h)
				plain := send(t, k.client, tt.method, k.url) //nolint:bodyclose // closed when the test ends
				k.calling(tr)
				resp := send(t, k.client, tt.method, k.url) //nolint:bodyclose // closed when the test ends
				s := tr.Span(tt.method).Times(1).Kind(traces.KindClient).Attr("http.response.status_code", resp.StatusCode).
					Attr("network.protocol.version", map[int]string{1: "1.1", 2: "2"}[resp.ProtoMajor]).One()
				if s.Open() {
					t.Error("the span has not ended")
				}
				if reflect.TypeOf(resp.Body) != reflect.TypeOf(plain.Body) {
					t.Errorf("the body is a %T, without us a %T", resp.Body, plain.Body)
				}
			})
		}
	}
}

func wantOpen(t *testing.T, tr *capturetest.Trace, open bool) {
	t.Helper()
	if got := tr.Span("GET").One().Open(); got != open {
		t.Errorf("the span is open: %v, want %v", got, open)
	}
}

func send(t *testing.T, c *http.Client, method, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// A body ends the span when it ends, fails or is closed, and not before.
func TestBodiesEndTheSpan(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		h      http.HandlerFunc
		end    func(*http.Response)
		failed string
	}{
		"read to its end": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") },
			func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, "",
		},
		"closed": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") },
			func(r *http.Response) { _ = r.Body.Close() }, "",
		},
		"flushed, empty": {
			func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
			func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, "",
		},
		"breaks off": {
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "body")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			},
			func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, "fails",
		},
	}
	for protocol := range protocols {
		for name, tt := range ways {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				t.Parallel()
				_, tr := capturetest.Start(t)
				k := newTalk(t, protocol, tt.h)
				k.calling(tr)
				resp := send(t, k.client, http.MethodGet, k.url) //nolint:bodyclose // closed when the test ends
				wantOpen(t, tr, true)
				tt.end(resp)
				wantOpen(t, tr, false)
				s := tr.Span("GET").Times(1)
				if tt.failed == "" {
					s.NoErr().NoAttr("error.type")
					return
				}
				if m := s.Err().One().Status.Message; m == "" || strings.Contains(m, "127.0.0.1") || strings.Contains(m, "stream ID 1") {
					t.Errorf("the message is %q", m)
				}
			})
		}
	}
}

// answering is a RoundTripper that answers with what it has.
type answering struct{ res http.Response }

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.res.Request = r
	return &a.res, nil
}

// What a RoundTripper of the program leaves out of its answer does not end the span too early.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	text := func() io.ReadCloser { return io.NopCloser(strings.NewReader("body")) }
	for name, tt := range map[string]struct {
		res   http.Response
		whole bool
	}{
		"no length":            {http.Response{StatusCode: http.StatusOK, Body: text()}, false},
		"no length, HTTP/1.1":  {http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Body: text()}, false},
		"unknown length":       {http.Response{StatusCode: http.StatusOK, ProtoMajor: 2, ContentLength: -1, Body: text()}, false},
		"length 0 in a header": {http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Length": {"0"}}, Body: text()}, true},
		"length 0 by HTTP/2":   {http.Response{StatusCode: http.StatusOK, ProtoMajor: 2, Body: text()}, true},
		"304 with a body":      {http.Response{StatusCode: http.StatusNotModified, Body: text()}, true},
		"204 with a body":      {http.Response{StatusCode: http.StatusNoContent, Body: text()}, true},
		"no body":              {http.Response{StatusCode: http.StatusOK}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			rt := middleware.NewTransport(answering{tt.res}, middleware.WithTracerProvider(tr.TracerProvider()))
			resp := send(t, &http.Client{Transport: rt}, http.MethodGet, "http://shop.example/") //nolint:bodyclose // closed when the test ends
			wantOpen(t, tr, !tt.whole)
			want := "body"
			if tt.res.Body == nil {
				want = ""
			}
			if got, err := io.ReadAll(resp.Body); string(got) != want || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
			wantOpen(t, tr, false)
		})
	}
}

// The kinds of error that servers have are those of clients: by the request and by the body.
func TestErrorTypesOfCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"canceled":      {context.Canceled, "canceled"},
		"deadline":      {context.DeadlineExceeded, "timeout"},
		"broken off":    {io.ErrUnexpectedEOF, "unexpected_eof"},
		"anything else": {errors.New("x"), "*errors.errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			opt := middleware.WithTracerProvider(tr.TracerProvider())
			if err := call(t, middleware.NewTransport(&network{err: tt.err}, opt), t.Context(), "http://shop.example/"); !errors.Is(err, tt.err) {
				t.Errorf("error %v", err)
			}
			rt := middleware.NewTransport(answering{http.Response{StatusCode: http.StatusOK, Body: brokenBody{tt.err}}}, opt)
			resp := send(t, &http.Client{Transport: rt}, http.MethodGet, "http://shop.example/") //nolint:bodyclose // closed when the test ends
			if _, err := io.ReadAll(resp.Body); !errors.Is(err, tt.err) {
				t.Errorf("body: error %v", err)
			}
			tr.Span("GET").Times(2).Err().Attr("error.type", tt.want).Times(2)
		})
	}
}

// An answer of a server's own handler, over HTTP/1.1, for what httptest makes of it.
func TestRecorderAsTransport(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	rt := roundTripper(func(*http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		_, _ = io.WriteString(w, "body")
		return w.Result(), nil
	})
	resp := send(t, &http.Client{Transport: middleware.NewTransport(rt, middleware.WithTracerProvider(tr.TracerProvider()))}, http.MethodGet, "http://shop.example/")
	wantOpen(t, tr, true)
	_ = resp.Body.Close()
	wantOpen(t, tr, false)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// closing is a body that looks at something when it is closed.
type closing struct {
	io.Reader
	look func()
}

func (c closing) Close() error { c.look(); return nil }

// Closing may take its time: the span ends before.
func TestSpanEndsBeforeTheBodyIsClosed(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	looked := false
	body := closing{strings.NewReader("x"), func() { looked = true; wantOpen(t, tr, false) }}
	rt := middleware.NewTransport(answering{http.Response{StatusCode: http.StatusOK, Body: body}}, middleware.WithTracerProvider(tr.TracerProvider()))
	if err := call(t, rt, t.Context(), "http://shop.example/"); err != nil || !looked {
		t.Errorf("error %v, closed: %v", err, looked)
	}
}

// A call that is not recorded gets the answer as it is.
func TestAnswerOfACallThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	body := &closing{strings.NewReader("x"), func() {}}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	rt := middleware.NewTransport(answering{http.Response{StatusCode: http.StatusOK, Body: body}}, middleware.WithTracerProvider(tp))
	resp := send(t, &http.Client{Transport: rt}, http.MethodGet, "http://shop.example/") //nolint:bodyclose // closed when the test ends
	if resp.Body != io.ReadCloser(body) {
		t.Errorf("the body is a %T", resp.Body)
	}
}

// A program may keep the context of a call, as its transport sees it, without the answer.
func TestContextOfACallKeepsNoAnswer(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	done := make(chan struct{})
	var kept context.Context
	rt := middleware.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		kept = r.Context() //nolint:fatcontext // kept on purpose
		body := &closing{bytes.NewReader(make([]byte, 1<<20)), func() {}}
		runtime.AddCleanup(body, func(struct{}) { close(done) }, struct{}{})
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	}), middleware.WithTracerProvider(tr.TracerProvider()))
	if err := call(t, rt, t.Context(), "http://shop.example/"); err != nil {
		t.Fatal(err)
	}
	if !collected(done) {
		t.Error("the context keeps the body")
	}
	runtime.KeepAlive(kept)
}
