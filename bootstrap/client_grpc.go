//go:build !waymark_nootlp

package bootstrap

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/waymark-trace/waymark/env"
)

// userAgent names the exporter to a backend.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/protocol/exporter.md#user-agent
const userAgent = "Waymark-OTLP-Exporter-Go"

// grpcClient sends spans over gRPC. It takes the place of OpenTelemetry's client
// (otlptracegrpc), which reads OTEL_EXPORTER_OTLP_* from the process whatever
// its options say, and reports what it cannot parse, in clear, to otel's logger.
type grpcClient struct {
	conn    *grpc.ClientConn
	service collectorpb.TraceServiceClient
	headers metadata.MD
	timeout time.Duration // of one export, with its retries; 0: none

	stopped context.Context //nolint:containedctx // ends every export alike
	stop    context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

var _ otlptrace.Client = (*grpcClient)(nil)

func newGRPCExporter(o env.OTLP, u *url.URL, tlsConfig *tls.Config, headers map[string]string) (sdktrace.SpanExporter, error) {
	creds := insecure.NewCredentials()
	if tlsConfig != nil {
		creds = credentials.NewTLS(tlsConfig)
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithUserAgent(userAgent),
		grpc.WithChainUnaryInterceptor(watchAttempt),
	}
	if o.Compression.V == "gzip" {
		opts = append(opts, grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name)))
	}
	conn, err := grpc.NewClient(u.Host, opts...) // it connects later
	if err != nil {
		return nil, err
	}
	c := &grpcClient{
		conn: conn, service: collectorpb.NewTraceServiceClient(conn),
		headers: metadata.New(headers), timeout: o.Timeout.V,
	}
	c.stopped, c.stop = context.WithCancel(context.Background())
	return otlptrace.New(context.Background(), c)
}

// Start does nothing: the first export connects.
func (c *grpcClient) Start(context.Context) error { return nil }

// Stop waits for the exports that run, and cuts them when ctx ends.
func (c *grpcClient) Stop(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	defer context.AfterFunc(ctx, c.stop)()
	c.running.Wait()
	c.stop()
	return c.conn.Close()
}

// UploadTraces exports one batch. It tries again what may succeed then.
func (c *grpcClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	if !c.begin() {
		return errStopped
	}
	defer c.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stopped, cancel)() //nolint:contextcheck // both contexts end it
	if c.timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, errExportTimeout)
		defer cancel()
	}
	ctx = metadata.NewOutgoingContext(ctx, c.headers)
	request := &collectorpb.ExportTraceServiceRequest{ResourceSpans: spans}
	return retry(ctx, func() (bool, time.Duration, error) {
		answer, err := c.service.Export(ctx, request)
		if err != nil {
			again, after := grpcVerdict(status.Convert(err))
			return again, after, err
		}
		if p := answer.GetPartialSuccess(); p.GetRejectedSpans() != 0 || p.GetErrorMessage() != "" {
			return false, 0, rejectedError{p.GetRejectedSpans(), p.GetErrorMessage()}
		}
		return false, 0, nil
	})
}

// begin says that an export runs; false: Stop came before.
func (c *grpcClient) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
}

// rejectedError is the answer of a backend that took the others of a batch.
type rejectedError struct {
	RejectedItems int64 // as OpenTelemetry's exporters name it
	message       string
}

func (e rejectedError) Error() string {
	return fmt.Sprintf("OTLP partial success: %s (%d spans rejected)", e.message, e.RejectedItems)
}

// grpcVerdict says whether a call may be made again, and after what time at
// least.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#failures
func grpcVerdict(s *status.Status) (again bool, after time.Duration) {
	told := false
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			told, after = true, info.GetRetryDelay().AsDuration()
		}
	}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		return true, after
	case codes.ResourceExhausted: // only when the backend says that it will recover
		return told, after
	default:
		return false, 0
	}
}
