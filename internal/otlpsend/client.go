// Package otlpsend sends finished spans to an OTLP endpoint as they are, and
// says what became of each.
//
// It is no exporter: an SDK would give the spans ids, times and a resource of
// its own.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md
package otlpsend

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// Protocols of OTLP, as OTEL_EXPORTER_OTLP_PROTOCOL spells them.
const (
	GRPC         = "grpc"
	HTTPProtobuf = "http/protobuf"
	HTTPJSON     = "http/json"
)

// Config says where spans go and how.
type Config struct {
	Endpoint string            // the whole URL: for HTTP with its path, for gRPC scheme and host
	Protocol string            // one of the protocols
	Headers  map[string]string // sent with every request
	TLS      *tls.Config       // nil: the system's certificates
	Gzip     bool
	Timeout  time.Duration // of one request; 0: none
	RetryFor time.Duration // how long one batch is tried for; default 1 minute
	Backoff  time.Duration // before the first retry; default 500 ms
}

// Outcome is what became of spans that were sent.
type Outcome struct {
	Sent    int64    // taken by the receiver
	Refused int64    // not taken, for good
	Retries int64    // requests that were made again
	Reasons []string // what the receiver said about refused spans; a few
}

// Done is the number of spans whose fate is known.
func (o *Outcome) Done() int64 { return o.Sent + o.Refused }

// Add adds the outcome of other spans.
func (o *Outcome) Add(other Outcome) {
	o.Sent += other.Sent
	o.Refused += other.Refused
	o.Retries += other.Retries
	for _, r := range other.Reasons {
		o.reason(r)
	}
}

func (o *Outcome) reason(text string) {
	const most, longest = 5, 300
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	if text != "" && len(o.Reasons) < most && !slices.Contains(o.Reasons, text) {
		o.Reasons = append(o.Reasons, text)
	}
}

// Client sends. It serves one goroutine.
type Client struct {
	cfg       Config
	transport transport
	body      bytes.Buffer
}

// transport makes one request.
type transport interface {
	post(ctx context.Context, body []byte) reply
	close() error
}

// reply is the answer to one request. Without err the spans arrived, but for
// those that were rejected.
type reply struct {
	rejected int64
	message  string

	err      error
	retry    bool          // may be made again
	after    time.Duration // not before; negative: the receiver did not say
	tooLarge bool          // fewer spans may do
	fatal    bool          // no request will do
}

// New prepares a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	if cfg.RetryFor <= 0 {
		cfg.RetryFor = time.Minute
	}
	if cfg.Backoff <= 0 {
		cfg.Backoff = 500 * time.Millisecond
	}
	c := &Client{cfg: cfg}
	var err error
	switch cfg.Protocol {
	case HTTPProtobuf, HTTPJSON:
		c.transport = newHTTP(cfg)
	case GRPC:
		c.transport, err = newGRPC(cfg)
	default:
		err = fmt.Errorf("protocol %q: want %s, %s or %s", cfg.Protocol, GRPC, HTTPProtobuf, HTTPJSON)
	}
	if err != nil {
		return nil, fmt.Errorf("otlpsend: %w", err)
	}
	return c, nil
}

// Close ends the connections.
func (c *Client) Close() error { return c.transport.close() }

// Send sends the spans in one request, or in several when the receiver finds it
// too large, and tries again where the specification allows it. An error means
// that the fate of the rest is not known, or that no request will be taken: the
// outcome counts the first spans of the batch. A request that failed may have
// arrived all the same, so that a span may arrive twice.
func (c *Client) Send(ctx context.Context, spans []*traces.Span) (Outcome, error) {
	var out Outcome
	if len(spans) == 0 {
		return out, nil
	}
	if err := c.encode(spans); err != nil {
		return out, fmt.Errorf("otlpsend: %w", err)
	}
	r, retries, err := c.try(ctx)
	out.Retries = retries
	n := int64(len(spans))
	switch {
	case err != nil:
		return out, fmt.Errorf("otlpsend: %w", err)
	case r.err == nil:
		out.Refused = min(max(r.rejected, 0), n)
		out.Sent = n - out.Refused
		out.reason(r.message)
		return out, nil
	case r.tooLarge && n > 1:
		for _, half := range [2][]*traces.Span{spans[:n/2], spans[n/2:]} {
			o, err := c.Send(ctx, half)
			out.Add(o)
			if err != nil {
				return out, err
			}
		}
		return out, nil
	default:
		out.Refused = n
		out.reason(r.err.Error())
		return out, nil
	}
}

func (c *Client) encode(spans []*traces.Span) error {
	format := tracefile.OTLPProto
	if c.cfg.Protocol == HTTPJSON {
		format = tracefile.OTLPJSON
	}
	c.body.Reset()
	_, err := tracefile.Write(&c.body, format, tracefile.Seq(spans))
	return err
}

// try makes the request until there is an answer that counts, or no hope for one.
func (c *Client) try(ctx context.Context) (r reply, retries int64, err error) {
	give := time.Now().Add(c.cfg.RetryFor)
	backoff := c.cfg.Backoff
	for {
		r = c.once(ctx)
		switch {
		case ctx.Err() != nil:
			return r, retries, ctx.Err()
		case r.fatal:
			return r, retries, r.err
		case r.err == nil || !r.retry:
			return r, retries, nil
		}
		wait := r.after
		if wait < 0 {
			wait = backoff/2 + rand.N(backoff/2+1) //nolint:gosec // spreads load
			backoff = min(2*backoff, 15*time.Second)
		}
		if time.Now().Add(wait).After(give) {
			return r, retries, fmt.Errorf("no success within %v: %w", c.cfg.RetryFor, r.err)
		}
		select {
		case <-ctx.Done():
			return r, retries, ctx.Err()
		case <-time.After(wait):
		}
		retries++
	}
}

func (c *Client) once(ctx context.Context) reply {
	if c.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
	}
	return c.transport.post(ctx, c.body.Bytes())
}

// errRefused is what a receiver answered with.
func errRefused(what, message string) error {
	if message = strings.TrimSpace(message); message == "" {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", what, message)
}
