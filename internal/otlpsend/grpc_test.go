//go:build !waymark_nootlp

package otlpsend_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waymark-trace/waymark/internal/otlpsend"
)

func partialOne(context.Context, int) (*collectorpb.ExportTraceServiceResponse, error) {
	return &collectorpb.ExportTraceServiceResponse{
		PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "one"},
	}, nil
}

func TestGRPCStatuses(t *testing.T) {
	t.Parallel()
	retryIn := func(code codes.Code, d time.Duration) error {
		s, err := status.New(code, "busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
		if err != nil {
			t.Fatal(err)
		}
		return s.Err()
	}
	taken := otlpsend.Outcome{Sent: 3, Refused: 1, Reasons: []string{"one"}}
	halves := otlpsend.Outcome{Sent: 2, Refused: 2, Reasons: []string{"one"}}
	for _, c := range []struct {
		name string
		errs []error // of the first requests; the others are taken
		want otlpsend.Outcome
		err  string
	}{
		{"taken", nil, taken, ""},
		{"later", []error{status.Error(codes.Unavailable, ""), retryIn(codes.ResourceExhausted, time.Millisecond)}, otlpsend.Outcome{Sent: 3, Refused: 1, Retries: 2, Reasons: []string{"one"}}, ""},
		{"much later", []error{retryIn(codes.Unavailable, time.Hour)}, otlpsend.Outcome{}, "no success within 1m0s: the receiver answered Unavailable: busy"},
		{"no time", []error{retryIn(codes.DeadlineExceeded, time.Hour)}, otlpsend.Outcome{Uncertain: 4}, "no success within 1m0s: the receiver answered DeadlineExceeded: busy"},
		{"bad", []error{status.Error(codes.InvalidArgument, "bad")}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered InvalidArgument: bad"}}, ""},
		{"internal", []error{status.Error(codes.Internal, "bug")}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered Internal: bug"}}, ""},
		{"exhausted", []error{status.Error(codes.ResourceExhausted, "quota")}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered ResourceExhausted: quota"}}, ""},
		{"who", []error{status.Error(codes.Unauthenticated, "who?")}, otlpsend.Outcome{}, "the receiver answered Unauthenticated: who?"},
		{"too large, Go", []error{status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")}, halves, ""},
		{"too large, Java", []error{status.Error(codes.ResourceExhausted, "gRPC message exceeds maximum size 4194304: 5000000")}, halves, ""},
		{"too large, Python", []error{status.Error(codes.ResourceExhausted, "CLIENT: Received message larger than max (5 vs. 4)")}, halves, ""},
		{"too large, .NET", []error{status.Error(codes.ResourceExhausted, "Received message exceeds the maximum configured message size.")}, halves, ""},
		{"too large, Rust", []error{status.Error(codes.OutOfRange, "Error, decoded message length too large: found 5 bytes, the limit is: 4 bytes")}, halves, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _, _ := serveGRPC(t, func(ctx context.Context, request int) (*collectorpb.ExportTraceServiceResponse, error) {
				if request <= len(c.errs) {
					return nil, c.errs[request-1]
				}
				return partialOne(ctx, request)
			})
			got, err := send(t, otlpsend.Config{Protocol: otlpsend.GRPC, Endpoint: url, Gzip: true, Timeout: 30 * time.Second}, 4)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcome -want +got\n%s", diff)
			}
			wantError(t, c.name, err, c.err)
		})
	}
}

// A real server that refuses a message for its size gets halves, until it takes
// them or one span is left.
func TestGRPCServerWithALimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit int
		want  otlpsend.Outcome
		sizes []int // of those that came to the handler
	}{
		{"of two spans", 20, otlpsend.Outcome{Sent: 4}, []int{2, 2}},
		{"of nothing", 4, otlpsend.Outcome{Refused: 4, TooLarge: 4}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, sizes, _ := serveGRPC(t, func(context.Context, int) (*collectorpb.ExportTraceServiceResponse, error) {
				return &collectorpb.ExportTraceServiceResponse{}, nil
			}, grpc.MaxRecvMsgSize(c.limit))
			got, err := send(t, otlpsend.Config{Protocol: otlpsend.GRPC, Endpoint: url}, 4)
			if len(got.Reasons) > 1 {
				t.Errorf("reasons %q: one is enough", got.Reasons)
			}
			got.Reasons = nil
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v, outcome -want +got\n%s", err, diff)
			}
			if diff := cmp.Diff(c.sizes, sizes.get()); diff != "" {
				t.Errorf("spans per request -want +got\n%s", diff)
			}
		})
	}
}

func TestGRPCHeaders(t *testing.T) {
	t.Parallel()
	var key, agent []string
	url, _, _ := serveGRPC(t, func(ctx context.Context, request int) (*collectorpb.ExportTraceServiceResponse, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		key, agent = md.Get("x-key"), md.Get("user-agent")
		return partialOne(ctx, request)
	})
	if _, err := send(t, otlpsend.Config{Protocol: otlpsend.GRPC, Endpoint: url, Headers: map[string]string{"X-Key": "k"}}, 2); err != nil {
		t.Fatal(err)
	}
	if len(key) != 1 || key[0] != "k" || len(agent) != 1 || !strings.HasPrefix(agent[0], "waymark") {
		t.Errorf("x-key %q, user-agent %q", key, agent)
	}
}

// serveH2C serves HTTP/2 without TLS that is not gRPC's server.
func serveH2C(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.URL
}

// What answers a gRPC call and is no OTLP receiver has taken nothing.
func TestGRPCAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	const none = "no OTLP receiver answers there: "
	write := func(header map[string]string, code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	page := "<html><title>Jaeger UI</title>" + strings.Repeat(" ", 5000)
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    otlpsend.Outcome
		err     string
	}{
		{"web page", write(contentType("text/html"), 200, page), otlpsend.Outcome{}, none + `it sent text/html page titled "Jaeger UI"`},
		{"JSON", write(contentType("application/json"), 200, `{}`), otlpsend.Outcome{}, none + `it sent application/json "{}"`},
		{"nothing", write(contentType("text/plain"), 200, ""), otlpsend.Outcome{}, none + "it sent text/plain, and nothing in it"},
		{"trailers only", write(map[string]string{"Content-Type": "application/grpc", "Grpc-Status": "0"}, 200, ""), otlpsend.Outcome{Uncertain: 4}, none + "it said OK without an answer"},
		{"message that is none", write(map[string]string{"Content-Type": "application/grpc", "Trailer:Grpc-Status": "0"}, 200, "\x00\x00\x00\x00\x02hi"), otlpsend.Outcome{Uncertain: 4}, none + `it sent application/grpc "hi"`},
		{"another service", write(map[string]string{"Content-Type": "application/grpc", "Grpc-Status": "12", "Grpc-Message": "unknown service"}, 200, ""), otlpsend.Outcome{}, "the receiver answered Unimplemented: unknown service"},
		{"page that is an error", write(contentType("text/html"), 404, "<title>Not here</title>"), otlpsend.Outcome{}, "the receiver answered 404 Not Found: Not here"},
		{"gateway without an answer", write(nil, 502, ""), otlpsend.Outcome{Uncertain: 4}, "no success within 1ns: the receiver answered 502 Bad Gateway"},
		{"proxy with a limit", write(contentType("text/html"), 413, ""), otlpsend.Outcome{Refused: 4, TooLarge: 4, Reasons: []string{"the receiver answered 413 Request Entity Too Large"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := send(t, otlpsend.Config{Protocol: otlpsend.GRPC, Endpoint: serveH2C(t, c.handler), RetryFor: 1}, 4)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcome -want +got\n%s", diff)
			}
			wantError(t, c.name, err, c.err)
		})
	}
}
