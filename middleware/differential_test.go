package middleware_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/middleware"
)

// The same requests go through ours and through otelhttp, over real sockets. The responses must be equal, byte by
// byte, and the spans too but for the differences listed in expect: anything else fails.

// probe is one request.
type probe struct {
	method, target, host string
	header               http.Header
	body                 string
}

// diffMux answers in every way a handler may.
func diffMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Id", r.PathValue("id"))
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("/code/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "body of "+r.PathValue("code"))
	})
	mux.HandleFunc("GET /trailer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("X-Sum", "42")
		w.Header().Set(http.TrailerPrefix+"X-Late", "1")
	})
	mux.HandleFunc("/flush", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "chunk %d\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("/copyfrom", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, strings.NewReader(strings.Repeat("x", 70_000)))
	})
	mux.HandleFunc("/nothing", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/tree/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(nil) })
	mux.HandleFunc("/panic/{how}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("how") == "late" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		panic("boom")
	})
	mux.HandleFunc("/limit", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4)); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
	})
	return mux
}

// expect turns otelhttp's span of a probe into the one we owe. It is the closed list of differences.
func expect(theirs flat, p probe, version string) flat {
	want := flat{name: theirs.name, kind: theirs.kind, status: theirs.status, attrs: map[string]string{}}
	for k, v := range theirs.attrs {
		switch k {
		case "http.request.body.size", "http.response.body.size": // row 15: opt-in
		case "network.protocol.version":
			want.attrs[k] = version // row 12: 2, not 2.0
		case "client.address":
			want.attrs[k] = theirs.attrs["network.peer.address"] // row 11: X-Forwarded-For of a stranger
		default:
			want.attrs[k] = strings.ToValidUTF8(v, "\uFFFD") // OTLP takes nothing else
		}
	}
	if _, q, ok := strings.Cut(p.target, "?"); ok && q != "" {
		want.attrs["url.query"] = strings.ReplaceAll(q, "token=s3cret", "token=REDACTED") // row 8
	}
	if _, route, ok := strings.Cut(theirs.name, " "); ok {
		want.attrs["http.route"] = route // row 1
	}
	if upper := strings.ToUpper(p.method); upper == theirs.attrs["http.request.method"] && upper != p.method {
		want.attrs["http.request.method"] = "_OTHER" // row 14: a method in another case is another method
		want.name = "HTTP" + strings.TrimPrefix(want.name, upper)
	}
	if p.method == "QUERY" { // row 13
		want.attrs["http.request.method"] = "QUERY"
		delete(want.attrs, "http.request.method_original")
		want.name = "QUERY" + strings.TrimPrefix(want.name, "HTTP")
	}
	if code := want.attrs["http.response.status_code"]; code >= "500" {
		want.status = codes.Error       // otelhttp calls 6xx invalid; the conventions do not know them either
		want.attrs["error.type"] = code // row 5
	}
	if strings.HasPrefix(p.target, "/flush") {
		want.attrs["waymark.http.stream"] = "flushed" // ours
	}
	if how, ok := strings.CutPrefix(p.target, "/panic/"); ok { // row 3
		want.attrs["http.route"] = "/panic/{how}"
		want.name += " /panic/{how}"
		want.status = codes.Error
		want.attrs["error.type"] = "string"
		if how == "late" {
			want.attrs["http.response.status_code"] = "200"
		}
	}
	return want
}

// flat is what is compared of a span.
type flat struct {
	name, kind string
	status     codes.Code
	attrs      map[string]string
}

func flatten(s sdktrace.ReadOnlySpan) flat {
	f := flat{s.Name(), s.SpanKind().String(), s.Status().Code, map[string]string{}}
	for _, kv := range s.Attributes() {
		v := kv.Value.String()
		switch kv.Key {
		case "network.peer.port", "server.port": // of two servers and their connections
			v = "port"
		}
		f.attrs[string(kv.Key)] = v
	}
	return f
}

// answer is what a client sees.
type answer struct {
	Status          int
	Proto           string
	Header, Trailer http.Header
	Body            string
	Failed          bool
}

func ask(tb testing.TB, srv *httptest.Server, p probe) answer {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), p.method, srv.URL+p.target, strings.NewReader(p.body))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header = p.header.Clone()
	if p.host != "" {
		r.Host = p.host
	}
	resp, err := srv.Client().Transport.RoundTrip(r)
	if err != nil {
		return answer{Failed: true}
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Header.Del("Date")
	return answer{resp.StatusCode, resp.Proto, resp.Header, resp.Trailer, string(body), err != nil}
}

// queue has each span as it ends, whatever its name, of one of two rivals.
type queue struct {
	tp    *sdktrace.TracerProvider
	ended chan sdktrace.ReadOnlySpan
}

func newQueue(tb testing.TB) *queue {
	tb.Helper()
	q := &queue{ended: make(chan sdktrace.ReadOnlySpan, 1<<10)}
	q.tp = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q))
	return q
}

func (q *queue) OnEnd(s sdktrace.ReadOnlySpan)                   { q.ended <- s }
func (q *queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (q *queue) ForceFlush(context.Context) error                { return nil }
func (q *queue) Shutdown(context.Context) error                  { return nil }

func (q *queue) next(tb testing.TB) sdktrace.ReadOnlySpan {
	tb.Helper()
	select {
	case s := <-q.ended:
		return s
	case <-time.After(patience):
		tb.Fatal("no span has ended")
		return nil
	}
}

func fixedProbes() []probe {
	var ps []probe
	for _, target := range []string{
		"/echo/1", "/echo/a%2Fb", "/echo/%ff", "/code/200", "/code/204", "/code/304", "/code/404", "/code/500", "/code/503", "/code/599",
		"/trailer", "/flush", "/hints", "/copyfrom", "/nothing", "/tree/a/b", "/tree", "//tree", "/missing", "/limit",
		"/panic/early", "/panic/late", "/echo/1?a=1&token=s3cret&b=%20", "/?token=s3cret",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, "QUERY", "get", "BREW"} {
			ps = append(ps, probe{method: method, target: target, header: http.Header{"User-Agent": {"probe"}}})
		}
	}
	return ps
}

func randomProbe(rnd *rand.Rand) probe {
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	p := probe{
		method: pick("GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "DELETE", "QUERY", "TRACE", "post", "X"),
		target: pick("/echo/"+strconv.Itoa(rnd.IntN(1000)), "/code/"+strconv.Itoa(200+rnd.IntN(400)), "/flush", "/trailer", "/hints",
			"/copyfrom", "/nothing", "/limit", "/tree/x", "/none", "/"),
		host:   pick("", "shop.example", "shop.example:8080", "[::1]:99"),
		header: http.Header{},
		body:   strings.Repeat("b", rnd.IntN(20)),
	}
	if rnd.IntN(2) == 0 {
		p.target += "?page=" + strconv.Itoa(rnd.IntN(9)) + pick("", "&token=s3cret", "&token=s3cret&x=%2B")
	}
	for _, h := range []string{"User-Agent", "X-Forwarded-For", "Traceparent", "Accept-Encoding"} {
		if rnd.IntN(2) == 0 {
			p.header.Set(h, map[string]string{"User-Agent": "ua/" + p.method, "X-Forwarded-For": "9.9.9.9", "Traceparent": callerHead, "Accept-Encoding": "gzip"}[h])
		}
	}
	return p
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.1", "2"} {
		t.Run("HTTP "+version, func(t *testing.T) {
			t.Parallel()
			ours, theirs := newQueue(t), newQueue(t)
			mine := serveVersion(t, version, middleware.New(diffMux(), middleware.WithTracerProvider(ours.tp), middleware.WithPropagators(w3c())))
			rival := serveVersion(t, version, otelhttp.NewHandler(diffMux(), "", otelhttp.WithTracerProvider(theirs.tp), otelhttp.WithPropagators(w3c())))
			seed := rand.Uint64()
			rnd := rand.New(rand.NewPCG(seed, 1))
			probes := fixedProbes()
			for range 300 {
				probes = append(probes, randomProbe(rnd))
			}
			for _, p := range probes {
				compare(t, p, version, seed, [2]*httptest.Server{mine, rival}, [2]*queue{ours, theirs})
			}
		})
	}
}

func compare(t *testing.T, p probe, version string, seed uint64, srv [2]*httptest.Server, rec [2]*queue) {
	t.Helper()
	name := fmt.Sprintf("%s %s (seed %d, %+v)", p.method, p.target, seed, p)
	got, want := ask(t, srv[0], p), ask(t, srv[1], p)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: responses (-otelhttp +ours):\n%s", name, diff)
	}
	our, their := rec[0].next(t), rec[1].next(t)
	if diff := cmp.Diff(expect(flatten(their), p, version), flatten(our), cmp.AllowUnexported(flat{})); diff != "" {
		t.Fatalf("%s: spans (-otelhttp with the known differences +ours):\n%s", name, diff)
	}
	if our.Parent().SpanID() != their.Parent().SpanID() || len(our.Links()) != len(their.Links()) {
		t.Fatalf("%s: parents or links differ", name)
	}
}

// serveVersion starts a server that speaks only HTTP/1.1, or HTTP/2 over TLS.
func serveVersion(t *testing.T, version string, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	quiet(srv)
	if version == "2" {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	// On a kept connection the client would repeat a request whose handler panics.
	as[*http.Transport](srv.Client().Transport).DisableKeepAlives = version == "1.1"
	t.Cleanup(srv.Close)
	return srv
}
