//go:build !waymark_nootlp

package bootstrap_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
)

const bad = "a\xff\xfeb"

// invalidSpans makes a span for each place that text can stand in.
func invalidSpans(ctx context.Context, tp trace.TracerProvider) int {
	tracer := tp.Tracer("test")
	end := func(tracer trace.Tracer, name string, do func(trace.Span), opts ...trace.SpanStartOption) {
		_, span := tracer.Start(ctx, name, opts...)
		do(span)
		span.End()
	}
	nothing := func(trace.Span) {}
	attrs := []attribute.KeyValue{
		attribute.String("key"+bad, "x"),
		attribute.String("value", bad),
		attribute.StringSlice("slice", []string{"good", bad}),
		{Key: "values", Value: attribute.SliceValue(attribute.IntValue(1), attribute.StringValue(bad))},
		{Key: "map", Value: attribute.MapValue(attribute.String("k"+bad, "v"), attribute.String("k", bad))},
	}
	for _, kv := range attrs {
		end(tracer, "attribute", nothing, trace.WithAttributes(attribute.Int("first", 1), kv))
		end(tracer, "event", func(s trace.Span) { s.AddEvent("e", trace.WithAttributes(kv)) })
		end(tracer, "link", func(s trace.Span) {
			s.AddLink(trace.Link{SpanContext: s.SpanContext(), Attributes: []attribute.KeyValue{kv}})
		})
	}
	end(tracer, "name"+bad, nothing)
	end(tracer, "event name", func(s trace.Span) { s.AddEvent(bad) })
	end(tracer, "status", func(s trace.Span) { s.SetStatus(codes.Error, bad) })
	end(tracer, "error", func(s trace.Span) { s.RecordError(errors.New(bad)) })
	end(tp.Tracer("scope"+bad, trace.WithInstrumentationVersion(bad), trace.WithSchemaURL(bad),
		trace.WithInstrumentationAttributes(attribute.String("k", bad))), "scope", nothing)
	end(tracer, "clean", nothing)
	return 3*len(attrs) + 6
}

// One string that is no UTF-8 costs neither its span nor its batch.
func TestInvalidUTF8CostsNoSpan(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf", "http/json"} {
		for name, mask := range map[string]func(attribute.KeyValue) (attribute.KeyValue, bool){
			"plain":  nil,
			"masked": func(kv attribute.KeyValue) (attribute.KeyValue, bool) { return kv, true },
		} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				t.Parallel()
				got, vars := collectorFor(t, protocol, takeAll)
				vars["OTEL_RESOURCE_ATTRIBUTES"] = "k=a%FF"
				tracing, _ := start(t, vars, func(c *bootstrap.Config) { c.Version, c.Mask = bad, mask })
				n := invalidSpans(t.Context(), tracing.TracerProvider())
				if err := shutdown(t, tracing); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
				if got.count() != n {
					t.Errorf("the collector got %d spans, want %d", got.count(), n)
				}
				balance(t, tracing.Report())
				if protocol == "http/json" {
					return // the collector of this test reads names alone
				}
				for _, s := range got.spans {
					if strings.HasPrefix(s.GetName(), "name") && s.GetName() != "namea\uFFFD\uFFFDb" {
						t.Errorf("name %q", s.GetName())
					}
					if s.GetName() == "status" && s.GetStatus().GetMessage() != "a\uFFFD\uFFFDb" {
						t.Errorf("status %q", s.GetStatus().GetMessage())
					}
				}
			})
		}
	}
}

// Processors of the program have exporters too.
func TestProcessorsSeeUTF8(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	tracing, _ := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none"}, withProcessor(tr.Processor()))
	_, span := tracing.TracerProvider().Tracer("test").Start(t.Context(), bad)
	span.End()
	tr.Span("a\uFFFD\uFFFDb").Times(1)
}
