package middleware_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
)

// upgrading answers 101 and gives the connection to talk.
func upgrading(t *testing.T, talk func(*bufio.ReadWriter)) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		_ = rw.Flush()
		talk(rw)
		_ = rw.Flush()
	}
}

// echoAll answers once the client has closed its direction, so that both directions have to end by themselves.
func echoAll(rw *bufio.ReadWriter) {
	all, _ := io.ReadAll(rw)
	_, _ = rw.WriteString("echo " + string(all))
}

// upgrade asks for an upgrade.
func upgrade(t *testing.T, c *http.Client, address string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// A 101 is a connection to the caller, which it can close in one direction; the span lasts as long as it.
func TestUpgradeOfACall(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"HTTP/1.1", "HTTP/1.1 over TLS"} {
		for _, way := range []string{"read to its end", "closed"} {
			t.Run(protocol+"/"+way, func(t *testing.T) {
				t.Parallel()
				_, tr := capturetest.Start(t)
				k := newTalk(t, protocol, upgrading(t, echoAll))
				k.calling(tr)
				resp := upgrade(t, k.client, k.url) //nolint:bodyclose // closed when the test ends
				conn, ok := resp.Body.(io.ReadWriteCloser)
				if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
					t.Fatalf("status %d, a body of type %T", resp.StatusCode, resp.Body)
				}
				if _, err := io.WriteString(conn, "hello"); err != nil {
					t.Error(err)
				}
				wantOpen(t, tr, true)
				if way == "closed" {
					_ = conn.Close()
				} else {
					if err := as[interface{ CloseWrite() error }](conn).CloseWrite(); err != nil {
						t.Error(err)
					}
					wantOpen(t, tr, true)
					if got, err := io.ReadAll(conn); string(got) != "echo hello" || err != nil {
						t.Errorf("read %q, %v", got, err)
					}
				}
				wantOpen(t, tr, false)
				tr.Span("GET").Kind(traces.KindClient).NoErr().NoAttr("error.type").
					Attr("http.response.status_code", 101).Attr("waymark.http.stream", "upgrade")
			})
		}
	}
}

// deafConnection is what a RoundTripper of the program may answer an upgrade with: it cannot be closed in one direction.
type deafConnection struct {
	io.Reader
	err error
}

func (d deafConnection) Write(p []byte) (int, error) { return len(p), d.err }
func (deafConnection) Close() error                  { return nil }

// A connection offers what the one inside does, and its failures are the call's.
func TestConnectionsOfOthers(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	inside := deafConnection{errorReader{}, errors.New("full")}
	rt := middleware.NewTransport(answering{http.Response{StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 2, Body: inside}}, middleware.WithTracerProvider(tr.TracerProvider()))
	resp := send(t, &http.Client{Transport: rt}, http.MethodGet, "http://shop.example/")
	if _, ok := resp.Body.(interface{ CloseWrite() error }); ok {
		t.Error("the connection can be closed in one direction, which that inside cannot")
	}
	if _, err := as[io.Writer](resp.Body).Write(nil); err != inside.err { //nolint:errorlint // the error itself is wanted
		t.Errorf("error %v", err)
	}
	wantOpen(t, tr, true)
	_ = resp.Body.Close()
	tr.Span("GET").Err().Attr("error.type", "*errors.errorString").Attr("http.response.status_code", 101)
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("reads nothing") }

// proxied is a client in front of a traced proxy in front of a traced backend.
func proxied(t *testing.T, tr *capturetest.Trace, backend http.HandlerFunc) (*httptest.Server, raw) {
	t.Helper()
	behind := serve(t, wrap(tr, muxOf("/behind", backend)))
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.URL.Path = "/behind"
		},
		Transport: middleware.NewTransport(&http.Transport{}, middleware.WithTracerProvider(tr.TracerProvider()), middleware.WithPropagators(w3c())),
	}
	front := httptest.NewUnstartedServer(wrap(tr, muxOf("/front", proxy.ServeHTTP)))
	quiet(front)
	proxy.ErrorLog = front.Config.ErrorLog
	front.Start()
	t.Cleanup(front.Close)
	c := dial(t, front)
	c.send("GET /front HTTP/1.1", "Host: shop.example", "Connection: Upgrade", "Upgrade: echo")
	return behind, c
}

// A WebSocket through a proxy is three spans, none of which is an error: it works as without us, also when each side
// closes its own direction, and when the client leaves.
func TestUpgradeThroughAProxy(t *testing.T) {
	t.Parallel()
	for _, leaves := range []bool{false, true} {
		_, tr := capturetest.Start(t)
		_, c := proxied(t, tr, upgrading(t, echoAll))
		if resp := c.response(http.MethodGet); resp.StatusCode != http.StatusSwitchingProtocols { //nolint:bodyclose // a raw connection
			t.Fatalf("status %d", resp.StatusCode)
		}
		_, _ = io.WriteString(c.Conn, "hello")
		if leaves {
			_ = c.Close()
		} else {
			if err := as[*net.TCPConn](c.Conn).CloseWrite(); err != nil {
				t.Error(err)
			}
			if got, err := io.ReadAll(c); string(got) != "echo hello" || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
		}
		for _, s := range []*capturetest.Spans{
			tr.Wait("GET /front", 1).Kind(traces.KindServer),
			tr.Wait("GET", 1).Kind(traces.KindClient).Under("GET /front"),
			tr.Wait("GET /behind", 1).Kind(traces.KindServer).Under("GET"),
		} {
			s.NoErr().NoAttr("error.type").Attr("http.response.status_code", 101).Attr("waymark.http.stream", "upgrade").Times(1)
		}
	}
}

// An upgrade that is refused, by an answer or by nobody being there, is what was answered.
func TestUpgradeThatIsRefused(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	behind, c := proxied(t, tr, status(http.StatusForbidden))
	if resp := c.response(http.MethodGet); resp.StatusCode != http.StatusForbidden { //nolint:bodyclose // a raw connection
		t.Errorf("status %d", resp.StatusCode)
	}
	tr.Wait("GET /front", 1).NoErr().Attr("http.response.status_code", 403).NoAttr("waymark.http.stream")
	tr.Wait("GET", 1).Err().Attr("http.response.status_code", 403).Attr("error.type", "403").NoAttr("waymark.http.stream")
	behind.Close()
	c.send("GET /front HTTP/1.1", "Host: shop.example", "Connection: Upgrade", "Upgrade: echo")
	if resp := c.response(http.MethodGet); resp.StatusCode != http.StatusBadGateway { //nolint:bodyclose // a raw connection
		t.Errorf("status %d", resp.StatusCode)
	}
	tr.Wait("GET /front", 2).Attr("http.response.status_code", 502).Err().Times(1)
	tr.Wait("GET", 2).NoAttr("http.response.status_code").Err().Attr("error.type", "*net.OpError").Times(1)
}
