package middleware_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// quiet keeps the server's own words about panics out of the test's output.
func quiet(srv *httptest.Server) {
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	return serveVersion(t, "1.1", h)
}

// raw speaks HTTP/1 by hand.
type raw struct {
	t *testing.T
	net.Conn
	*bufio.Reader
}

func dial(t *testing.T, srv *httptest.Server) raw {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = c.Close() })
	return raw{t, c, bufio.NewReader(c)}
}

func (c raw) Read(p []byte) (int, error) { return c.Reader.Read(p) }

func (c raw) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c raw) response(method string) *http.Response {
	c.t.Helper()
	resp, err := http.ReadResponse(c.Reader, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func (c raw) line() string {
	c.t.Helper()
	s, err := c.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

func TestStorySSEWithAClientThatLeaves(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.1", "2"} {
		_, tr := capturetest.Start(t)
		srv := serveVersion(t, version, wrap(tr, muxOf("GET /events/{id}", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := 0; r.Context().Err() == nil; i++ {
				_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
				_ = http.NewResponseController(w).Flush()
				if i == 1 {
					<-r.Context().Done()
				}
			}
		})))
		ctx, leave := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/events/7", http.NoBody)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, len("data: 0\n\ndata: 1\n\n"))); err != nil {
			t.Fatal(err)
		}
		leave()
		_ = resp.Body.Close()
		tr.Wait("GET /events/{id}", 1).NoErr().Attr("http.response.status_code", 200).Attr("waymark.http.stream", "sse").Attr("waymark.http.end", "client_disconnected").
			Attr("network.protocol.version", version)
	}
}

func TestStoryWebSocket(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, muxOf("/ws", func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString("echo " + line)
		_ = rw.Flush()
	})))
	c := dial(t, srv)
	c.send("GET /ws HTTP/1.1", "Host: shop.example", "Connection: Upgrade", "Upgrade: websocket")
	if resp := c.response("GET"); resp.StatusCode != http.StatusSwitchingProtocols { //nolint:bodyclose // a raw connection
		t.Fatalf("status = %d", resp.StatusCode)
	}
	_, _ = io.WriteString(c.Conn, "hello\n")
	if got := c.line(); got != "echo hello" {
		t.Errorf("read %q", got)
	}
	tr.Wait("GET /ws", 1).NoErr().Attr("http.response.status_code", 101).Attr("waymark.http.stream", "upgrade").NoAttr("waymark.http.end")
}

func TestStoryExpectContinue(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })))
	c := dial(t, srv)
	c.send("POST / HTTP/1.1", "Host: shop.example", "Expect: 100-continue", "Content-Length: 4")
	if got := c.line() + c.line(); got != "HTTP/1.1 100 Continue" {
		t.Fatalf("read %q", got)
	}
	_, _ = io.WriteString(c.Conn, "body")
	body, _ := io.ReadAll(c.response("POST").Body) //nolint:bodyclose // a raw connection
	if string(body) != "body" {
		t.Errorf("body = %q", body)
	}
	tr.Wait("POST", 1).NoErr().Attr("http.response.status_code", 200)
}

// Neither a body that breaks off nor one that is larger than the handler wants is an error of the server.
func TestStoryBrokenAndLargeBodies(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		} else if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	})))
	c := dial(t, srv)
	c.send("POST / HTTP/1.1", "Host: shop.example", "Content-Length: 4000")
	_ = c.Close()
	tr.Wait("POST", 1).NoErr().Attr("waymark.http.end", "client_disconnected").Attr("http.response.status_code", 400).NoAttr("error.type")

	resp, err := srv.Client().Post(srv.URL, "text/plain", strings.NewReader("too large"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	tr.Wait("POST", 2).NoErr().Attr("http.response.status_code", 413).NoAttr("error.type")
}

func TestStoryHeadAndNotModified(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, muxOf("/{code}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("code") == "304" {
			w.WriteHeader(http.StatusNotModified)
		}
		_, _ = io.WriteString(w, "body")
	})))
	c := dial(t, srv)
	c.send("HEAD /200 HTTP/1.1", "Host: shop.example")
	_ = c.response("HEAD") //nolint:bodyclose // a raw connection
	tr.Wait("HEAD /{code}", 1).NoErr().Attr("http.response.status_code", 200).NoAttr("error.type")
	c.send("GET /304 HTTP/1.1", "Host: shop.example")
	_ = c.response("GET") //nolint:bodyclose // a raw connection
	tr.Wait("GET /{code}", 1).NoErr().Attr("http.response.status_code", 304).NoAttr("error.type")
}

func TestStoryOddRequests(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := serve(t, wrap(tr, h))
	// net/http itself answers OPTIONS * inside of the handler chain only when it is told to.
	srv.Config.DisableGeneralOptionsHandler = true
	for _, tt := range []struct {
		lines         []string
		name          string
		n             int // of this name so far
		path, version string
		port          int
	}{
		{[]string{"OPTIONS * HTTP/1.1", "Host: shop.example"}, "OPTIONS", 1, "*", "1.1", 0},
		{[]string{"CONNECT db.example:5432 HTTP/1.1", "Host: db.example:5432"}, "CONNECT", 1, "", "1.1", 5432},
		{[]string{"GET http://shop.example:81 HTTP/1.1", "Host: ignored"}, "GET", 1, "/", "1.1", 81},
		{[]string{"GET /old HTTP/1.0"}, "GET", 2, "/old", "1.0", 0},
		{[]string{"get / HTTP/1.1", "Host: shop.example"}, "HTTP", 1, "/", "1.1", 0},
	} {
		c := dial(t, srv)
		c.send(tt.lines...)
		if resp := c.response("GET"); resp.StatusCode != http.StatusNoContent { //nolint:bodyclose // a raw connection
			t.Errorf("%s: status %d", tt.lines[0], resp.StatusCode)
		}
		s := tr.Wait(tt.name, tt.n).Attr("url.scheme", "http").Attr("network.protocol.version", tt.version)
		s = text(s, "url.path", tt.path)
		if tt.port != 0 {
			s.Attr("server.port", tt.port)
		} else {
			s.NoAttr("server.port")
		}
	}
}

// A panic closes its own connection, as it does without us; the server lives on.
func TestStoryPanicOnAKeptConnection(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, muxOf("/{what}", func(_ http.ResponseWriter, r *http.Request) {
		if r.PathValue("what") == "panic" {
			panic("boom")
		}
	})))
	c := dial(t, srv)
	c.send("GET /ok HTTP/1.1", "Host: shop.example")
	_ = c.response("GET") //nolint:bodyclose // a raw connection
	tr.Wait("GET /{what}", 1).NoErr()
	c.send("GET /panic HTTP/1.1", "Host: shop.example")
	if _, err := c.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("read %v, want the connection closed", err)
	}
	tr.Wait("GET /{what}", 2).Err().Attr("error.type", "string").NoAttr("http.response.status_code")
	c = dial(t, srv)
	c.send("GET /ok HTTP/1.1", "Host: shop.example")
	_ = c.response("GET") //nolint:bodyclose // a raw connection
	tr.Wait("GET /{what}", 3).NoErr().Times(2)
}

func TestStoryServerTimingOnTheWire(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := serve(t, wrap(tr, muxOf("/{code}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Server-Timing", "db;dur=1")
	}), middleware.WithServerTiming()))
	resp, err := srv.Client().Get(srv.URL + "/200")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	id := tr.Wait("GET /{code}", 1).One().SpanID.String()
	if got := resp.Header["Server-Timing"]; len(got) != 2 || !strings.Contains(got[1], id) {
		t.Errorf("Server-Timing = %q", got)
	}
}

// HTTP/2 without TLS, by prior knowledge.
func TestStoryH2C(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	srv := httptest.NewUnstartedServer(wrap(tr, muxOf("/a", status(http.StatusOK))))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	srv.Config.Protocols = &protocols
	srv.Start()
	defer srv.Close()
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(srv.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	tr.Wait("GET /a", 1).Attr("network.protocol.version", "2").Attr("url.scheme", "http")
}
