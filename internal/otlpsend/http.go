package otlpsend

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

type httpTransport struct {
	cfg    Config
	client *http.Client
}

func newHTTP(cfg Config) *httpTransport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: cfg.TLS, ForceAttemptHTTP2: true}
	return &httpTransport{cfg: cfg, client: &http.Client{
		Transport: t,
		// Headers are credentials: they go nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (t *httpTransport) close() error {
	t.client.CloseIdleConnections()
	return nil
}

const maxResponseBytes = 64 << 10

func (t *httpTransport) post(ctx context.Context, body []byte) reply {
	req, err := t.request(ctx, body)
	if err != nil {
		return reply{err: err, fatal: true}
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return reply{err: err, retry: true, after: -1}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes))
	if err != nil {
		return reply{err: err, retry: true, after: -1}
	}
	isJSON := mediaType(resp.Header) == "application/json"
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return partial(answer, isJSON)
	}
	return refusal(resp, answer, isJSON)
}

func (t *httpTransport) request(ctx context.Context, body []byte) (*http.Request, error) {
	if t.cfg.Gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body) // to memory
		_ = z.Close()
		body = b.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range t.cfg.Headers {
		req.Header.Set(k, v)
		if strings.EqualFold(k, "host") {
			req.Host = v
		}
	}
	req.Header.Set("User-Agent", "waymark")
	req.Header.Set("Content-Type", "application/x-protobuf")
	if t.cfg.Protocol == HTTPJSON {
		req.Header.Set("Content-Type", "application/json")
	}
	if t.cfg.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	return req, nil
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

// refusal sorts the statuses.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#failures-1
func refusal(resp *http.Response, answer []byte, isJSON bool) reply {
	r := reply{after: -1, err: errRefused("the receiver answered "+resp.Status, statusMessage(answer, isJSON))}
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway,
		code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		r.retry = true
		r.after = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	case code == http.StatusRequestEntityTooLarge:
		r.tooLarge = true
	case code < 400, code == http.StatusUnauthorized, code == http.StatusForbidden,
		code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusProxyAuthRequired:
		// Not about these spans: the address or the credentials are wrong.
		r.fatal = true
	}
	return r
}

// retryAfter is negative when the header says nothing.
//
// Spec: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func retryAfter(value string, now time.Time) time.Duration {
	const most = 24 * time.Hour
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, most)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return -1
}

// partial reads an ExportTraceServiceResponse. One that cannot be read is a
// success all the same: the status said so.
func partial(answer []byte, isJSON bool) reply {
	if isJSON {
		var doc struct {
			PartialSuccess struct {
				RejectedSpans looseInt `json:"rejectedSpans"`
				ErrorMessage  string   `json:"errorMessage"`
			} `json:"partialSuccess"`
		}
		_ = json.Unmarshal(answer, &doc)
		return reply{rejected: int64(doc.PartialSuccess.RejectedSpans), message: doc.PartialSuccess.ErrorMessage}
	}
	var r reply
	for m := otlpproto.NewMessage(answer); m.Next(); {
		if m.Field != 1 {
			continue
		}
		for p := otlpproto.NewMessage(m.Bytes()); p.Next(); {
			switch p.Field {
			case 1:
				r.rejected = p.Int64()
			case 2:
				r.message = string(p.Bytes())
			}
		}
	}
	return r
}

// looseInt is a 64-bit integer of proto3 JSON: a string, or a number.
type looseInt int64

func (i *looseInt) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrSyntax) {
		return err
	}
	*i = looseInt(n)
	return nil
}

// statusMessage is the message of a google.rpc.Status, or the text of an answer
// that is none.
func statusMessage(answer []byte, isJSON bool) string {
	if isJSON {
		var doc struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(answer, &doc) == nil && doc.Message != "" {
			return doc.Message
		}
		return string(answer)
	}
	m := otlpproto.NewMessage(answer)
	for m.Next() {
		if m.Field == 2 && m.Type == otlpproto.Bytes {
			if text := string(m.Bytes()); m.Err() == nil {
				return text
			}
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return line
}
