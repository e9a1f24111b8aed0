package capture_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// receiver is an OTLP backend that counts spans by name.
func receiver(t *testing.T) (srv *httptest.Server, spans *atomic.Int64) {
	t.Helper()
	spans = &atomic.Int64{}
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorpb.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, rs := range request.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				spans.Add(int64(len(ss.Spans)))
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(srv.Close)
	return srv, spans
}

// poster is an exporter that sends to the receiver at its URL.
type poster string

func (p poster) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, string(p), bytes.NewReader(sdkotlp.AppendProtoRequest(nil, spans)))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (poster) Shutdown(context.Context) error { return nil }

// 100 captures at once see their own spans each; the OTLP backend beside them
// gets all.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const captures, spans = 100, 20
	srv, received := receiver(t)
	exporter := poster(srv.URL)
	// The queue takes all of it: what is lost would not be captures' fault.
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, sdktrace.WithMaxQueueSize(2*captures*spans)))
	tracer := tp.Tracer("test")
	var wg sync.WaitGroup
	for i := range captures {
		wg.Go(func() {
			res, err := capture.Run(t.Context(), "block", func(ctx context.Context) error {
				var inner sync.WaitGroup
				for range 2 {
					inner.Go(func() {
						for range spans / 2 {
							_, s := tracer.Start(ctx, strings.Repeat("x", i+1))
							s.End()
						}
					})
				}
				inner.Wait()
				return nil
			}, capture.WithTracerProvider(tp))
			if err != nil || len(res.Spans()) != spans+1 {
				t.Errorf("capture %d: %d spans, %v", i, len(res.Spans()), err)
			}
			for _, s := range res.Spans()[1:] {
				if len(s.Name) != i+1 || s.TraceID != res.Root().TraceID || s.Open() {
					t.Errorf("capture %d has a span %+v", i, s)
				}
			}
		})
	}
	wg.Wait()
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := received.Load(); got != captures*(spans+1) {
		t.Errorf("the backend got %d spans, want %d", got, captures*(spans+1))
	}
}
