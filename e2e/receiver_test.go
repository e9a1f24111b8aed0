package e2e_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// reply is what a moody receiver says to a request.
type reply struct {
	status     int           // as HTTP has it
	retryAfter time.Duration // whole seconds
	rejected   int           // of a request that is taken: partial success
}

// receiver says to the exporters what a real Collector cannot be brought to
// say at will.
type receiver struct {
	ptraceotlp.UnimplementedGRPCServer

	grpc, http string // addresses
	answer     func(request, spans int) reply

	mu       sync.Mutex
	requests int
	rejected int
	taken    spanSet // of the requests that were taken
	times    []time.Time
}

// newReceiver listens for both protocols on free ports.
func newReceiver(t *testing.T, answer func(request, spans int) reply) *receiver {
	t.Helper()
	r := &receiver{answer: answer, taken: spanSet{}}
	web := httptest.NewServer(http.HandlerFunc(r.serveHTTP))
	t.Cleanup(web.Close)
	r.http = strings.TrimPrefix(web.URL, "http://")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.grpc = ln.Addr().String()
	srv := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(srv, r)
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(srv.Stop)
	return r
}

func (r *receiver) address(protocol string) string {
	if protocol == "grpc" {
		return r.grpc
	}
	return r.http
}

// take decides about a request.
func (r *receiver) take(req ptraceotlp.ExportRequest) reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.answer(r.requests, req.Traces().SpanCount())
	r.requests++
	r.times = append(r.times, time.Now())
	if said.status == http.StatusOK {
		r.taken.add(req.Traces())
		r.rejected += said.rejected
	}
	return said
}

// state is how many requests came, how many spans were taken and rejected, and
// when the requests came.
func (r *receiver) state() (requests, taken, rejected int, times []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests, len(r.taken) - r.rejected, r.rejected, r.times
}

func (r *receiver) serveHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req, isJSON := ptraceotlp.NewExportRequest(), hr.Header.Get("Content-Type") == "application/json"
	if isJSON {
		err = req.UnmarshalJSON(body)
	} else {
		err = req.UnmarshalProto(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := r.take(req)
	if said.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(said.retryAfter.Seconds())))
	}
	if said.status != http.StatusOK {
		w.WriteHeader(said.status)
		return
	}
	resp := response(said)
	w.Header().Set("Content-Type", hr.Header.Get("Content-Type"))
	if isJSON {
		body, _ = resp.MarshalJSON()
	} else {
		body, _ = resp.MarshalProto()
	}
	_, _ = w.Write(body)
}

func response(said reply) ptraceotlp.ExportResponse {
	resp := ptraceotlp.NewExportResponse()
	if said.rejected > 0 {
		resp.PartialSuccess().SetRejectedSpans(int64(said.rejected))
		resp.PartialSuccess().SetErrorMessage("no room for some")
	}
	return resp
}

// Export is the gRPC service.
func (r *receiver) Export(_ context.Context, req ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	said := r.take(req)
	switch said.status {
	case http.StatusOK:
		return response(said), nil
	case http.StatusUnauthorized:
		return ptraceotlp.NewExportResponse(), status.Error(codes.Unauthenticated, "who are you")
	case http.StatusTooManyRequests:
		s, err := status.New(codes.ResourceExhausted, "slow down").
			WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(said.retryAfter)})
		if err != nil {
			return ptraceotlp.NewExportResponse(), err
		}
		return ptraceotlp.NewExportResponse(), s.Err()
	}
	// 413: without RetryInfo it is final.
	return ptraceotlp.NewExportResponse(), status.Error(codes.ResourceExhausted, "too large")
}
