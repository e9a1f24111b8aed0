package bootstrap_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/recorder"
)

// What a processor of the program sees is the same with either provider: limits,
// mask and resource are the configuration's.
func TestEitherProvider(t *testing.T) {
	t.Parallel()
	seen := map[bool][]string{}
	for _, sdk := range []bool{false, true} {
		p := &notingProcessor{}
		vars := none()
		vars["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"] = "3"
		vars["OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"] = "4"
		vars["OTEL_RESOURCE_ATTRIBUTES"] = "team=blue"
		tracing, _ := start(t, vars, withProcessor(p), func(c *bootstrap.Config) { c.SDK, c.Mask = sdk, hideSecret })
		tracer := tracing.TracerProvider().Tracer("shop", trace.WithInstrumentationVersion("1"))
		ctx, parent := tracer.Start(t.Context(), "parent", trace.WithSpanKind(trace.SpanKindServer))
		_, child := tracer.Start(ctx, "child", trace.WithAttributes(attribute.String("secret", "x"), attribute.String("a", "long text")))
		child.SetAttributes(attribute.Int("b", 1), attribute.Int("c", 1))
		child.RecordError(context.Canceled)
		child.End()
		parent.End()
		if err := shutdown(t, tracing); err != nil {
			t.Error(err)
		}
		for _, s := range p.ended {
			seen[sdk] = append(seen[sdk], told(s)...)
		}
	}
	if diff := cmp.Diff(seen[true], seen[false]); diff != "" || len(seen[false]) != 2*9 {
		t.Errorf("the SDK's -, ours +:\n%s", diff)
	}
}

func hideSecret(kv attribute.KeyValue) (attribute.KeyValue, bool) { return kv, kv.Key != "secret" }

// told is what a span says, without IDs and times.
func told(s sdktrace.ReadOnlySpan) []string {
	text := func(kvs []attribute.KeyValue) string {
		set := attribute.NewSet(kvs...)
		return set.Encoded(attribute.DefaultEncoder())
	}
	var events strings.Builder
	for _, e := range s.Events() {
		events.WriteString(e.Name + text(e.Attributes))
	}
	instance := s.Resource().Set().Len()
	team, _ := s.Resource().Set().Value("team")
	return []string{
		s.Name(), s.SpanKind().String(), text(s.Attributes()), events.String(), s.InstrumentationScope().Name + s.InstrumentationScope().Version,
		team.AsString(), string(rune('0' + s.DroppedAttributes())), string(rune('0' + s.ChildSpanCount())), string(rune('0' + instance)),
	}
}

// Config.SDK says whose provider makes the spans.
func TestConfigSDK(t *testing.T) {
	t.Parallel()
	for _, sdk := range []bool{false, true} {
		tracing, _ := start(t, env.Map{}, func(c *bootstrap.Config) { c.SDK = sdk })
		_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "x")
		span.End()
		_, ours := span.TracerProvider().(*recorder.Provider)
		_, theirs := span.TracerProvider().(*sdktrace.TracerProvider)
		if ours == sdk || theirs != sdk {
			t.Errorf("SDK %t: the provider is a %T", sdk, span.TracerProvider())
		}
	}
	tracing, _ := start(t, env.Map{})
	_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "x")
	span.End()
	if _, ours := span.TracerProvider().(*recorder.Provider); ours != (os.Getenv(sdkKey) == "") {
		t.Errorf("by default the provider is a %T", span.TracerProvider())
	}
}
