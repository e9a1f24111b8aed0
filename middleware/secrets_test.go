package middleware_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/middleware"
)

const (
	secret     = "S3NT1N3L"
	secretURL  = "https://u:" + secret + "@h/a?token=" + secret + "&pin=" + secret + "&b=1#access_token=" + secret
	visibleURL = "https://REDACTED@h/a?token=REDACTED&pin=REDACTED&b=1#access_token=REDACTED"
)

// noSecret wants no trace of the secret anywhere in the spans, and the rest of the URL.
func noSecret(t *testing.T, tr *capturetest.Trace, visible string) {
	t.Helper()
	all, err := tr.Result().MarshalOTLP()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(all, []byte(secret)) {
		t.Errorf("the secret is in the spans:\n%s", tr.Tree())
	}
	if !bytes.Contains(all, []byte(visible)) {
		t.Errorf("%s is not in the spans:\n%s", visible, tr.Tree())
	}
}

func failedCall() error { return &url.Error{Op: "Get", URL: secretURL, Err: errors.New("reset")} }

// Whatever a handler panics with or fails by: the secrets of the URLs in it reach no span, those of the program's own
// keys neither.
func TestNoSecretOfAnErrorIsRecorded(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(secretURL)
	if err != nil {
		t.Fatal(err)
	}
	panics := func(v any) http.HandlerFunc { return func(http.ResponseWriter, *http.Request) { panic(v) } }
	for name, h := range map[string]http.HandlerFunc{
		"error":         panics(failedCall()),
		"wrapped error": panics(fmt.Errorf("pay: %w", failedCall())),
		"joined errors": panics(errors.Join(errors.New("a"), failedCall())),
		"text":          panics(secretURL),
		"URL":           panics(*u),
		"struct":        panics(struct{ URL, Why string }{secretURL, "closed"}),
		"pointer":       panics(&struct{ URL string }{secretURL}),
		"error's URL":   panics(u),
		"list":          panics([]string{secretURL}),
		"told": func(_ http.ResponseWriter, r *http.Request) {
			request.FromContext(r.Context()).SetError(failedCall())
		},
		"write":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(nil) },
		"read":     func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, secretURL, http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			wrapped := wrap(tr, h, middleware.WithRedactedQuery("pin"), middleware.WithHeaders(nil, []string{"Location"}))
			r := httptest.NewRequest(http.MethodPost, "/", brokenBody{failedCall()})
			w := http.ResponseWriter(httptest.NewRecorder())
			if name == "write" {
				w = failing{httptest.NewRecorder(), failedCall()}
			}
			func() {
				defer func() { _ = recover() }()
				wrapped.ServeHTTP(w, r)
			}()
			noSecret(t, tr, visibleURL)
		})
	}
}

// A header that is asked for may hold URLs whatever its name is.
func TestNoSecretOfAHeaderIsRecorded(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/cb?code=a "+secret)
		w.Header().Set("Refresh", "5; url=/cb?code="+secret)
		w.Header().Set("Link", "<"+secretURL+">; rel=next, <https://v:"+secret+"@h>")
		w.Header().Set("Hx-Redirect", secretURL)
		w.WriteHeader(http.StatusSeeOther)
	})
	tr := one(t, h, get("/", "X-Original-Uri", "/cb?code="+secret, "X-Plain", "exit code=5, a@b"),
		middleware.WithRedactedQuery("pin"), middleware.WithHeaders([]string{"X-Original-Uri", "X-Plain"}, []string{"Location", "Refresh", "Link", "Hx-Redirect"}))
	noSecret(t, tr, visibleURL)
	tr.Span("GET").
		Attr("http.request.header.x-original-uri", []string{"/cb?code=REDACTED"}).
		Attr("http.request.header.x-plain", []string{"exit code=5, a@b"}).
		Attr("http.response.header.location", []string{"/cb?code=REDACTED"}).
		Attr("http.response.header.refresh", []string{"5; url=/cb?code=REDACTED"}).
		Attr("http.response.header.link", []string{"<" + visibleURL + ">; rel=next, <https://REDACTED@h>"}).
		Attr("http.response.header.hx-redirect", []string{visibleURL})
}

// Messages of one kind are one text, whoever the client is.
func TestMessagesCanBeGrouped(t *testing.T) {
	t.Parallel()
	op := func(r *http.Request) error {
		return &net.OpError{
			Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ENOBUFS),
			Source: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:8080")),
			Addr:   net.TCPAddrFromAddrPort(netip.MustParseAddrPort(r.RemoteAddr)),
		}
	}
	for want, h := range map[string]http.HandlerFunc{
		"write tcp: write: no buffer space available": func(_ http.ResponseWriter, r *http.Request) { panic(op(r)) },
		"pay: write tcp: write: no buffer space available": func(_ http.ResponseWriter, r *http.Request) {
			request.FromContext(r.Context()).SetError(fmt.Errorf("pay: %w", op(r)))
		},
		"client sends too fast (client)": func(_ http.ResponseWriter, r *http.Request) {
			panic(fmt.Errorf("%s sends too fast (%s)", r.RemoteAddr, r.RemoteAddr))
		},
		"stream error: stream ID N; PROTOCOL_ERROR": func(http.ResponseWriter, *http.Request) {
			panic("stream error: stream ID 71; PROTOCOL_ERROR")
		},
	} {
		for _, from := range []string{"10.0.0.1:5123", "[2001:db8::1]:40000"} {
			r := get("/")
			r.RemoteAddr = from
			_, tr := capturetest.Start(t)
			func() {
				defer func() { _ = recover() }()
				wrap(tr, h).ServeHTTP(httptest.NewRecorder(), r)
			}()
			if got := tr.Span("GET").Err().One().Status.Message; got != want {
				t.Errorf("from %s: %q, want %q", from, got, want)
			}
		}
	}
}

// What goes to OpenTelemetry's error handler goes to a log.
func TestNoSecretOfAHookIsLogged(t *testing.T) {
	var mu sync.Mutex
	var told []string
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err.Error())
	}))
	defer otel.SetErrorHandler(before)
	_, tr := capturetest.Start(t)
	fails := middleware.WithFilter(func(*http.Request) bool { panic(failedCall()) })
	wrap(tr, status(http.StatusOK), fails, middleware.WithRedactedQuery("pin")).ServeHTTP(httptest.NewRecorder(), get("/"))
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 || strings.Contains(told[0], secret) || !strings.Contains(told[0], visibleURL) {
		t.Errorf("told %q", told)
	}
}

// The same of a client: of the transport's error, of a body that fails, of the URL itself. The caller gets what it gets
// without us.
func TestNoSecretOfACallIsRecorded(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(secretURL)
	if err != nil {
		t.Fatal(err)
	}
	opaque := &url.URL{Scheme: "http", Opaque: "//u:" + secret + "@h/a", RawQuery: "token=" + secret}
	for name, tt := range map[string]struct {
		url     *url.URL
		base    http.RoundTripper
		visible string
	}{
		"error":         {u, &network{err: failedCall()}, visibleURL},
		"wrapped error": {u, &network{err: fmt.Errorf("pay: %w", failedCall())}, visibleURL},
		"joined errors": {u, &network{err: errors.Join(errors.New("a"), failedCall())}, visibleURL},
		"body":          {u, answering{http.Response{StatusCode: http.StatusOK, Body: brokenBody{failedCall()}}}, visibleURL},
		"URL":           {u, &network{}, "http" + strings.Replace(visibleURL[len("http"):], "REDACTED@", "", 1)},
		"opaque URL":    {opaque, &network{}, "http://REDACTED@h/a?token=REDACTED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			rt := middleware.NewTransport(tt.base, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithRedactedQuery("pin"))
			r := (&http.Request{Method: http.MethodGet, URL: tt.url, Header: http.Header{}}).WithContext(t.Context())
			res, err := rt.RoundTrip(r)
			if n, ok := tt.base.(*network); ok && !errors.Is(err, n.err) {
				t.Errorf("error %v, want that of the transport", err)
			}
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			if err != nil && !strings.Contains(err.Error(), secret) {
				t.Errorf("the caller gets %v", err)
			}
			noSecret(t, tr, tt.visible)
		})
	}
}

// A URL is cut as what a client sends is, and shows no half of a password.
func TestURLOfACallIsBounded(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	rt := middleware.NewTransport(&network{}, middleware.WithTracerProvider(tr.TracerProvider()))
	if err := call(t, rt, t.Context(), "http://shop.example/"+strings.Repeat("é", 1<<20)); err != nil {
		t.Fatal(err)
	}
	kv, _ := tr.Span("GET").One().Attr("url.full")
	if got := kv.AsString(); len(got) < 8190 || len(got) > 8192 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, want 8192", len(got))
	}
}
