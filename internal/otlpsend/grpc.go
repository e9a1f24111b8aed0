//go:build !waymark_nootlp

package otlpsend

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

const exportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

type grpcTransport struct {
	conn    *grpc.ClientConn
	headers metadata.MD
	calls   []grpc.CallOption
}

func newGRPC(cfg Config) (transport, error) {
	u, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	port := "80"
	if u.Scheme == "https" {
		creds = credentials.NewTLS(cfg.TLS)
		port = "443"
	}
	host := u.Host
	if u.Port() == "" {
		host += ":" + port
	}
	conn, err := grpc.NewClient(host, grpc.WithTransportCredentials(creds), grpc.WithUserAgent("waymark"), grpc.WithDisableRetry())
	if err != nil {
		return nil, err
	}
	t := &grpcTransport{conn: conn, headers: metadata.New(cfg.Headers), calls: []grpc.CallOption{grpc.ForceCodec(rawCodec{})}}
	if cfg.Gzip {
		t.calls = append(t.calls, grpc.UseCompressor(gzip.Name))
	}
	return t, nil
}

func (t *grpcTransport) close() error { return t.conn.Close() }

// rawCodec sends and receives bytes that are encoded already.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("raw codec: %T", v)
	}
	return *b, nil
}

func (rawCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("raw codec: %T", v)
	}
	*b = append((*b)[:0], data...)
	return nil
}

func (t *grpcTransport) post(ctx context.Context, body []byte) reply {
	var answer []byte
	err := t.conn.Invoke(metadata.NewOutgoingContext(ctx, t.headers), exportMethod, &body, &answer, t.calls...)
	if err == nil {
		return partial(answer, false)
	}
	return grpcRefusal(status.Convert(err))
}

// grpcRefusal sorts the codes.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#failures
func grpcRefusal(s *status.Status) reply {
	r := reply{after: retryInfo(s), err: errRefused("the receiver answered "+s.Code().String(), s.Message())}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		r.retry = true
	case codes.ResourceExhausted:
		r.retry = r.after >= 0
		r.tooLarge = !r.retry && strings.Contains(s.Message(), "larger than max")
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
		r.fatal = true
	default:
		// About these spans.
	}
	return r
}

// retryInfo is the delay of a google.rpc.RetryInfo; negative: there is none.
func retryInfo(s *status.Status) time.Duration {
	for _, detail := range s.Proto().GetDetails() {
		if !strings.HasSuffix(detail.GetTypeUrl(), "/google.rpc.RetryInfo") {
			continue
		}
		for m := otlpproto.NewMessage(detail.GetValue()); m.Next(); {
			if m.Field == 1 {
				return protoDuration(m.Bytes())
			}
		}
		return 0
	}
	return -1
}

// protoDuration reads a google.protobuf.Duration of at most a day.
func protoDuration(b []byte) time.Duration {
	const day = 24 * 60 * 60
	var seconds, nanos int64
	for m := otlpproto.NewMessage(b); m.Next(); {
		switch m.Field {
		case 1:
			seconds = m.Int64()
		case 2:
			nanos = m.Int64()
		}
	}
	return time.Duration(min(max(seconds, 0), day))*time.Second + time.Duration(min(max(nanos, 0), 1e9))
}
