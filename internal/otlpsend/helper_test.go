//go:build !waymark_nootlp

package otlpsend_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // so that the server understands it
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/internal/otlpsend"
)

// encode makes a request of empty spans.
func encode(from, to int) ([]byte, error) {
	spans := make([]*tracepb.Span, to-from)
	for i := range spans {
		spans[i] = &tracepb.Span{Name: "s"}
	}
	return proto.Marshal(&collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{
		{ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}}},
	}})
}

func count(req *collectorpb.ExportTraceServiceRequest) int {
	n := 0
	for _, rs := range req.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			n += len(ss.GetSpans())
		}
	}
	return n
}

// sizes is how many spans were in each request.
type sizes struct {
	mu  sync.Mutex
	all []int
}

func (s *sizes) add(n int) (requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, n)
	return len(s.all)
}

func (s *sizes) get() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// serveHTTP serves OTLP/HTTP requests, after they were read.
func serveHTTP(t *testing.T, answer func(w http.ResponseWriter, request int)) (url string, got *sizes) {
	t.Helper()
	got = &sizes{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Errorf("gzip: %v", err)
				return
			}
			body, _ = io.ReadAll(z)
		}
		var req collectorpb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			t.Errorf("request: %v", err)
		}
		answer(w, got.add(count(&req)))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1/traces", got
}

// answer is what a receiver does with one request.
type answer struct {
	status int
	header map[string]string
	body   string
}

// receive serves the answers one after the other, the last one for ever.
func receive(t *testing.T, answers ...answer) (url string, got *sizes) {
	t.Helper()
	return serveHTTP(t, func(w http.ResponseWriter, request int) {
		a := answers[min(request, len(answers))-1]
		w.Header()["Content-Type"] = nil // net/http would guess it
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	})
}

type grpcServer struct {
	collectorpb.UnimplementedTraceServiceServer

	got    *sizes
	answer func(ctx context.Context, request int) (*collectorpb.ExportTraceServiceResponse, error)
}

func (s *grpcServer) Export(ctx context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	return s.answer(ctx, s.got.add(count(req)))
}

// serveGRPC serves OTLP/gRPC requests.
func serveGRPC(t *testing.T, answer func(ctx context.Context, request int) (*collectorpb.ExportTraceServiceResponse, error), opts ...grpc.ServerOption) (url string, got *sizes, srv *grpc.Server) {
	t.Helper()
	got = &sizes{}
	srv = grpc.NewServer(opts...)
	collectorpb.RegisterTraceServiceServer(srv, &grpcServer{got: got, answer: answer})
	ln := listen(t)
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(srv.Stop)
	return "http://" + ln.Addr().String(), got, srv
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func newClient(t *testing.T, cfg otlpsend.Config) *otlpsend.Client {
	t.Helper()
	if cfg.Protocol == "" {
		cfg.Protocol = otlpsend.HTTPProtobuf
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Millisecond
	}
	c, err := otlpsend.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func send(t *testing.T, cfg otlpsend.Config, n int) (otlpsend.Outcome, error) {
	t.Helper()
	return newClient(t, cfg).Send(t.Context(), n, encode, nil)
}

// wantError compares the text of an error.
func wantError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if text := errorText(err); text != want {
		t.Errorf("%s: error %q, want %q", name, text, want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
