package jsonlexport_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	exporter, err := jsonlexport.New(filepath.Join(dir, "spans.jsonl"))
	if err != nil {
		fmt.Println(err) // tracing is off then; the program goes on
		return
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exporter))
	_, span := provider.Tracer("example").Start(context.Background(), "work")
	span.End()
	if err := provider.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}

	data, err := os.ReadFile(exporter.Path())
	fmt.Printf("%s %d line, %d exported, %v\n", filepath.Base(exporter.Path()), bytes.Count(data, []byte("\n")), exporter.Stats().Exported, err)
	// Output: spans.jsonl 1 line, 1 exported, <nil>
}

func ExampleWithTransform() {
	var out bytes.Buffer
	exporter := jsonlexport.NewWriter(&out, jsonlexport.WithTransform(
		func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			return kv, kv.Key != "user.email"
		}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exporter))
	_, span := provider.Tracer("example").Start(context.Background(), "work")
	span.SetAttributes(attribute.String("user.email", "a@example.com"), attribute.Int("items", 3))
	span.End()
	_ = provider.Shutdown(context.Background())

	fmt.Println(bytes.Contains(out.Bytes(), []byte("example.com")), bytes.Contains(out.Bytes(), []byte(`{"key":"items","value":{"intValue":"3"}}`)))
	// Output: false true
}
