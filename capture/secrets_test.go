package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime/pprof"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/capture"
)

const (
	secret     = "S3NT1N3L"
	secretURL  = "https://u:" + secret + "@h/a?token=" + secret + "&b=1"
	visibleURL = "https://REDACTED@h/a?token=REDACTED&b=1"
)

// Whatever a block fails by, the secrets of the URLs in it are in no span.
func TestNoSecretOfAnErrorIsRecorded(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(secretURL)
	if err != nil {
		t.Fatal(err)
	}
	failed := &url.Error{Op: "Get", URL: secretURL, Err: errors.New("reset")}
	for name, block := range map[string]func(context.Context) error{
		"error":         func(context.Context) error { return failed },
		"wrapped error": func(context.Context) error { return fmt.Errorf("pay: %w", failed) },
		"joined errors": func(context.Context) error { return errors.Join(errors.New("a"), failed) },
		"panic":         func(context.Context) error { panic(failed) },
		"text":          func(context.Context) error { panic(secretURL) },
		"URL":           func(context.Context) error { panic(*u) },
		"struct":        func(context.Context) error { panic(struct{ URL string }{secretURL}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tp, _ := provider()
			var res *capture.Result
			func() {
				defer func() { _ = recover() }()
				_, _ = capture.Run(t.Context(), "block", block, capture.WithTracerProvider(tp), capture.Into(&res))
			}()
			all, err := res.MarshalOTLP()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(all, []byte(secret)) {
				t.Errorf("the secret is in the spans: %s", res)
			}
			e := exception(t, res.Root())
			if !strings.Contains(e.Message, visibleURL) || !strings.HasSuffix(res.Root().Status.Message, e.Message) {
				t.Errorf("exception %+v, status %+v", e, res.Root().Status)
			}
		})
	}
}

// A value that holds itself ends no program, and a huge text is cut.
func TestHugePanics(t *testing.T) {
	t.Parallel()
	self := map[string]any{}
	self["self"] = self
	for name, v := range map[string]any{"holds itself": self, "long": strings.Repeat("é", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tp, _ := provider()
			var res *capture.Result
			func() {
				defer func() { _ = recover() }()
				_, _ = capture.Run(t.Context(), "block", func(context.Context) error { panic(v) }, capture.WithTracerProvider(tp), capture.Into(&res))
			}()
			if m := exception(t, res.Root()).Message; m == "" || len(m) > 64<<10+utf8.UTFMax || !utf8.ValidString(m) {
				t.Errorf("a message of %d bytes", len(m))
			}
		})
	}
}

// A stack shows the labels of its goroutine when the program wants that.
func TestNoSecretOfALabelIsRecorded(t *testing.T) {
	t.Setenv("GODEBUG", "tracebacklabels=1")
	tp, _ := provider()
	var res *capture.Result
	pprof.Do(t.Context(), pprof.Labels("url", secretURL), func(ctx context.Context) {
		defer func() { _ = recover() }()
		_, _ = capture.Run(ctx, "block", func(context.Context) error { panic("x") }, capture.WithTracerProvider(tp), capture.Into(&res))
	})
	if e := exception(t, res.Root()); strings.Contains(e.Stacktrace, secret) || !strings.Contains(e.Stacktrace, visibleURL) {
		t.Errorf("the stack is %s", e.Stacktrace)
	}
}
