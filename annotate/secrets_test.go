package annotate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"

	"github.com/waymark-trace/waymark/annotate"
)

const (
	secretURL  = "https://u:" + secret + "@h/a?token=" + secret + "&b=1"
	visibleURL = "https://REDACTED@h/a?token=REDACTED&b=1"
)

// Whatever a function fails by, the secrets of the URLs in it reach neither a span nor a sink.
func TestNoSecretOfAnErrorIsRecorded(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(secretURL)
	if err != nil {
		t.Fatal(err)
	}
	failed := &url.Error{Op: "Get", URL: secretURL, Err: errors.New("reset")}
	for name, do := range map[string]func(context.Context) error{
		"error":         func(context.Context) error { return failed },
		"wrapped error": func(context.Context) error { return fmt.Errorf("pay: %w", failed) },
		"joined errors": func(context.Context) error { return errors.Join(errors.New("a"), failed) },
		"panic":         func(context.Context) error { panic(failed) },
		"text":          func(context.Context) error { panic(secretURL) },
		"URL":           func(context.Context) error { panic(*u) },
		"struct":        func(context.Context) error { panic(struct{ URL string }{secretURL}) },
		"told": func(ctx context.Context) error {
			annotate.SetError(ctx, "get "+secretURL, failed)
			return nil
		},
		"output": func(ctx context.Context) error {
			annotate.SetOutput(ctx, failed)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := &memorySink{}
			c, spans := start(t, live(sink))
			func() {
				defer func() { _ = recover() }()
				_ = c.Do(t.Context(), "x", do)
			}()
			if err := c.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			all, err := spans.Result().MarshalOTLP()
			if err != nil {
				t.Fatal(err)
			}
			for place, data := range map[string]string{"spans": string(all), "sink": fmt.Sprintf("%+v", sink.got)} {
				if strings.Contains(data, secret) || !strings.Contains(data, visibleURL) {
					t.Errorf("the %s have the secret, or have lost the rest: %s", place, data)
				}
			}
			if bytes.Contains(all, []byte("truncated")) {
				t.Error("a short text is cut")
			}
		})
	}
}

// A long text is cut once, and says how much of it is missing.
func TestLongErrors(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	_ = c.Do(t.Context(), "error", func(context.Context) error { return errors.New(strings.Repeat("x", 5000)) })
	_ = c.Do(t.Context(), "told", func(ctx context.Context) error {
		annotate.SetError(ctx, strings.Repeat("y", 50_000), nil)
		return nil
	})
	for name, want := range map[string]string{
		"error": strings.Repeat("x", 4096) + "…[truncated 904 bytes]",
		"told":  strings.Repeat("y", 4096) + "…[truncated 45904 bytes]",
	} {
		if diff := cmp.Diff(want, spans.Span(name).One().Status.Message); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// What goes to OpenTelemetry's error handler goes to a log.
func TestNoSecretOfAMetricIsLogged(t *testing.T) {
	failed := &url.Error{Op: "Get", URL: secretURL, Err: errors.New("reset")}
	var mu sync.Mutex
	var told []error
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err)
	}))
	defer otel.SetErrorHandler(before)
	c, spans := start(t)
	m := annotate.MetricFunc("m", func(context.Context, annotate.Sample) (annotate.Score, error) { return annotate.Score{}, failed })
	_, _ = annotate.Call(t.Context(), "x", "", echo, annotate.Metrics(m), c)
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got := spans.Span("evaluate m").Err().One().Status.Message; !strings.Contains(got, visibleURL) {
		t.Errorf("status message %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 || !strings.Contains(told[0].Error(), visibleURL) {
		t.Errorf("told %v", told)
	}
}

// A stack shows the labels of its goroutine when the program wants that.
func TestNoSecretOfALabelIsRecorded(t *testing.T) {
	t.Setenv("GODEBUG", "tracebacklabels=1")
	c, spans := start(t)
	pprof.Do(t.Context(), pprof.Labels("url", secretURL), func(ctx context.Context) {
		defer func() { _ = recover() }()
		_ = c.Do(ctx, "x", func(context.Context) error { panic("x") })
	})
	for e := range spans.Span("x").One().Exceptions() {
		if strings.Contains(e.Stacktrace, secret) || !strings.Contains(e.Stacktrace, visibleURL) {
			t.Errorf("the stack is %s", e.Stacktrace)
		}
		return
	}
	t.Error("no exception")
}

// An error may be what a stream brings.
func TestNoSecretOfAStreamIsRecorded(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	out := annotate.Chan("x", func(context.Context, int) <-chan error {
		in := make(chan error, 1)
		in <- &url.Error{Op: "Get", URL: secretURL, Err: errors.New("reset")}
		close(in)
		return in
	}, c)(t.Context(), 1)
	for err := range out {
		if !strings.Contains(err.Error(), secret) {
			t.Errorf("the program gets %v", err)
		}
	}
	v, _ := spans.Wait("x", 1).One().Attr(string(annotate.OutputValueKey))
	if got := v.AsString(); strings.Contains(got, secret) || !strings.Contains(got, "REDACTED@h/a?token=REDACTED") {
		t.Errorf("the output is %q", got)
	}
}
