package capturetest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// fake is a test whose failures are the subject of another one.
type fake struct {
	testing.TB
	name     string
	failed   bool
	failures []string
	logs     []string
	attrs    map[string]string
	output   bytes.Buffer
	cleanups []func()
	dir      string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	return &fake{TB: t, name: "TestFake", attrs: map[string]string{}, dir: t.TempDir()}
}

func (f *fake) Name() string               { return f.name }
func (f *fake) Helper()                    {}
func (f *fake) Context() context.Context   { return f.TB.Context() }
func (f *fake) Cleanup(c func())           { f.cleanups = append(f.cleanups, c) }
func (f *fake) Failed() bool               { return f.failed }
func (f *fake) Output() io.Writer          { return &f.output }
func (f *fake) ArtifactDir() string        { return f.dir }
func (f *fake) Attr(key, value string)     { f.attrs[key] = value }
func (f *fake) Logf(s string, args ...any) { f.logs = append(f.logs, fmt.Sprintf(s, args...)) }
func (f *fake) Error(args ...any)          { f.Errorf("%s", fmt.Sprint(args...)) }
func (f *fake) Errorf(s string, args ...any) {
	f.failed = true
	f.failures = append(f.failures, fmt.Sprintf(s, args...))
}

// end ends the test as package testing does.
func (f *fake) end() {
	for len(f.cleanups) > 0 {
		last := len(f.cleanups) - 1
		c := f.cleanups[last]
		f.cleanups = f.cleanups[:last]
		c()
	}
}

// one returns the only failure since the last call, "" for none.
func (f *fake) one(t *testing.T) string {
	t.Helper()
	defer func() { f.failures = nil }()
	switch len(f.failures) {
	case 0:
		return ""
	case 1:
		return f.failures[0]
	default:
		t.Errorf("%d failures: %q", len(f.failures), f.failures)
		return strings.Join(f.failures, "\n")
	}
}

// shop makes the spans of the package's example.
func shop(ctx context.Context) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("shop")
	ctx, checkout := tracer.Start(ctx, "checkout")
	_, reserve := tracer.Start(ctx, "reserve", trace.WithAttributes(attribute.Int("n", 2)))
	reserve.End()
	_, charge := tracer.Start(ctx, "charge", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("order", "A-1"), attribute.StringSlice("tags", []string{"a, b", "c]"})))
	charge.SetStatus(codes.Error, "declined")
	charge.End()
	checkout.SetStatus(codes.Error, "declined")
	checkout.End()
}

func started(t *testing.T, opts ...capturetest.Option) (*fake, context.Context, *capturetest.Trace) {
	t.Helper()
	f := newFake(t)
	ctx, tr := capturetest.Start(f, opts...)
	return f, ctx, tr
}
