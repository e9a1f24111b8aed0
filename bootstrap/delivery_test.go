//go:build !waymark_nootlp

package bootstrap_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/waymark-trace/waymark/env"
)

// served starts an HTTP server, over HTTP/2 without TLS for gRPC, and returns the
// variables that name it.
func served(t *testing.T, protocol string, h http.HandlerFunc) env.Map {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	if protocol == "grpc" {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
}

var protocols = []string{"grpc", "http/protobuf", "http/json"}

// A web page answers every request with 200. It has taken no span, and the log says
// what it is, without the secrets in it.
func TestWebPageHasTakenNothing(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			vars := served(t, protocol, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = fmt.Fprintf(w, "<!doctype html><title>Jaeger UI for %s</title>", r.Header.Get("X-Key"))
			})
			vars["OTEL_EXPORTER_OTLP_HEADERS"] = "x-key=s3cr3t-of-mine"
			tracing, out := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 10)
			err := shutdown(t, tracing)
			if err == nil || !strings.Contains(err.Error(), `it sent text/html page titled "Jaeger UI for ***"`) {
				t.Errorf("Shutdown: %v", err)
			}
			if d := tracing.Report().Destinations[0]; d.Failed != 10 || d.Uncertain != 0 {
				t.Errorf("account: %s", d)
			}
			if l := out.lines(t, "spans not exported"); len(l) != 1 || l[0]["may_have_arrived"] != false || strings.Contains(out.String(), "s3cr3t") {
				t.Errorf("log: %s", out)
			}
		})
	}
}

// A backend whose connection breaks when the spans have left may have them.
func TestBrokenConnectionIsUncertain(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			vars := served(t, protocol, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				panic(http.ErrAbortHandler)
			})
			vars["OTEL_BSP_EXPORT_TIMEOUT"] = "3000" // else it is tried for 30 s
			tracing, out := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 10)
			if err := shutdown(t, tracing); err == nil || !strings.Contains(err.Error(), "no answer: ") {
				t.Errorf("Shutdown: %v", err)
			}
			if d := tracing.Report().Destinations[0]; d.Failed != 10 || d.Uncertain != 10 {
				t.Errorf("account: %s", d)
			}
			if l := out.lines(t, "spans not exported"); len(l) != 1 || l[0]["may_have_arrived"] != true {
				t.Errorf("log: %s", out)
			}
		})
	}
}

// limited starts a receiver that takes requests up to a size.
func limited(t *testing.T, protocol string, limit int) (*received, env.Map) {
	t.Helper()
	if protocol != "grpc" {
		got := &received{}
		handler := httpHandler(t, got, takeAll)
		return got, served(t, protocol, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > int64(limit) {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			handler.ServeHTTP(w, r)
		})
	}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got := &received{}
	srv := grpc.NewServer(grpc.MaxRecvMsgSize(limit))
	collector.RegisterTraceServiceServer(srv, &grpcService{got: got, reply: takeAll})
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(srv.Stop)
	return got, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + ln.Addr().String(), "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
}

// A batch of large spans arrives in requests that the receiver takes; a span that is
// too large alone is counted, and told with the variable that helps.
func TestLargeSpansArrive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		limit        int
		sizes        []int // of the spans' attribute
		lost         uint64
		requestsMost int64
	}{
		{name: "a batch above gRPC's limit", limit: 4 << 20, sizes: repeat(512, 10_000), requestsMost: 6},
		{name: "a proxy of 100 kB", limit: 100_000, sizes: repeat(40, 10_000), requestsMost: 12},
		{name: "one too large", limit: 100_000, sizes: []int{10, 10, 200_000, 10, 10}, lost: 1, requestsMost: 12},
	} {
		for _, protocol := range protocols {
			t.Run(c.name+" "+protocol, func(t *testing.T) {
				t.Parallel()
				got, vars := limited(t, protocol, c.limit)
				tracing, out := start(t, vars)
				for _, size := range c.sizes {
					_, s := tracing.TracerProvider().Tracer("t").Start(t.Context(), "s", trace.WithAttributes(attribute.String("k", strings.Repeat("x", size))))
					s.End()
				}
				err := shutdown(t, tracing)
				d := tracing.Report().Destinations[0]
				want := uint64(len(c.sizes)) - c.lost
				if uint64(got.count()) != want || d.Exported != want || d.Failed != c.lost || d.Uncertain != 0 {
					t.Errorf("%d spans arrived, want %d; account: %s", got.count(), want, d)
				}
				if n := got.requests.Load(); n > c.requestsMost {
					t.Errorf("%d requests, want at most %d", n, c.requestsMost)
				}
				hint := strings.Contains(out.String(), "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT")
				if (c.lost > 0) != hint || (c.lost > 0) != (err != nil) {
					t.Errorf("Shutdown: %v, log: %s", err, out)
				}
			})
		}
	}
}

func repeat(n, size int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

// A backend that hangs costs a bounded memory, whatever the size of spans.
func TestHangingBackendIsBoundedInBytes(t *testing.T) {
	over := make(chan struct{})
	vars := served(t, "http/protobuf", func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) }) // before the server's end, which waits for it
	tracing, _ := start(t, vars)
	tracer := tracing.TracerProvider().Tracer("t")
	for range 1000 { // of 256 MiB
		_, s := tracer.Start(t.Context(), "s", trace.WithAttributes(attribute.String("k", strings.Repeat("x", 256<<10))))
		s.End()
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	// 64 MiB of spans, and what the tests beside this one hold.
	if m.HeapAlloc > 150<<20 {
		t.Errorf("%d MiB are held", m.HeapAlloc>>20)
	}
	d := tracing.Report().Destinations[0]
	if d.Queued < 200 || d.Queued > 256 || d.Dropped+d.Queued != 1000 {
		t.Errorf("account: %s", d)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := tracing.Shutdown(ctx); err == nil {
		t.Error("Shutdown: no error although everything was lost")
	}
	<-stopped(tracing)
	balance(t, tracing.Report())
}
