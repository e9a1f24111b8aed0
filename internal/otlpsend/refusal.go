package otlpsend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// answer is an HTTP answer that was read.
type answer struct {
	code   int
	status string // "200 OK"
	header http.Header
	body   []byte
}

func (a answer) contentType() string { return a.header.Get("Content-Type") }

// refusal sorts the statuses of HTTP.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#failures-1
func (f redactor) refusal(a answer) reply {
	message := statusMessage(a)
	r := reply{verdict: refused, after: -1}
	switch code := a.code; {
	case code < 400:
		r.verdict, message = hopeless, redirect(a)
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		r.verdict = later
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout:
		// The one in front got no answer from the receiver.
		r.verdict, r.uncertain = later, true
	case code == http.StatusRequestEntityTooLarge, saysTooLarge(message):
		r.verdict = tooLarge
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound,
		code == http.StatusMethodNotAllowed, code == http.StatusProxyAuthRequired:
		// Not about these spans: the address or the credentials are wrong.
		r.verdict = hopeless
	}
	if r.verdict == later {
		r.after = retryAfter(a.header.Get("Retry-After"), time.Now())
	}
	r.err = errAnswered(f.text(a.status, maxShown), f.text(message, maxMessage))
	return r
}

// errAnswered is what a receiver answered with.
func errAnswered(what, message string) error {
	if message != "" {
		message = ": " + message
	}
	return fmt.Errorf("the receiver answered %s%s", what, message)
}

// errAnswerTooLarge is about an answer that is not read to its end.
func errAnswerTooLarge() error {
	return fmt.Errorf("the answer is larger than %d MiB", maxAnswerBytes>>20)
}

// saysTooLarge reports whether a receiver complains of a request's size in words:
// that of its language's gRPC library, or of the Collector over HTTP, which answers
// 400.
func saysTooLarge(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{
		"larger than max",                        // Go, C++, Python, Ruby
		"exceeds maximum size",                   // Java
		"exceeds the maximum configured message", // .NET
		"message length too large",               // Rust
		"request body too large",                 // the Collector over HTTP
		"received from server: 413",              // a proxy in front of gRPC
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// redirect says where a redirect leads, without what may be secret in it.
func redirect(a answer) string {
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || to.Scheme == "" {
		return "redirects are not followed"
	}
	return "redirects to " + to.Scheme + "://" + to.Host + to.EscapedPath() + " are not followed"
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

// statusMessage is the message of a google.rpc.Status, the title of a page, or the
// first line of a text.
func statusMessage(a answer) string {
	if mediaType(a.contentType()) == "application/json" {
		var doc struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(a.body, &doc) == nil && doc.Message != "" {
			return doc.Message
		}
		return string(a.body)
	}
	m := otlpproto.NewMessage(a.body)
	for m.Next() {
		if m.Field == 2 && m.Type == otlpproto.Bytes {
			if text := string(m.Bytes()); m.Err() == nil {
				return text
			}
		}
	}
	if title := pageTitle(a.body); title != "" {
		return title
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(a.body)), "\n")
	return line
}
