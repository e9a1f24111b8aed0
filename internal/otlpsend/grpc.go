//go:build !waymark_nootlp

package otlpsend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

const exportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

type grpcTransport struct {
	conn    *grpc.ClientConn
	headers metadata.MD
	show    redactor
	calls   []grpc.CallOption
}

func newGRPC(cfg Config) (transport, error) {
	u, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if u.Scheme == "https" {
		creds = credentials.NewTLS(cfg.TLS)
	}
	conn, err := grpc.NewClient(
		u.Host,
		grpc.WithTransportCredentials(creds),
		grpc.WithUserAgent(userAgent),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithStatsHandler(callWatcher{}),
		grpc.WithConnectParams(grpc.ConnectParams{
			// Else it would not look for two minutes, in the end.
			Backoff:           backoff.Config{BaseDelay: cfg.Backoff, Multiplier: 1.6, Jitter: 0.2, MaxDelay: cfg.MaxBackoff},
			MinConnectTimeout: dialTimeout,
		}),
	)
	if err != nil {
		return nil, err
	}
	t := &grpcTransport{conn: conn, headers: metadata.New(cfg.Headers), show: cfg.Redact, calls: []grpc.CallOption{
		grpc.ForceCodec(rawCodec{}), grpc.MaxCallRecvMsgSize(maxAnswerBytes),
	}}
	if cfg.Gzip {
		t.calls = append(t.calls, grpc.UseCompressor(gzip.Name))
	}
	return t, nil
}

func (t *grpcTransport) close() error { return t.conn.Close() }

// call is one request and how far it got.
type call struct {
	body  []byte
	tries *Tries

	left     bool        // it was encoded, which gRPC does when it has a connection
	answered atomic.Bool // the receiver began an answer
	over     atomic.Bool // and ended it, with a status
}

type callKey struct{}

// rawCodec sends and receives bytes that are encoded already.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	c, ok := v.(*call)
	if !ok {
		return nil, fmt.Errorf("raw codec: %T", v)
	}
	c.left = true
	c.tries.Leave()
	return c.body, nil
}

func (rawCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("raw codec: %T", v)
	}
	*b = append((*b)[:0], data...)
	return nil
}

// callWatcher tells what the receiver sent from what gRPC says in its place.
type callWatcher struct{}

func (callWatcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (callWatcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (callWatcher) HandleConn(context.Context, stats.ConnStats)                       {}

func (callWatcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	c, _ := ctx.Value(callKey{}).(*call)
	switch s.(type) {
	case *stats.InHeader:
		c.answered.Store(true)
	case *stats.InTrailer:
		c.over.Store(true)
	}
}

func (t *grpcTransport) post(ctx context.Context, body []byte, tries *Tries) reply {
	c := &call{body: body, tries: tries}
	var got []byte
	callCtx := context.WithValue(metadata.NewOutgoingContext(ctx, t.headers), callKey{}, c)
	err := t.conn.Invoke(callCtx, exportMethod, c, &got, t.calls...)
	if err == nil {
		return t.show.success("application/grpc", got)
	}
	s := status.Convert(err)
	switch {
	case !c.left:
		return t.unreached(ctx, s, tries)
	case c.answered.Load() && s.Code() == codes.ResourceExhausted && saysTooLarge(s.Message()):
		return reply{verdict: hopeless, uncertain: true, err: errAnswerTooLarge()}
	case c.over.Load():
		return t.refusal(s)
	}
	if a, ok := notGRPC(s.Message()); ok {
		if a.code == http.StatusOK {
			return reply{verdict: hopeless, err: t.show.noAnswer(a.contentType(), a.body)}
		}
		return t.show.refusal(a)
	}
	return reply{verdict: later, after: -1, uncertain: true, err: fmt.Errorf("no answer: %w", t.cause(ctx, s))}
}

// cause is the end of the context, or what gRPC says about the connection.
func (t *grpcTransport) cause(ctx context.Context, s *status.Status) error {
	return causeOf(ctx, errors.New(t.show.text(s.Message(), maxMessage)))
}

// unreached is the end of a request that got no connection.
func (t *grpcTransport) unreached(ctx context.Context, s *status.Status, tries *Tries) reply {
	r := reply{verdict: later, after: -1, err: t.cause(ctx, s)}
	switch {
	case isEnded(ctx):
		return r
	case strings.Contains(s.Message(), "looked like an HTTP/1.1 header"):
		r.verdict, r.err = hopeless, errors.New("what answers there speaks HTTP/1 and no gRPC; its protocol may be "+HTTPProtobuf)
	case s.Code() != codes.Unavailable && ctx.Err() == nil:
		r.verdict = hopeless // such as a header that cannot be sent
	}
	tries.unreached(r.err)
	return r
}

// refusal sorts the codes.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#failures
func (t *grpcTransport) refusal(s *status.Status) reply {
	message := t.show.text(s.Message(), maxMessage)
	r := reply{verdict: refused, after: retryInfo(s), err: errAnswered(s.Code().String(), message)}
	switch code := s.Code(); {
	case saysTooLarge(message):
		r.verdict = tooLarge
	case code == codes.Canceled, code == codes.DeadlineExceeded:
		// The receiver did not wait for its own end.
		r.verdict, r.uncertain = later, true
	case code == codes.Aborted, code == codes.OutOfRange, code == codes.Unavailable, code == codes.DataLoss,
		code == codes.ResourceExhausted && r.after >= 0:
		r.verdict = later
	case code == codes.Internal && strings.HasPrefix(message, "cardinality violation"):
		r.verdict, r.uncertain = hopeless, true
		r.err = errors.New("no OTLP receiver answers there: it said OK without an answer")
	case code == codes.Unauthenticated, code == codes.PermissionDenied, code == codes.Unimplemented:
		r.verdict = hopeless
	}
	return r
}

// notGRPC reads gRPC's message about an answer of HTTP/2 that is none of gRPC:
//
//	unexpected HTTP status code received from server: 200 (OK); transport: received unexpected content-type "text/html"
//	data: "<html>…"
func notGRPC(message string) (a answer, ok bool) {
	rest, ok := strings.CutPrefix(message, "unexpected HTTP status code received from server: ")
	if !ok {
		return a, false
	}
	number, rest, _ := strings.Cut(rest, " ")
	code, err := strconv.Atoi(number)
	if err != nil {
		return a, false
	}
	a = answer{code: code, status: number + " " + http.StatusText(code), header: http.Header{}}
	rest, data, _ := strings.Cut(rest, "\ndata: ")
	if _, quoted, found := strings.Cut(rest, "content-type "); found {
		contentType, _ := strconv.Unquote(quoted) // else none
		a.header.Set("Content-Type", contentType)
	}
	page, _ := strconv.Unquote(data) // else none
	a.body = []byte(page)
	return a, true
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
