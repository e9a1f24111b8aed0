package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// receiver is a real OTLP receiver in the test's process.
type receiver struct {
	collectorpb.UnimplementedTraceServiceServer

	mu       sync.Mutex
	requests int
	failures int    // first requests that are answered with 503
	refuse   string // spans of this name are refused
	die      int    // requests after which the receiver answers 401 (0: never)
	page     bool   // a web page answers, which repeats a header
	got      []*tracepb.ResourceSpans
	headers  map[string]string
}

// take keeps a request and says how many spans it refused.
func (r *receiver) take(req *collectorpb.ExportTraceServiceRequest, header func(string) string) (rejected int64, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if r.requests <= r.failures {
		return 0, http.StatusServiceUnavailable
	}
	if r.die > 0 && r.requests > r.die {
		return 0, http.StatusUnauthorized
	}
	r.headers = map[string]string{"x-key": header("x-key"), "content-encoding": header("content-encoding")}
	for _, rs := range req.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			kept := ss.Spans[:0]
			for _, span := range ss.GetSpans() {
				if span.GetName() == r.refuse {
					rejected++
				} else {
					kept = append(kept, span)
				}
			}
			ss.Spans = kept
		}
	}
	r.got = append(r.got, req.GetResourceSpans()...)
	return rejected, http.StatusOK
}

func (r *receiver) Export(ctx context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	rejected, code := r.take(req, func(key string) string { return strings.Join(md.Get(key), "") })
	switch code {
	case http.StatusServiceUnavailable:
		return nil, status.Error(codes.Unavailable, "not yet")
	case http.StatusUnauthorized:
		return nil, status.Error(codes.Unauthenticated, "who?")
	}
	return response(rejected), nil
}

func response(rejected int64) *collectorpb.ExportTraceServiceResponse {
	out := &collectorpb.ExportTraceServiceResponse{}
	if rejected > 0 {
		out.PartialSuccess = &collectorpb.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: "not \x1b[31mthese"}
	}
	return out
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.isPage() {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<html><title>Jaeger UI %s</title></html>", req.Header.Get("X-Key"))
		return
	}
	body, _ := io.ReadAll(req.Body)
	in := &collectorpb.ExportTraceServiceRequest{}
	isJSON := req.Header.Get("Content-Type") == "application/json"
	err := proto.Unmarshal(body, in)
	if isJSON {
		// The Collector's decoder knows OTLP's JSON, which protojson does not.
		r := ptraceotlp.NewExportRequest()
		if err = r.UnmarshalJSON(body); err == nil {
			body, _ = r.MarshalProto()
			err = proto.Unmarshal(body, in)
		}
	}
	if err != nil || req.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(req.URL.Path, err), http.StatusBadRequest)
		return
	}
	rejected, code := r.take(in, req.Header.Get)
	if code != http.StatusOK {
		w.Header().Set("Retry-After", "0")
		http.Error(w, "no", code)
		return
	}
	if isJSON {
		w.Header().Set("Content-Type", "application/json")
		if rejected > 0 {
			fmt.Fprintf(w, `{"partialSuccess":{"rejectedSpans":"%d","errorMessage":"not these"}}`, rejected)
			return
		}
		fmt.Fprint(w, "{}")
		return
	}
	out, _ := proto.Marshal(response(rejected))
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

func (r *receiver) isPage() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.page
}

type receiverKey struct{}

// collector is a command of the scripts:
//
//	collector start http|grpc [fail=N] [refuse=NAME] [die=N] [page=1]   sets $ENDPOINT
//	collector again                                            no longer dies, nor is a page
//	collector dump FILE                                        what arrived, as OTLP protobuf
//	collector requests N                                       so many came
//	collector header NAME VALUE                                of the last one
func collector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("collector: usage")
	}
	r, _ := ts.Value(receiverKey{}).(*holder)
	switch args[0] {
	case "start":
		r.receiver = &receiver{}
		for _, a := range args[2:] {
			key, value, _ := strings.Cut(a, "=")
			n, _ := strconv.Atoi(value)
			switch key {
			case "fail":
				r.failures = n
			case "refuse":
				r.refuse = value
			case "die":
				r.die = n
			case "page":
				r.page = n > 0
			}
		}
		ts.Setenv("ENDPOINT", r.start(ts, args[1]))
	case "again":
		r.mu.Lock()
		defer r.mu.Unlock()
		r.die, r.page = 0, false
	case "dump":
		r.mu.Lock()
		defer r.mu.Unlock()
		b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: r.got})
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
	case "requests":
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := strconv.Itoa(r.requests); got != args[1] {
			ts.Fatalf("%s requests, want %s", got, args[1])
		}
	case "header":
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := r.headers[args[1]]; got != args[2] {
			ts.Fatalf("header %s is %q, want %q", args[1], got, args[2])
		}
	}
}

// holder is what a script holds from its setup on.
type holder struct{ *receiver }

func (r *receiver) start(ts *testscript.TestScript, protocol string) string {
	if protocol == "http" {
		srv := httptest.NewServer(r)
		ts.Defer(srv.Close)
		return srv.URL
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "localhost:0")
	ts.Check(err)
	if r.page {
		srv := &http.Server{Handler: r, Protocols: new(http.Protocols)}
		srv.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = srv.Serve(listener) }()
		ts.Defer(func() { _ = srv.Close() })
		return "http://" + listener.Addr().String()
	}
	srv := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(srv, r)
	go func() { _ = srv.Serve(listener) }()
	ts.Defer(srv.Stop)
	return "http://" + listener.Addr().String()
}

// schema is a command of the scripts: schema FILE NAME fails unless the file is
// one JSON object of the schema.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	var doc struct{ Schema string }
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil || neg || doc.Schema != args[1] {
		ts.Fatalf("schema %q, %v; want %q", doc.Schema, err, args[1])
	}
}
