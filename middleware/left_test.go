package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// protocols are the ways in which a client and a server may speak.
var protocols = map[string]func(*http.Protocols){
	"HTTP/1.1":          func(p *http.Protocols) { p.SetHTTP1(true) },
	"HTTP/1.1 over TLS": func(p *http.Protocols) { p.SetHTTP1(true) },
	"HTTP/2 over TLS":   func(p *http.Protocols) { p.SetHTTP2(true) },
	"h2c":               func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
}

// talk is a server, and a client of one connection at a time that can be broken.
type talk struct {
	url    string
	client *http.Client
	mu     sync.Mutex
	conns  []net.Conn
}

func newTalk(t *testing.T, protocol string, h http.Handler) *talk {
	t.Helper()
	p := new(http.Protocols)
	protocols[protocol](p)
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = p
	tlsOn := strings.Contains(protocol, "TLS")
	tr := &http.Transport{Protocols: p}
	if tlsOn {
		srv.EnableHTTP2 = p.HTTP2()
		srv.StartTLS()
		tr.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone() //nolint:errcheck // httptest's own
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	k := &talk{url: srv.URL, client: &http.Client{Transport: tr}}
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			k.mu.Lock()
			k.conns = append(k.conns, c)
			k.mu.Unlock()
		}
		return c, err
	}
	return k
}

func (k *talk) breakOff() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.conns {
		_ = c.Close()
	}
}

// accepting begins the answer before h is called.
func accepting(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		_ = c.EnableFullDuplex()
		w.WriteHeader(http.StatusAccepted)
		_ = c.Flush()
		h(w, r)
	})
}

// A client that leaves a stream makes no error, however it goes, whoever notices it by what, and by every protocol.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	read := func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	write := func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		for _, err := w.Write(make([]byte, 64<<10)); err == nil; _, err = w.Write(make([]byte, 64<<10)) {
			if c.Flush() != nil {
				return
			}
		}
	}
	wait := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	handlers := map[string]http.HandlerFunc{
		"reads":  read,
		"writes": write,
		"reads and writes": func(w http.ResponseWriter, r *http.Request) {
			var wg sync.WaitGroup
			wg.Go(func() { read(w, r) })
			write(w, r)
			wg.Wait()
		},
		"waits": wait,
		"waits, then writes": func(w http.ResponseWriter, r *http.Request) {
			wait(w, r)
			write(w, r)
		},
		"reads, then writes": func(w http.ResponseWriter, r *http.Request) {
			read(w, r)
			write(w, r)
		},
	}
	for protocol := range protocols {
		for name, h := range handlers {
			for _, breaks := range []bool{false, true} {
				how := map[bool]string{false: "cancels", true: "breaks off"}[breaks]
				t.Run(protocol+"/"+name+"/"+how, func(t *testing.T) {
					t.Parallel()
					leave(t, protocol, h, strings.Contains(name, "reads"), breaks)
				})
			}
		}
	}
}

// leave lets a client leave when the answer has begun. The body of its request, if it has one, does not end.
func leave(t *testing.T, protocol string, h http.HandlerFunc, hasBody, breaks bool) {
	t.Helper()
	_, tr := capturetest.Start(t)
	k := newTalk(t, protocol, wrap(tr, accepting(h)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, feed := io.ReadCloser(http.NoBody), (*io.PipeWriter)(nil)
	if hasBody {
		body, feed = io.Pipe()
		defer func() { _ = feed.Close() }()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := k.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case breaks:
		k.breakOff()
	case hasBody:
		_ = feed.CloseWithError(context.Canceled) // HTTP/2 looks at the context behind the body only
		fallthrough
	default:
		cancel()
	}
	tr.Wait("POST", 1).NoErr().NoAttr("error.type").Attr("http.response.status_code", 202).Attr("waymark.http.end", "client_disconnected")
}

// A deadline that passes is a failure, not a client that leaves, although the server then cancels the context in the same
// way. The message is the same for every client.
func TestDeadlineThatPasses(t *testing.T) {
	t.Parallel()
	soon := func() time.Time { return time.Now().Add(20 * time.Millisecond) }
	handlers := map[string]http.HandlerFunc{
		"read request: ": func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetReadDeadline(soon())
			_, _ = io.Copy(io.Discard, r.Body)
		},
		"write response: ": func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(soon())
			for _, err := w.Write(make([]byte, 64<<10)); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		},
	}
	for protocol := range protocols {
		for doing, h := range handlers {
			t.Run(protocol+"/"+doing, func(t *testing.T) {
				t.Parallel()
				_, tr := capturetest.Start(t)
				k := newTalk(t, protocol, wrap(tr, accepting(h)))
				body, feed := io.Pipe()
				defer func() { _ = feed.Close() }()
				resp, err := k.client.Post(k.url, "text/plain", body)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				s := tr.Wait("POST", 1).Err().Attr("error.type", "timeout").Attr("waymark.http.end", "timeout").One()
				if got := s.Status.Message; !strings.HasPrefix(got, doing) || !strings.HasSuffix(got, "i/o timeout") || strings.Contains(got, "127.0.0.1") {
					t.Errorf("the message is %q", got)
				}
			})
		}
	}
}

// The error alone says that the client has left: the context may say so later, or, behind another layer, never.
func TestErrorsOfAClientThatLeaves(t *testing.T) {
	t.Parallel()
	op := func(n syscall.Errno) error { return &net.OpError{Op: "write", Err: os.NewSyscallError("write", n)} }
	for name, tt := range map[string]struct {
		err  error
		left bool
	}{
		"EPIPE":                    {op(syscall.EPIPE), true},
		"ECONNRESET, wrapped":      {fmt.Errorf("flush: %w", op(syscall.ECONNRESET)), true},
		"ECONNABORTED":             {op(syscall.ECONNABORTED), true},
		"WSAECONNABORTED":          {op(10053), true},
		"WSAECONNRESET":            {op(10054), true},
		"HTTP/2 connection":        {errors.New("client disconnected"), true},
		"HTTP/2 stream":            {errors.New("http2: stream closed"), true},
		"another number":           {op(syscall.ENOSPC), false},
		"timeout":                  {op(syscall.ETIMEDOUT), false},
		"another text":             {errors.New("client disconnected from the cache"), false},
		"closed here":              {net.ErrClosed, false},
		"a body that is too short": {io.ErrUnexpectedEOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			h := wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					_, _ = io.ReadAll(r.Body)
					return
				}
				_, _ = w.Write([]byte("x"))
			}))
			h.ServeHTTP(failing{httptest.NewRecorder(), tt.err}, get("/"))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", brokenBody{tt.err}))
			for _, method := range []string{"GET", "PUT"} {
				if s := tr.Span(method); tt.left {
					s.NoErr().NoAttr("error.type").Attr("waymark.http.end", "client_disconnected")
				} else if s.Err(); !isTimeout(tt.err) {
					s.NoAttr("waymark.http.end")
				}
			}
		})
	}
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}
