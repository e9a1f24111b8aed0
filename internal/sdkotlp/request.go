package sdkotlp

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// AppendProtoRequest appends an ExportTraceServiceRequest in protobuf.
func AppendProtoRequest(b []byte, spans []sdktrace.ReadOnlySpan) []byte {
	for _, g := range grouped(spans) {
		b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte {
			b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return appendProtoResource(b, g.resource) })
			b = otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
				b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return appendProtoScope(b, g.scope) })
				for _, s := range g.spans {
					b = otlpproto.AppendMessage(b, 2, func(b []byte) []byte { return appendProtoSpan(b, s) })
				}
				return appendProtoText(b, 3, g.scope.SchemaURL)
			})
			return appendProtoText(b, 3, g.resource.SchemaURL())
		})
	}
	return b
}

// AppendJSONRequest appends an ExportTraceServiceRequest in JSON.
func AppendJSONRequest(b []byte, spans []sdktrace.ReadOnlySpan) []byte {
	var e JSON
	b = append(b, otlpjson.DocumentStart...)
	for _, g := range grouped(spans) {
		b = append(b, otlpjson.LineStart[len(otlpjson.DocumentStart):]...)
		for _, s := range g.spans {
			b = e.AppendSpan(nil, b, s)
		}
		b = append(otlpjson.CloseList(b), e.LineEnd(g.resource, &g.scope)...)
		b = append(b[:len(b)-len(otlpjson.DocumentEnd)], ',')
	}
	return append(otlpjson.CloseList(b), '}')
}

// group is the spans of one resource and scope.
type group struct {
	resource *resource.Resource
	scope    instrumentation.Scope
	spans    []sdktrace.ReadOnlySpan
}

// groupKey tells groups apart: resources by pointer, which a provider has one of.
type groupKey struct {
	resource              *resource.Resource
	name, version, schema string
	attributes            attribute.Distinct
}

// grouped returns the groups in the order of their first spans.
func grouped(spans []sdktrace.ReadOnlySpan) []*group {
	var all []*group
	byKey := map[groupKey]*group{}
	for _, s := range spans {
		r, scope := s.Resource(), s.InstrumentationScope()
		key := groupKey{r, scope.Name, scope.Version, scope.SchemaURL, scope.Attributes.Equivalent()}
		g := byKey[key]
		if g == nil {
			g = &group{resource: r, scope: scope}
			byKey[key] = g
			all = append(all, g)
		}
		g.spans = append(g.spans, s)
	}
	return all
}
