// Package otlpsend sends encoded spans to an OTLP endpoint, over HTTP or gRPC, and
// says what became of each. Nothing in it but the proxy's variables is read from
// the environment.
//
// Delivered means that an OTLP answer came: a web page that answers every request
// with 200 has taken nothing. A request whose answer did not come may have arrived
// all the same, which is told apart from one that cannot have.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md
package otlpsend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Protocols of OTLP, as OTEL_EXPORTER_OTLP_PROTOCOL spells them.
const (
	GRPC         = "grpc"
	HTTPProtobuf = "http/protobuf"
	HTTPJSON     = "http/json"
)

// RequestBytes is what the spans of one request should not exceed before
// compression: gRPC servers refuse 4 MiB by default, some proxies 1 MiB.
const RequestBytes = 1 << 20

// Config says where spans go and how.
type Config struct {
	Endpoint   string            // the whole URL: for HTTP with its path, for gRPC scheme, host and port
	Protocol   string            // one of the protocols
	Headers    map[string]string // sent with every request
	TLS        *tls.Config       // for https; nil: the system's certificates
	Gzip       bool
	Timeout    time.Duration // of one request; 0: none
	RetryFor   time.Duration // how long one request is tried for; default 1 minute
	Backoff    time.Duration // before the first retry, doubled for each other; default 500 ms
	MaxBackoff time.Duration // default 15 s
	// Redact takes secrets out of what is shown of a receiver's answer; nil: none.
	Redact func(string) string
}

// Client sends. It serves one goroutine.
type Client struct {
	cfg       Config
	transport transport
}

// transport makes one request.
type transport interface {
	post(ctx context.Context, body []byte, t *Tries) reply
	close() error
}

// New prepares a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	if cfg.RetryFor <= 0 {
		cfg.RetryFor = time.Minute
	}
	if cfg.Backoff <= 0 {
		cfg.Backoff = 500 * time.Millisecond
	}
	if cfg.MaxBackoff <= 0 {
		cfg.MaxBackoff = 15 * time.Second
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
	return c, err
}

// Close ends the connections.
func (c *Client) Close() error { return c.transport.close() }

// Encode returns the body of a request with the spans from up to to, in the
// protocol of the client, which keeps it.
type Encode func(from, to int) ([]byte, error)

// Send sends n spans in one request, or in several when the receiver finds it too
// large, and tries again where the specification allows it. An error means that
// what the outcome does not count as sent or refused, which are the first spans,
// was not taken: nobody can be reached, no answer came in time, or no request
// would be taken. A request that was made again may have arrived twice.
//
// What happens to the requests meanwhile is told to t, which may be nil.
func (c *Client) Send(ctx context.Context, n int, encode Encode, t *Tries) (Outcome, error) {
	var out Outcome
	err := c.send(ctx, &out, 0, n, encode, t)
	return out, err
}

func (c *Client) send(ctx context.Context, out *Outcome, from, to int, encode Encode, t *Tries) error {
	if from == to {
		return nil
	}
	body, err := encode(from, to)
	if err != nil {
		return err
	}
	n := int64(to - from)
	switch r := c.try(ctx, body, t, out); r.verdict {
	case tooLarge:
		if n == 1 {
			out.refuse(n, r)
			return nil
		}
		middle := from + int(n/2)
		if err := c.send(ctx, out, from, middle, encode, t); err != nil {
			return err
		}
		return c.send(ctx, out, middle, to, encode, t)
	case taken:
		out.take(n, r)
		return nil
	case refused:
		out.refuse(n, r)
		return nil
	default:
		out.lose(n, r)
		return r.err
	}
}

// try makes the request until there is an answer that counts, or no hope for one.
func (c *Client) try(ctx context.Context, body []byte, t *Tries, out *Outcome) reply {
	give := time.Now().Add(c.cfg.RetryFor)
	backoff := c.cfg.Backoff
	var last error // that is not the end of ctx
	uncertain := false
	for {
		r := c.once(ctx, body, t)
		uncertain = uncertain || r.uncertain
		r.uncertain = uncertain
		if r.verdict != later {
			return r
		}
		if ctx.Err() == nil {
			last = r.err
		}
		wait := r.after
		if wait < 0 {
			wait = backoff/2 + rand.N(backoff/2+1) //nolint:gosec // spreads load
			backoff = min(2*backoff, c.cfg.MaxBackoff)
		}
		if ctx.Err() == nil && time.Now().Add(wait).After(give) {
			r.err = fmt.Errorf("no success within %v: %w", c.cfg.RetryFor, r.err)
			return r
		}
		select {
		case <-ctx.Done():
			if last == nil {
				last = r.err
			}
			r.err = endedError{ctx.Err(), last}
			return r
		case <-time.After(wait):
		}
		out.Retries++
	}
}

func (c *Client) once(ctx context.Context, body []byte, t *Tries) reply {
	if c.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.Timeout, timeoutError{c.cfg.Timeout})
		defer cancel()
	}
	r := c.transport.post(ctx, body, t)
	t.ended(r)
	return r
}

// endedError is the end of a context, told by what had gone wrong before it.
type endedError struct{ ended, last error }

func (e endedError) Error() string   { return e.last.Error() }
func (e endedError) Unwrap() []error { return []error{e.ended, e.last} }

// timeoutError is the cause of the end of one request.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return fmt.Sprintf("timeout of %v", e.after) }

// causeOf is why the context ended, or else err.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// isEnded reports whether a request was given up by the caller, and not by its own
// timeout.
func isEnded(ctx context.Context) bool {
	var own timeoutError
	return ctx.Err() != nil && !errors.As(context.Cause(ctx), &own)
}
