package bootstrap

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestCleanSpansStayAsTheyAre(t *testing.T) {
	// One resource and no slice in an attribute, which the API copies.
	stub := tracetest.SpanStub{
		Name:       "GET /é",
		Attributes: []attribute.KeyValue{attribute.String("k", "é"), attribute.Int("n", 1)},
		Events:     []sdktrace.Event{{Name: "e", Attributes: []attribute.KeyValue{attribute.Bool("b", true)}}},
		Resource:   resource.NewSchemaless(attribute.String("service.name", "shop")),
	}
	spans := tracetest.SpanStubs{stub, stub}.Snapshots()
	var c cleaner
	if got := c.spans(spans); &got[0] != &spans[0] {
		t.Error("clean spans were copied")
	}
	allocs := testing.AllocsPerRun(100, func() { c.spans(spans) })
	if allocs > 0 {
		t.Errorf("%v allocations for clean spans, want 0", allocs)
	}
}
