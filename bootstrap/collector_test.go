//go:build !waymark_nootlp

package bootstrap_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // so that the server understands it
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
)

// received is what a collector got.
type received struct {
	mu       sync.Mutex
	spans    []*tracepb.Span
	resource []*tracepb.ResourceSpans
	headers  []map[string][]string
	paths    []string
	types    []string
	coding   []string // gRPC's compression, a request each
	requests atomic.Int64
}

func (r *received) add(req *collector.ExportTraceServiceRequest, headers map[string][]string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	r.headers = append(r.headers, headers)
	for _, rs := range req.GetResourceSpans() {
		r.resource = append(r.resource, rs)
		for _, ss := range rs.GetScopeSpans() {
			r.spans = append(r.spans, ss.GetSpans()...)
			n += len(ss.GetSpans())
		}
	}
	return n
}

func (r *received) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spans)
}

// answer is what a collector does with a request of n spans.
type answer func(ctx context.Context, n int) (rejected int64, message string, status int)

func takeAll(context.Context, int) (int64, string, int) { return 0, "", http.StatusOK }

// httpCollector is an OTLP/HTTP receiver on loopback.
func httpCollector(t *testing.T, reply answer) (*received, *httptest.Server) {
	t.Helper()
	got := &received{}
	srv := httptest.NewServer(httpHandler(t, got, reply))
	t.Cleanup(srv.Close)
	return got, srv
}

func httpHandler(t *testing.T, got *received, reply answer) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.requests.Add(1)
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			zr, err := gzip.NewReader(body)
			if err != nil {
				t.Errorf("gzip: %v", err)
				return
			}
			body = zr
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			return // the client went away
		}
		var req collector.ExportTraceServiceRequest
		contentType := r.Header.Get("Content-Type")
		got.mu.Lock()
		got.paths = append(got.paths, r.URL.Path)
		got.types = append(got.types, contentType)
		got.mu.Unlock()
		var n int
		if contentType == "application/x-protobuf" {
			if err := proto.Unmarshal(raw, &req); err != nil {
				t.Errorf("body: %v", err)
			}
			n = got.add(&req, r.Header)
		} else {
			n = got.addJSON(t, raw)
		}
		rejected, message, status := reply(r.Context(), n)
		resp := &collector.ExportTraceServiceResponse{}
		if rejected != 0 || message != "" {
			resp.PartialSuccess = &collector.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}
		}
		out, err := proto.Marshal(resp)
		if err != nil {
			t.Errorf("answer: %v", err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = w.Write(out)
		} else {
			_, _ = io.WriteString(w, message)
		}
	})
}

// grpcCollector is an OTLP/gRPC receiver on loopback; it returns its address.
func grpcCollector(t *testing.T, reply answer) (*received, string) {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got := &received{}
	srv := grpc.NewServer(grpc.StatsHandler(codingOf{got}))
	collector.RegisterTraceServiceServer(srv, &grpcService{got: got, reply: reply})
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(srv.Stop)
	return got, ln.Addr().String()
}

// codingOf notes the compression of requests, which a handler does not see.
type codingOf struct{ got *received }

func (codingOf) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (codingOf) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (codingOf) HandleConn(context.Context, stats.ConnStats)                       {}

func (c codingOf) HandleRPC(_ context.Context, s stats.RPCStats) {
	if in, ok := s.(*stats.InHeader); ok {
		c.got.mu.Lock()
		defer c.got.mu.Unlock()
		c.got.coding = append(c.got.coding, in.Compression)
	}
}

type grpcService struct {
	collector.UnimplementedTraceServiceServer
	got   *received
	reply answer
}

func (s *grpcService) Export(ctx context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.got.requests.Add(1)
	md, _ := metadata.FromIncomingContext(ctx)
	n := s.got.add(req, md)
	rejected, message, status := s.reply(ctx, n)
	if status != http.StatusOK {
		return nil, grpcError(status, message)
	}
	resp := &collector.ExportTraceServiceResponse{}
	if rejected != 0 || message != "" {
		resp.PartialSuccess = &collector.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}
	}
	return resp, nil
}
