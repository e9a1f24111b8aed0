package otlpsend

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	dialTimeout   = 10 * time.Second
	maxErrorBytes = 64 << 10 // of an answer that is an error
)

type httpTransport struct {
	cfg    Config
	show   redactor
	base   *http.Transport
	client *http.Client
	zip    *gzip.Writer // nil: not compressed
}

func newHTTP(cfg Config) *httpTransport {
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       cfg.TLS,
		TLSHandshakeTimeout:   dialTimeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          2,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	t := &httpTransport{cfg: cfg, show: cfg.Redact, base: base, client: &http.Client{
		Transport: base,
		// A redirect would take the headers, which are the keys of a backend, to
		// another host or into clear text.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if cfg.Gzip {
		t.zip = gzip.NewWriter(nil)
	}
	return t
}

func (t *httpTransport) close() error {
	t.base.CloseIdleConnections() // each is a goroutine
	return nil
}

func (t *httpTransport) post(ctx context.Context, body []byte, tries *Tries) reply {
	sent := &sending{tries: tries}
	req, err := t.request(ctx, body, sent)
	if err != nil {
		return reply{verdict: hopeless, err: err}
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return t.noAnswer(ctx, err, sent)
	}
	defer func() { _ = resp.Body.Close() }()
	got := answer{code: resp.StatusCode, status: resp.Status, header: resp.Header}
	if got.code < 200 || got.code > 299 {
		// What of it cannot be read is not needed: the status says enough.
		got.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
		return t.show.refusal(got)
	}
	got.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return t.noAnswer(ctx, err, sent)
	case len(got.body) > maxAnswerBytes && !isPage(got.contentType()):
		return reply{verdict: hopeless, uncertain: true, err: errAnswerTooLarge()}
	default:
		return t.show.success(got.contentType(), got.body)
	}
}

// noAnswer is the end of a request without an answer. Nothing can have arrived
// when nothing of the body was asked for: there was no connection, or no TLS.
func (t *httpTransport) noAnswer(ctx context.Context, err error, sent *sending) reply {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // the URL is known, and may hold a key
	}
	err = t.show.error(causeOf(ctx, err))
	switch {
	case strings.Contains(err.Error(), `malformed HTTP response "\x00\x00`): // a frame of HTTP/2
		return reply{verdict: hopeless, err: errors.New("what answers there speaks no HTTP/1; its protocol may be " + GRPC)}
	case sent.left.Load():
		return reply{verdict: later, after: -1, err: fmt.Errorf("no answer: %w", err), uncertain: true}
	case !isEnded(ctx) && !sent.connected.Load():
		sent.tries.unreached(err)
	}
	return reply{verdict: later, after: -1, err: err}
}

func (t *httpTransport) request(ctx context.Context, body []byte, sent *sending) (*http.Request, error) {
	if t.zip != nil {
		var b bytes.Buffer
		t.zip.Reset(&b)
		_, _ = t.zip.Write(body) // to memory
		_ = t.zip.Close()
		body = b.Bytes()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.cfg.Endpoint, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(body))
	// The transport asks for it again only when nothing of the request was taken: a
	// POST is not made twice.
	req.GetBody = func() (io.ReadCloser, error) {
		sent.left.Store(false)
		return &sentBody{r: bytes.NewReader(body), sending: sent}, nil
	}
	req.Body, _ = req.GetBody() // it has no error
	req.Header.Set("User-Agent", userAgent)
	for k, v := range t.cfg.Headers {
		req.Header.Set(k, v)
		if strings.EqualFold(k, "host") {
			req.Host = v
		}
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if t.cfg.Protocol == HTTPJSON {
		req.Header.Set("Content-Type", "application/json")
	}
	if t.zip != nil {
		req.Header.Set("Content-Encoding", "gzip")
	}
	return req, nil
}

const userAgent = "waymark"

// sending is how far a request got.
type sending struct {
	tries     *Tries
	connected atomic.Bool
	left      atomic.Bool // the body was asked for, to be written to a connection
}

// sentBody is a body that tells when it is read. It has no other method: the
// transport would take that for reading.
type sentBody struct {
	r *bytes.Reader
	*sending
}

func (b *sentBody) Read(p []byte) (int, error) {
	if !b.left.Swap(true) {
		b.tries.Leave()
	}
	return b.r.Read(p)
}

func (b *sentBody) Close() error { return nil }
