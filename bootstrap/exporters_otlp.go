//go:build !waymark_nootlp

package bootstrap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/waymark-trace/waymark/env"
)

// otlpBuiltIn says that this binary has the OTLP exporters.
const otlpBuiltIn = true

// newOTLPExporter builds the exporter. Every setting is passed in code, also the
// empty ones: OpenTelemetry's HTTP exporter reads the process's variables itself,
// and lets INSECURE beat https.
func newOTLPExporter(o env.OTLP) (sdktrace.SpanExporter, error) {
	u, err := url.Parse(o.Endpoint.V)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := newTLSConfig(o, u)
	if err != nil {
		return nil, err
	}
	headers := make(map[string]string, len(o.Headers.V))
	for _, p := range o.Headers.V {
		headers[p.Key] = p.Value
	}
	if o.Protocol.V == "grpc" {
		return newGRPCExporter(o, u, tlsConfig, headers)
	}
	return newHTTPExporter(o, u, tlsConfig, headers)
}

func newHTTPExporter(o env.OTLP, u *url.URL, tlsConfig *tls.Config, headers map[string]string) (sdktrace.SpanExporter, error) {
	encoding := otlptracehttp.EncodingProtobuf
	if o.Protocol.V == "http/json" {
		encoding = otlptracehttp.EncodingJSON
	}
	compression := otlptracehttp.NoCompression
	if o.Compression.V == "gzip" {
		compression = otlptracehttp.GzipCompression
	}
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       tlsConfig,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          2,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	exp, err := otlptracehttp.New(
		context.Background(), // it connects later
		otlptracehttp.WithEndpointURL(u.String()),
		otlptracehttp.WithTLSClientConfig(nil), // ours is in the client
		otlptracehttp.WithHTTPClient(&http.Client{
			Transport: retryDials{base},
			Timeout:   o.Timeout.V,
			// A redirect would take the headers, which are the keys of a
			// backend, to another host or into clear text.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(o.Timeout.V),
		otlptracehttp.WithEncoding(encoding),
		otlptracehttp.WithCompression(compression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryFor,
		}),
	)
	if err != nil {
		return nil, err
	}
	return closingExporter{exp, base}, nil
}

// closingExporter lets go of idle connections, each of which is a goroutine.
type closingExporter struct {
	sdktrace.SpanExporter
	base *http.Transport
}

func (e closingExporter) Shutdown(ctx context.Context) error {
	defer e.base.CloseIdleConnections()
	return e.SpanExporter.Shutdown(ctx)
}

// retryDials calls a connection that could not be made temporary, so that the
// exporter tries again as the gRPC one does: nothing has been sent.
type retryDials struct{ base http.RoundTripper }

func (t retryDials) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, tries := r.Context(), attemptsOf(r.Context())
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
		tries.connected()
	}}
	resp, err := t.base.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil && !connected.Load() {
		tries.refused(ctx, err)
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return nil, temporaryError{err}
	}
	return resp, err
}

// watchAttempt tells a call that got no connection, also when the other side
// speaks something else, from one that may have arrived: only the latter has a
// peer.
func watchAttempt(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	tries := attemptsOf(ctx)
	var to peer.Peer
	tries.begin()
	err := invoke(ctx, method, req, reply, cc, append(opts, grpc.Peer(&to))...)
	if err != nil && to.Addr == nil {
		tries.refused(ctx, err)
	} else {
		tries.connected()
	}
	return err
}

type temporaryError struct{ error }

func (e temporaryError) Temporary() bool { return true }
func (e temporaryError) Timeout() bool   { return isTimeout(e.error) }
func (e temporaryError) Unwrap() error   { return e.error }

// newTLSConfig reads the PEM files; nil: plain text.
func newTLSConfig(o env.OTLP, u *url.URL) (*tls.Config, error) {
	if u.Scheme != "https" {
		return nil, nil //nolint:nilnil // no TLS is an answer
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := o.Certificate.V; path != "" {
		pem, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Certificate.Key, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in %s", o.Certificate.Key, path)
		}
	}
	if o.ClientCertificate.V != "" && o.ClientKey.V != "" {
		pair, err := tls.LoadX509KeyPair(o.ClientCertificate.V, o.ClientKey.V)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", o.ClientCertificate.Key, o.ClientKey.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
