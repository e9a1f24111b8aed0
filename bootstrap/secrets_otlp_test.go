//go:build !waymark_nootlp

package bootstrap_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// A backend that refuses a key repeats it, in one form or another. No part of it
// reaches the log, the error of Shutdown, or an error inside of that.
func TestNoFormOfASecretComesBack(t *testing.T) {
	t.Parallel()
	const key, user = "prod-8f3bSECRET1", "tenant42"
	basic := base64.StdEncoding.EncodeToString([]byte(user + ":" + key))
	inJSON, err := json.Marshal(map[string]string{"error": "no such key " + key})
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]string{
		"raw":             "no such key " + key,
		"quoted":          fmt.Sprintf("no such key %q", key),
		"in JSON":         string(inJSON),
		"percent-encoded": "no such key " + strings.ReplaceAll(url.QueryEscape(key), "-", "%2d"),
		"base64":          "no such credentials Basic " + basic,
		"decoded halves":  "user " + user + " has no key like " + key,
		"over two lines":  "no such key prod-8f3b\n  SECRET1",
		"cut by us":       strings.Repeat("n", 1000) + " no such key " + key,
		"cut by others":   "no such key " + key[:12],
		"cut and told":    "no such key " + key[:12] + "… (truncated)",
		"a later line":    "<html>\n<body>\n" + key + "\n</body>",
	} {
		for _, protocol := range []string{"http/protobuf", "grpc"} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				t.Parallel()
				_, vars := collectorFor(t, protocol, func(context.Context, int) (int64, string, int) { return 0, answer, http.StatusUnauthorized })
				vars["OTEL_EXPORTER_OTLP_HEADERS"] = "x-tenant=prod,api-key=" + key + ",authorization=Basic " + basic
				tracing, out := start(t, vars)
				makeSpans(t, tracing.TracerProvider(), 1)
				err := shutdown(t, tracing)
				all := everything(t, tracing, out, err)
				for _, part := range []string{"8f3b", "SECRET", "tenant42", "prod-", basic[:8], url.QueryEscape(key)[4:8], "%2d"} {
					if strings.Contains(all, part) {
						t.Errorf("%q is shown:\n%s", part, all)
					}
				}
				if !strings.Contains(all, "1 span lost") {
					t.Errorf("the loss is not told:\n%s", all)
				}
			})
		}
	}
}

// A header can hold an ordinary word, which may be the App's name: what we say
// ourselves is not full of holes then. What others say of it is.
func TestAHeaderThatIsAnOrdinaryWord(t *testing.T) {
	t.Parallel()
	_, vars := collectorFor(t, "http/protobuf", func(context.Context, int) (int64, string, int) {
		return 0, "dataset shop is full", http.StatusForbidden
	})
	vars["OTEL_EXPORTER_OTLP_HEADERS"] = "x-honeycomb-dataset=shop,x-honeycomb-team=8f3bQzX71kLm,x-tenant=production"
	tracing, out := start(t, vars, alsoFile)
	if d := tracing.Destination(); !strings.Contains(d, "/shop/traces/") {
		t.Errorf("Destination: %q", d)
	}
	makeSpans(t, tracing.TracerProvider(), 1)
	if err := shutdown(t, tracing); err == nil || !strings.Contains(err.Error(), "dataset *** is full") {
		t.Errorf("Shutdown: %v, want the answer without the header's value", err)
	}
	if l := out.lines(t, "tracing started"); len(l) != 1 || l[0]["app"] != "shop" {
		t.Errorf("log: %v", l)
	}
	if text := tracing.Plan().String(); !strings.Contains(text, "tracing of shop: on") || !strings.Contains(text, "x-honeycomb-dataset=***") {
		t.Errorf("plan:\n%s", text)
	}
}

// What a program's own hook failed with can still be told apart, unless its text
// holds a secret.
func TestCauseOfShutdownsError(t *testing.T) {
	t.Parallel()
	const key = "8f3bQzX71kLm"
	for _, c := range []struct {
		path string
		want bool
	}{{"/data/cache", true}, {"/data/" + key, false}} {
		tracing, _ := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=" + key})
		tracing.OnShutdown(func(context.Context) error {
			return &fs.PathError{Op: "open", Path: c.path, Err: fs.ErrNotExist}
		})
		err := shutdown(t, tracing)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is no fs.ErrNotExist", c.path, err)
		}
		var cause *fs.PathError
		if got := errors.As(err, &cause); got != c.want || (cause != nil) != c.want {
			t.Errorf("%s: As gives %v, %v, want %v", c.path, got, cause, c.want)
		}
		for _, e := range chain(err) {
			if strings.Contains(e.Error(), key) {
				t.Errorf("%T shows the key: %v", e, e)
			}
		}
	}
}

// A credential without its name is taken for a header's name, "=" its value.
func TestANameThatIsASecretIsNotShown(t *testing.T) {
	t.Parallel()
	secret := base64.StdEncoding.EncodeToString([]byte("1234:glc_abcdef9876543210"))
	p := bootstrap.Explain(bootstrap.Config{App: "shop", Lookup: env.Map{
		"SHOP_TRACING": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": "https://h", "OTEL_EXPORTER_OTLP_HEADERS": secret,
	}})
	if text := p.String(); strings.Contains(text, secret[:8]) || !strings.Contains(text, "***=***") {
		t.Errorf("the plan shows it:\n%s", text)
	}
}
