//go:build !waymark_nootlp

package otlpsend_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waymark-trace/waymark/internal/otlpsend"
	"github.com/waymark-trace/waymark/traces"
)

func spans(n int) []*traces.Span {
	var out []*traces.Span
	for i := range n {
		out = append(out, &traces.Span{
			TraceID: traces.TraceID{1}, SpanID: traces.SpanID{7: byte(i + 1)}, Name: "s", StartUnixNano: 1, EndUnixNano: uint64(2 + i),
			Resource: &traces.Resource{}, Scope: &traces.Scope{},
		})
	}
	return out
}

// answer is what a receiver does with one request.
type answer struct {
	status int
	header map[string]string
	body   string
}

// receive serves the answers one after the other, the last one for ever, and
// keeps the number of spans of each request.
func receive(t *testing.T, answers ...answer) (url string, sizes *[]int) {
	t.Helper()
	sizes = new([]int)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err == nil {
				body, _ = io.ReadAll(z)
			}
		}
		var req collectorpb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			t.Errorf("request: %v", err)
		}
		n := 0
		for _, rs := range req.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				n += len(ss.GetSpans())
			}
		}
		*sizes = append(*sizes, n)
		a := answers[min(len(*sizes), len(answers))-1]
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1/traces", sizes
}

func send(t *testing.T, cfg otlpsend.Config, n int) (otlpsend.Outcome, error) {
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
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	return c.Send(t.Context(), spans(n))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	ok := answer{status: 200}
	partial, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{
		PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too old"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		answers []answer
		want    otlpsend.Outcome
		sizes   []int
		err     string
	}{
		{"taken", []answer{ok}, otlpsend.Outcome{Sent: 4}, []int{4}, ""},
		{"partly", []answer{{200, nil, string(partial)}}, otlpsend.Outcome{Sent: 2, Refused: 2, Reasons: []string{"too old"}}, []int{4}, ""},
		{"later", []answer{{503, nil, ""}, {429, map[string]string{"Retry-After": "0"}, ""}, {502, nil, ""}, {504, nil, ""}, ok}, otlpsend.Outcome{Sent: 4, Retries: 4}, []int{4, 4, 4, 4, 4}, ""},
		{"bad", []answer{{400, nil, "bad data\nat length"}}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered 400 Bad Request: bad data"}}, []int{4}, ""},
		{"error that is not temporary", []answer{{500, nil, ""}}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered 500 Internal Server Error"}}, []int{4}, ""},
		{
			"too large",
			[]answer{{413, nil, ""}, {413, nil, ""}, ok, {413, nil, ""}, ok},
			otlpsend.Outcome{Sent: 3, Refused: 1, Reasons: []string{"the receiver answered 413 Request Entity Too Large"}},
			[]int{4, 2, 1, 1, 2},
			"",
		},
		{"who", []answer{{401, nil, "who?"}}, otlpsend.Outcome{}, []int{4}, "otlpsend: the receiver answered 401 Unauthorized: who?"},
		{"elsewhere", []answer{{307, map[string]string{"Location": "http://example.com/"}, ""}}, otlpsend.Outcome{}, []int{4}, "otlpsend: the receiver answered 307 Temporary Redirect"},
		{"not here", []answer{{404, nil, ""}}, otlpsend.Outcome{}, []int{4}, "otlpsend: the receiver answered 404 Not Found"},
		{
			"wait too long",
			[]answer{{503, map[string]string{"Retry-After": "3600"}, ""}},
			otlpsend.Outcome{},
			[]int{4},
			"otlpsend: no success within 1m0s: the receiver answered 503 Service Unavailable",
		},
	} {
		url, sizes := receive(t, c.answers...)
		got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: outcome -want +got\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.sizes, *sizes); diff != "" {
			t.Errorf("%s: spans per request -want +got\n%s", c.name, diff)
		}
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}

func TestErrorInTheMiddleCountsTheFirst(t *testing.T) {
	t.Parallel()
	url, _ := receive(t, answer{status: 413}, answer{status: 200}, answer{status: 401})
	got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
	if err == nil || got.Sent != 2 || got.Done() != 2 {
		t.Errorf("%+v, %v: want the first half, and an error", got, err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	url, _ := receive(t, answer{status: 503, header: map[string]string{"Retry-After": "20"}})
	c, err := otlpsend.New(otlpsend.Config{Endpoint: url, Protocol: otlpsend.HTTPProtobuf})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := c.Send(ctx, spans(1)); !errors.Is(err, context.Canceled) || out.Done() != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestHeadersGzipTLS(t *testing.T) {
	t.Parallel()
	var seen http.Header
	srv := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header }))
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	tlsConfig, err := otlpsend.TLS(ca, "", "")
	if err != nil {
		t.Fatal(err)
	}
	cfg := otlpsend.Config{Endpoint: srv.URL, TLS: tlsConfig, Gzip: true, Headers: map[string]string{"x-key": "k"}}
	if got, err := send(t, cfg, 3); err != nil || got.Sent != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if seen.Get("X-Key") != "k" || seen.Get("Content-Encoding") != "gzip" || seen.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("headers %v", seen)
	}
	cfg.TLS, cfg.RetryFor = &tls.Config{MinVersion: tls.VersionTLS12}, time.Nanosecond
	if _, err := send(t, cfg, 1); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate nobody trusts: %v", err)
	}
	for _, bad := range [][3]string{{"missing.pem", "", ""}, {"client_test.go", "", ""}, {"", "client_test.go", "client_test.go"}} {
		if _, err := otlpsend.TLS(bad[0], bad[1], bad[2]); err == nil || !strings.HasPrefix(err.Error(), "otlpsend: ") {
			t.Errorf("TLS(%q): %v", bad, err)
		}
	}
}

// grpcServer answers with the errors one after the other, and then takes all.
type grpcServer struct {
	collectorpb.UnimplementedTraceServiceServer

	errs []error
	got  int
}

func (s *grpcServer) Export(_ context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return nil, err
	}
	for _, rs := range req.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			s.got += len(ss.GetSpans())
		}
	}
	return &collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "one"}}, nil
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	exhausted, err := status.New(codes.ResourceExhausted, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	long, err := status.New(codes.Unavailable, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	taken := otlpsend.Outcome{Sent: 3, Refused: 1, Reasons: []string{"one"}}
	for _, c := range []struct {
		name string
		errs []error
		want otlpsend.Outcome
		err  string
	}{
		{"taken", nil, taken, ""},
		{"later", []error{status.Error(codes.Unavailable, ""), exhausted.Err()}, otlpsend.Outcome{Sent: 3, Refused: 1, Retries: 2, Reasons: []string{"one"}}, ""},
		{"much later", []error{long.Err()}, otlpsend.Outcome{}, "otlpsend: no success within 1m0s: the receiver answered Unavailable: later"},
		{"bad", []error{status.Error(codes.InvalidArgument, "bad")}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered InvalidArgument: bad"}}, ""},
		{"exhausted", []error{status.Error(codes.ResourceExhausted, "quota")}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered ResourceExhausted: quota"}}, ""},
		{
			"too large",
			[]error{status.Error(codes.ResourceExhausted, "grpc: received message larger than max")},
			otlpsend.Outcome{Sent: 2, Refused: 2, Reasons: []string{"one"}},
			"",
		},
		{"who", []error{status.Error(codes.Unauthenticated, "who?")}, otlpsend.Outcome{}, "otlpsend: the receiver answered Unauthenticated: who?"},
	} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := grpc.NewServer()
		collectorpb.RegisterTraceServiceServer(srv, &grpcServer{errs: c.errs})
		go func() { _ = srv.Serve(listener) }()
		got, err := send(t, otlpsend.Config{Protocol: otlpsend.GRPC, Endpoint: "http://" + listener.Addr().String(), Gzip: true, Timeout: 30 * time.Second}, 4)
		srv.Stop()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}

func TestUnknownProtocol(t *testing.T) {
	t.Parallel()
	_, err := otlpsend.New(otlpsend.Config{Protocol: "thrift"})
	if err == nil || err.Error() != `otlpsend: protocol "thrift": want grpc, http/protobuf or http/json` {
		t.Error(err)
	}
}
