//go:build !waymark_nootlp

package otlpsend_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/internal/otlpsend"
)

func protoAnswer(t *testing.T, rejected int64, message string) string {
	t.Helper()
	b, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{
		PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func contentType(v string) map[string]string { return map[string]string{"Content-Type": v} }

func TestStatuses(t *testing.T) {
	t.Parallel()
	ok := answer{status: 200}
	partial := protoAnswer(t, 2, "too old")
	for _, c := range []struct {
		name    string
		answers []answer
		want    otlpsend.Outcome
		sizes   []int
		err     string
	}{
		{"taken", []answer{ok}, otlpsend.Outcome{Sent: 4}, []int{4}, ""},
		{"partly", []answer{{200, nil, partial}}, otlpsend.Outcome{Sent: 2, Refused: 2, Reasons: []string{"too old"}}, []int{4}, ""},
		{"later", []answer{{503, nil, ""}, {429, map[string]string{"Retry-After": "0"}, ""}, {502, nil, ""}, {504, nil, ""}, ok}, otlpsend.Outcome{Sent: 4, Retries: 4}, []int{4, 4, 4, 4, 4}, ""},
		{"bad", []answer{{400, nil, "bad data\nat length"}}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered 400 Bad Request: bad data"}}, []int{4}, ""},
		{"bad, after a gateway that had no answer", []answer{{504, nil, ""}, {400, nil, ""}}, otlpsend.Outcome{Refused: 4, Uncertain: 4, Retries: 1, Reasons: []string{"the receiver answered 400 Bad Request"}}, []int{4, 4}, ""},
		{"error that is not temporary", []answer{{500, nil, ""}}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered 500 Internal Server Error"}}, []int{4}, ""},
		{"error that is a page", []answer{{500, contentType("text/html"), "<html><head><TITLE>\n Bad &amp; ugly </TITLE>"}}, otlpsend.Outcome{Refused: 4, Reasons: []string{"the receiver answered 500 Internal Server Error: Bad & ugly"}}, []int{4}, ""},
		{
			"too large",
			[]answer{{413, nil, ""}, {413, nil, ""}, ok, {413, nil, ""}, ok},
			otlpsend.Outcome{Sent: 3, Refused: 1, TooLarge: 1, Reasons: []string{"the receiver answered 413 Request Entity Too Large"}},
			[]int{4, 2, 1, 1, 2},
			"",
		},
		{"too large for a Collector", []answer{{400, nil, "http: request body too large"}, ok}, otlpsend.Outcome{Sent: 4}, []int{4, 2, 2}, ""},
		{"who", []answer{{401, nil, "who?"}}, otlpsend.Outcome{}, []int{4}, "the receiver answered 401 Unauthorized: who?"},
		{
			"elsewhere",
			[]answer{{307, map[string]string{"Location": "https://u:p@login.example.com/sso?back=secret"}, ""}},
			otlpsend.Outcome{},
			[]int{4},
			"the receiver answered 307 Temporary Redirect: redirects to https://login.example.com/sso are not followed",
		},
		{"not here", []answer{{404, nil, ""}}, otlpsend.Outcome{}, []int{4}, "the receiver answered 404 Not Found"},
		{
			"wait too long",
			[]answer{{503, map[string]string{"Retry-After": "3600"}, ""}},
			otlpsend.Outcome{},
			[]int{4},
			"no success within 1m0s: the receiver answered 503 Service Unavailable",
		},
		{
			"wait too long for a gateway",
			[]answer{{504, map[string]string{"Retry-After": "3600"}, ""}},
			otlpsend.Outcome{Uncertain: 4},
			[]int{4},
			"no success within 1m0s: the receiver answered 504 Gateway Timeout",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, sizes := receive(t, c.answers...)
			got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcome -want +got\n%s", diff)
			}
			if diff := cmp.Diff(c.sizes, sizes.get()); diff != "" {
				t.Errorf("spans per request -want +got\n%s", diff)
			}
			wantError(t, c.name, err, c.err)
		})
	}
}

// A success is an answer of OTLP, as receivers of all kinds write it; a web page
// has taken nothing.
func TestAnswersThatSaySuccess(t *testing.T) {
	t.Parallel()
	const none = "no OTLP receiver answers there: it sent "
	page := `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Jaeger UI</title></head><body></body></html>`
	for _, c := range []struct {
		name, contentType, body string
		rejected                int64
		err                     string
		uncertain               bool
	}{
		{name: "protobuf, empty", contentType: "application/x-protobuf"},
		{name: "JSON, empty", contentType: "application/json"},
		{name: "empty, of no type"},
		{name: "empty text", contentType: "text/plain"},
		{name: "partial success, empty", contentType: "application/x-protobuf", body: "\x0a\x00"},
		{name: "partial success", contentType: "application/x-protobuf", body: protoAnswer(t, 1, "old"), rejected: 1},
		{name: "partial success of a guessed type", contentType: "application/octet-stream", body: protoAnswer(t, 1, "old"), rejected: 1},
		{name: "field of a later version", contentType: "application/x-protobuf", body: "\x12\x01x"},
		{name: "JSON", contentType: "application/json", body: "{}\n"},
		{name: "JSON with partial success", contentType: "application/json; charset=utf-8", body: `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"old"}}`, rejected: 1},
		{name: "JSON with more", contentType: "application/json", body: `{"partialSuccess":{},"accepted":4,"error":null,"errors":[]}`},
		{name: "JSON of another's taste", contentType: "application/json", body: `{"status":"success"}`},
		{name: "JSON of no type", body: `{"partialSuccess":null}`},
		{name: "word", contentType: "text/plain", body: "OK\n"},
		{name: "word in protobuf's place", contentType: "application/x-protobuf", body: "success"},
		{name: "word in quotes", contentType: "application/json", body: `"OK"`},

		{name: "page", contentType: "text/html; charset=utf-8", body: page, err: none + `text/html page titled "Jaeger UI"`},
		{name: "page of no type", body: page, err: none + `content of no type page titled "Jaeger UI"`, uncertain: true},
		{name: "page without title", contentType: "text/html", body: "<h1>It works!</h1>", err: none + `text/html "<h1>It works!</h1>"`},
		{name: "empty page", contentType: "text/html", err: none + `text/html, and nothing in it`, uncertain: true},
		{name: "page larger than an answer", contentType: "text/html", body: page + strings.Repeat(" ", 5<<20), err: none + `text/html page titled "Jaeger UI"`},
		{name: "long title", contentType: "text/html", body: "<title>" + strings.Repeat("é", 500) + "</title>", err: none + `text/html page titled "` + strings.Repeat("é", 50) + `…"`},
		{name: "control characters", contentType: "text/html", body: "<title>\x1b[31mred</title>", err: none + `text/html page titled "\x1b[31mred"`},
		{name: "text", contentType: "text/plain", body: "It works!", err: none + `text/plain "It works!"`, uncertain: true},
		{name: "JSON with an error", contentType: "application/json", body: `{"error":"login first"}`, err: none + `application/json "{\"error\":\"login first\"}"`, uncertain: true},
		{name: "JSON with errors", contentType: "application/json", body: `{"errors":[{}]}`, err: none + `application/json "{\"errors\":[{}]}"`, uncertain: true},
		{name: "JSON list", contentType: "application/json", body: `[]`, err: none + `application/json "[]"`, uncertain: true},
		{name: "JSON null", contentType: "application/json", body: `null`, err: none + `application/json "null"`, uncertain: true},
		{name: "protobuf that is none", contentType: "application/x-protobuf", body: "\x0a\x7f", err: none + `application/x-protobuf "\x7f"`, uncertain: true},
		{name: "larger than an answer", contentType: "application/x-protobuf", body: "\x12\x80\x80\xc0\x02" + strings.Repeat("x", 5<<20), err: "the answer is larger than 4 MiB", uncertain: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			header := map[string]string{}
			if c.contentType != "" {
				header["Content-Type"] = c.contentType
			}
			url, sizes := receive(t, answer{200, header, c.body})
			got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
			wantError(t, "Send", err, c.err)
			want := otlpsend.Outcome{Sent: 4 - c.rejected, Refused: c.rejected}
			if c.err != "" {
				want = otlpsend.Outcome{}
			}
			if c.uncertain {
				want.Uncertain = 4
			}
			got.Reasons = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcome -want +got\n%s", diff)
			}
			if n := len(sizes.get()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

// Other codes of success are as good.
func TestOtherSuccesses(t *testing.T) {
	t.Parallel()
	for _, code := range []int{201, 202, 204} {
		url, _ := receive(t, answer{status: code})
		if got, err := send(t, otlpsend.Config{Endpoint: url}, 4); err != nil || got.Sent != 4 {
			t.Errorf("%d: %+v, %v", code, got, err)
		}
	}
}

// A secret that a receiver repeats is taken out before the text is cut.
func TestShownTextsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-token"
	cut := strings.Repeat("x", 95) + secret + strings.Repeat("x", 2000)
	for name, a := range map[string]answer{
		"page":    {200, contentType("text/html"), "<title>" + cut + "</title>"},
		"text":    {200, contentType("text/plain"), cut},
		"refused": {400, nil, strings.Repeat("x", 995) + secret},
		"partial": {200, nil, protoAnswer(t, 4, strings.Repeat("x", 995)+secret)},
		"who":     {401, contentType("application/json"), `{"message":"` + secret + `"}`},
		"away":    {302, map[string]string{"Location": "http://a/" + secret}, ""},
	} {
		url, _ := receive(t, a)
		got, err := send(t, otlpsend.Config{Endpoint: url, Redact: func(s string) string { return strings.ReplaceAll(s, secret, "***") }}, 1)
		text := errorText(err) + strings.Join(got.Reasons, "")
		if strings.Contains(text, secret[:5]) || !strings.Contains(text, "***") || len(text) > 1200 {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestErrorInTheMiddleCountsTheFirst(t *testing.T) {
	t.Parallel()
	url, _ := receive(t, answer{status: 413}, answer{status: 200}, answer{status: 401})
	got, err := send(t, otlpsend.Config{Endpoint: url}, 4)
	if err == nil || got.Sent != 2 || got.Done() != 2 {
		t.Errorf("%+v, %v: want the first half, and an error", got, err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	url, _ := receive(t, answer{status: 503, header: map[string]string{"Retry-After": "20"}})
	c := newClient(t, otlpsend.Config{Endpoint: url})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := c.Send(ctx, 1, encode, nil); !errors.Is(err, context.Canceled) || out.Done() != 0 || out.Uncertain != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	out, err := c.Send(ctx, 1, encode, nil)
	if !errors.Is(err, context.DeadlineExceeded) || out.Done() != 0 || out.Uncertain != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	wantError(t, "while it waits", err, "the receiver answered 503 Service Unavailable")
}

func TestHeadersGzipTLS(t *testing.T) {
	t.Parallel()
	var seen http.Header
	var host string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen, host = r.Header, r.Host }))
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	tlsConfig, err := otlpsend.TLS(otlpsend.File{Path: ca}, otlpsend.File{}, otlpsend.File{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := otlpsend.Config{Endpoint: srv.URL, TLS: tlsConfig, Gzip: true, Headers: map[string]string{"x-key": "k", "Host": "h", "user-agent": "me"}}
	if got, err := send(t, cfg, 3); err != nil || got.Sent != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if seen.Get("X-Key") != "k" || seen.Get("Content-Encoding") != "gzip" || seen.Get("Content-Type") != "application/x-protobuf" || seen.Get("User-Agent") != "me" || host != "h" {
		t.Errorf("headers %v, host %s", seen, host)
	}
	cfg.TLS, cfg.RetryFor = &tls.Config{MinVersion: tls.VersionTLS12}, time.Nanosecond
	if got, err := send(t, cfg, 1); err == nil || !strings.Contains(err.Error(), "certificate") || got.Uncertain != 0 {
		t.Errorf("a certificate nobody trusts: %+v, %v", got, err)
	}
	bad := otlpsend.File{Name: "KEY", Path: filepath.Join(t.TempDir(), "none")}
	text := otlpsend.File{Name: "TEXT", Path: filepath.Join(t.TempDir(), "text")}
	if err := os.WriteFile(text.Path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][3]otlpsend.File{{bad, {}, {}}, {text, {}, {}}, {{}, text, bad}} {
		if _, err := otlpsend.TLS(files[0], files[1], files[2]); err == nil || !strings.Contains(err.Error(), files[0].Name+files[1].Name) {
			t.Errorf("TLS(%v): %v", files, err)
		}
	}
}

func TestUnknownProtocol(t *testing.T) {
	t.Parallel()
	_, err := otlpsend.New(otlpsend.Config{Protocol: "thrift"})
	wantError(t, "New", err, `protocol "thrift": want grpc, http/protobuf or http/json`)
}
