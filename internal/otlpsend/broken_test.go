//go:build !waymark_nootlp

package otlpsend_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/waymark-trace/waymark/internal/otlpsend"
)

// A request whose bytes have left and that has no answer may have arrived. One
// that got no connection has not.
func TestWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		protocol  string
		endpoint  func(t *testing.T) string
		uncertain bool
		reached   bool
		err       string // in the error
		hangs     bool
	}{
		{"nobody", otlpsend.HTTPProtobuf, nobody, false, false, "connection refused", false},
		{"nobody", otlpsend.GRPC, nobody, false, false, "connection refused", false},
		{"no TLS", otlpsend.HTTPProtobuf, noTLS, false, false, "tls: ", false},
		{"no TLS", otlpsend.GRPC, noTLS, false, false, "tls: ", false},
		{"nonsense", otlpsend.GRPC, babbler, false, false, "error reading server preface", false},
		{"HTTP/1", otlpsend.GRPC, http1, false, false, "its protocol may be http/protobuf", false},
		{"HTTP/2", otlpsend.HTTPProtobuf, http2, false, true, "its protocol may be grpc", false},
		{"never connected", otlpsend.HTTPProtobuf, func(*testing.T) string { return "http://192.0.2.1:4318" }, false, false, "", true},
		{"never connected", otlpsend.GRPC, func(*testing.T) string { return "http://192.0.2.1:4317" }, false, false, "", true},

		{"hangs", otlpsend.HTTPProtobuf, hanging, true, true, "no answer: timeout of 2s", true},
		{"hangs", otlpsend.GRPC, hangingGRPC, true, true, "no answer: ", true},
		{"reads and closes", otlpsend.HTTPProtobuf, closing(""), true, true, "no answer: EOF", false},
		{"answers in part", otlpsend.HTTPProtobuf, closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), true, true, "no answer: unexpected EOF", false},
		{"refuses in part", otlpsend.HTTPProtobuf, closing("HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\nwho?"), false, true, "the receiver answered 401 Unauthorized: who?", false},
		{"resets the stream", otlpsend.GRPC, resetting, true, true, "no answer: stream terminated by RST_STREAM", false},
		{"counts and closes", otlpsend.GRPC, countingGRPC, true, true, "no answer: error reading from server: EOF", false},
		{"goes away and closes", otlpsend.GRPC, goingAway, true, true, "no answer: ", false},
		{"answers too much", otlpsend.GRPC, talkative, true, true, "the answer is larger than 4 MiB", false},
	} {
		t.Run(c.protocol+" "+c.name, func(t *testing.T) {
			t.Parallel()
			cfg := otlpsend.Config{Endpoint: c.endpoint(t), Protocol: c.protocol, RetryFor: 1, Timeout: time.Minute}
			if c.hangs {
				cfg.Timeout = 2 * time.Second // a busy machine takes its time to connect
			}
			client := newClient(t, cfg)
			var reached atomic.Bool
			var unreached atomic.Pointer[error]
			tries := &otlpsend.Tries{OnReached: func() { reached.Store(true) }, OnUnreached: func(err error) { unreached.Store(&err) }}
			out, err := client.Send(t.Context(), 4, encode, tries)
			if err == nil || !strings.Contains(err.Error(), c.err) || out.Done() != 0 {
				t.Errorf("%+v, error %v, want %q in it", out, err, c.err)
			}
			if (out.Uncertain == 4) != c.uncertain || out.Uncertain%4 != 0 || tries.MayHaveArrived() != c.uncertain {
				t.Errorf("%d spans may have arrived (%v), want %v", out.Uncertain, tries.MayHaveArrived(), c.uncertain)
			}
			if reached.Load() != c.reached || (unreached.Load() == nil) != c.reached {
				t.Errorf("reached %v, unreached %v, want %v", reached.Load(), unreached.Load(), c.reached)
			}
		})
	}
}

func nobody(t *testing.T) string {
	t.Helper()
	ln := listen(t)
	_ = ln.Close()
	return "http://" + ln.Addr().String()
}

// babbler speaks no protocol.
func babbler(t *testing.T) string {
	t.Helper()
	ln := listen(t)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, strings.Repeat("nonsense\r\n", 10))
			_, _ = io.Copy(io.Discard, conn) // until the client has read it, and hangs up
			_ = conn.Close()
		}
	}()
	return "http://" + ln.Addr().String()
}

func noTLS(t *testing.T) string {
	t.Helper()
	return "https" + strings.TrimPrefix(babbler(t), "http")
}

func http1(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	return srv.URL
}

// http2 answers a request of HTTP/1 with a frame of HTTP/2, as a server of gRPC does.
func http2(t *testing.T) string {
	t.Helper()
	return closing("\x00\x00\x00\x04\x00\x00\x00\x00\x00\r\n")(t)
}

func hanging(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	url, _ := serveHTTP(t, func(http.ResponseWriter, int) { <-over })
	t.Cleanup(func() { close(over) }) // before the server's end, which waits for it
	return url
}

func hangingGRPC(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	url, _, _ := serveGRPC(t, func(context.Context, int) (*collectorpb.ExportTraceServiceResponse, error) {
		<-over // not at the end of its own context: gRPC tells the deadline to the server
		return nil, errors.New("late")
	})
	t.Cleanup(func() { close(over) })
	return url
}

// closing reads the request, writes an answer as it is and closes the connection.
func closing(answer string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		url, _ := serveHTTP(t, func(w http.ResponseWriter, _ int) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = rw.WriteString(answer)
			_ = rw.Flush()
			_ = conn.Close()
		})
		return url
	}
}

func resetting(t *testing.T) string {
	t.Helper()
	return serveH2C(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		panic(http.ErrAbortHandler)
	})
}

func countingGRPC(t *testing.T) string {
	t.Helper()
	srvs := make(chan *grpc.Server, 1)
	url, _, srv := serveGRPC(t, func(ctx context.Context, _ int) (*collectorpb.ExportTraceServiceResponse, error) {
		srv := <-srvs
		go srv.Stop()
		<-ctx.Done()
		return nil, nil
	})
	srvs <- srv
	return url
}

func goingAway(t *testing.T) string {
	t.Helper()
	srvs := make(chan *grpc.Server, 1)
	url, _, srv := serveGRPC(t, func(ctx context.Context, _ int) (*collectorpb.ExportTraceServiceResponse, error) {
		srv := <-srvs
		go srv.GracefulStop()             // sends GOAWAY, and waits for this call
		time.Sleep(50 * time.Millisecond) // without it the test is "counts and closes" again
		go srv.Stop()
		<-ctx.Done()
		return nil, nil
	})
	srvs <- srv
	return url
}

func talkative(t *testing.T) string {
	t.Helper()
	url, _, _ := serveGRPC(t, func(context.Context, int) (*collectorpb.ExportTraceServiceResponse, error) {
		return &collectorpb.ExportTraceServiceResponse{
			PartialSuccess: &collectorpb.ExportTracePartialSuccess{ErrorMessage: strings.Repeat("x", 5<<20)},
		}, nil
	})
	return url
}

// A request that is made again after its connection broke, and is taken then, is
// taken.
func TestTakenAtTheSecondTry(t *testing.T) {
	t.Parallel()
	url, sizes := serveHTTP(t, func(_ http.ResponseWriter, request int) {
		if request == 1 {
			panic(http.ErrAbortHandler)
		}
	})
	got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
	if err != nil || got.Sent != 4 || got.Uncertain != 0 || got.Retries != 1 || len(sizes.get()) != 2 {
		t.Errorf("%+v, %v after %v", got, err, sizes.get())
	}
}
