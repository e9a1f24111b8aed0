//go:build !waymark_nootlp

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/otlpsend"
	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

// otlpBuiltIn says that this binary has the OTLP exporters.
const otlpBuiltIn = true

// Retries of one request. The batch processor's export timeout bounds them too.
const (
	retryFirst = time.Second
	retryMost  = 10 * time.Second
	retryFor   = time.Minute
)

// otlpSender sends to an OTLP endpoint.
type otlpSender struct {
	client *otlpsend.Client
	encode func(b []byte, spans []sdktrace.ReadOnlySpan) []byte
}

// newOTLPSender prepares the client, which connects later. It reads nothing from
// the environment but the proxy's variables: those are the process's, as for every
// other request.
func newOTLPSender(o env.OTLP, redact func(string) string) (sender, error) {
	cfg := otlpsend.Config{
		Endpoint: o.Endpoint.V, Protocol: o.Protocol.V,
		Headers: make(map[string]string, len(o.Headers.V)),
		Gzip:    o.Compression.V == "gzip",
		Timeout: o.Timeout.V,
		Backoff: retryFirst, MaxBackoff: retryMost, RetryFor: retryFor,
		Redact: redact,
	}
	for _, p := range o.Headers.V {
		cfg.Headers[p.Key] = p.Value
	}
	var err error
	if strings.HasPrefix(o.Endpoint.V, "https://") {
		if cfg.TLS, err = otlpsend.TLS(fileOf(o.Certificate), fileOf(o.ClientCertificate), fileOf(o.ClientKey)); err != nil {
			return nil, err
		}
	}
	s := &otlpSender{encode: sdkotlp.AppendProtoRequest}
	if o.Protocol.V == otlpsend.HTTPJSON {
		s.encode = sdkotlp.AppendJSONRequest
	}
	s.client, err = otlpsend.New(cfg)
	return s, err
}

func fileOf(v env.Value[string]) otlpsend.File { return otlpsend.File{Name: v.Key, Path: v.V} }

func (s *otlpSender) send(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) result {
	out, err := s.client.Send(ctx, len(spans), func(from, to int) ([]byte, error) {
		return s.encode(nil, spans[from:to]), nil
	}, t)
	r := result{failed: len(spans) - int(out.Sent), uncertain: int(out.Uncertain)}
	switch r.err = whyRefused(out); {
	case r.err == nil:
		r.err = err
	case err != nil:
		r.err = fmt.Errorf("%w; %w", r.err, err)
	}
	return r
}

// whyRefused is what the receiver said, also about spans that it took all the same.
func whyRefused(out otlpsend.Outcome) error {
	text := strings.Join(out.Reasons, "; ")
	switch {
	case out.TooLarge > 0:
		return fmt.Errorf("a span alone is larger than the receiver takes (%s limits the length of its attributes): %s",
			env.KeySpanAttributeValueLength, text)
	case text != "":
		return errors.New(text)
	case out.Refused > 0:
		return errors.New("the receiver refused spans and did not say why")
	}
	return nil
}

func (s *otlpSender) Shutdown(context.Context) error { return s.client.Close() }
