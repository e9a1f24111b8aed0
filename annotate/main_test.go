package annotate_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// recorder keeps the spans that end.
type recorder struct{ *tracetest.SpanRecorder }

var discard = slog.New(slog.DiscardHandler)

// keyOf is short for maps of what a span is to have.
type keyOf = attribute.Key

// start begins an independent tracing that keeps its spans in memory, and a client over it.
func start(tb testing.TB, change ...func(*annotate.Config)) (*annotate.Client, recorder) {
	tb.Helper()
	return startWith(tb, nil, change...)
}

// startWith is start with more processors.
func startWith(tb testing.TB, more []sdktrace.SpanProcessor, change ...func(*annotate.Config)) (*annotate.Client, recorder) {
	tb.Helper()
	spans := recorder{tracetest.NewSpanRecorder()}
	tracing, err := bootstrap.Start(tb.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard, Processors: append(more, spans),
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
	return c, spans
}

// named returns the ended span with the name; there must be one.
func (r recorder) named(tb testing.TB, name string) sdktrace.ReadOnlySpan {
	tb.Helper()
	var found sdktrace.ReadOnlySpan
	for _, s := range r.Ended() {
		if s.Name() == name {
			if found != nil {
				tb.Fatalf("two spans are named %q", name)
			}
			found = s
		}
	}
	if found == nil {
		tb.Fatalf("no span is named %q", name)
	}
	return found
}

// attrs returns the attributes of the span with the name, as text.
func (r recorder) attrs(tb testing.TB, name string) map[attribute.Key]string {
	tb.Helper()
	return texts(r.named(tb, name).Attributes())
}

func texts(kvs []attribute.KeyValue) map[attribute.Key]string {
	m := map[attribute.Key]string{}
	for _, kv := range kvs {
		m[kv.Key] = kv.Value.String()
	}
	return m
}

// has fails unless the span with the name has the attributes; "" is an absent one.
func (r recorder) has(tb testing.TB, name string, want map[attribute.Key]string) {
	tb.Helper()
	got := r.attrs(tb, name)
	for key, value := range want {
		if have, ok := got[key]; have != value || ok != (value != "") {
			tb.Errorf("span %q: %s = %q, want %q", name, key, have, value)
		}
	}
}
