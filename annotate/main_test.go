package annotate_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// recorder has the spans of a test.
type recorder struct{ *capturetest.Trace }

var discard = slog.New(slog.DiscardHandler)

// start begins an independent tracing that keeps its spans in memory, and a client over it.
func start(tb testing.TB, change ...func(*annotate.Config)) (*annotate.Client, recorder) {
	tb.Helper()
	return startWith(tb, nil, change...)
}

// startWith is start with more processors.
func startWith(tb testing.TB, more []sdktrace.SpanProcessor, change ...func(*annotate.Config)) (*annotate.Client, recorder) {
	tb.Helper()
	_, tr := capturetest.Start(tb)
	tracing, err := bootstrap.Start(tb.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard, Processors: append(more, tr.Processor()),
		Lookup: env.Map{"SHOP_TRACING": "true", "OTEL_TRACES_EXPORTER": "none"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := tracing.Shutdown(ctx); err != nil {
			tb.Error(err)
		}
	})
	cfg := annotate.Config{Tracing: tracing}
	for _, f := range change {
		f(&cfg)
	}
	c, err := annotate.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c, recorder{tr}
}

// attrs returns the attributes of the span with the name, those that are strings as they are.
func (r recorder) attrs(tb testing.TB, name string) map[attribute.Key]string {
	tb.Helper()
	return texts(r.Span(name).One().Attributes)
}

func texts(attrs []traces.Attribute) map[attribute.Key]string {
	m := map[attribute.Key]string{}
	for _, a := range attrs {
		if m[attribute.Key(a.Key)] = a.Value.AsString(); a.Value.Kind() != traces.ValueString {
			m[attribute.Key(a.Key)] = render.FormatValue(a.Value)
		}
	}
	return m
}

// wanted is what attributes a span is to have; "" is an absent one.
type wanted map[attribute.Key]any

// has fails unless the one span with the name has the attributes.
func (r recorder) has(tb testing.TB, name string, want wanted) {
	tb.Helper()
	s := r.Span(name).Times(1)
	for key, value := range want {
		if value == "" {
			s.NoAttr(string(key))
		} else {
			s.Attr(string(key), value)
		}
	}
}
