package middleware

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

func testProvider(tb testing.TB) *sdktrace.TracerProvider {
	tb.Helper()
	tp := sdktrace.NewTracerProvider()
	tb.Cleanup(func() { _ = tp.Shutdown(context.Background()) })
	return tp
}

// as asserts a type.
func as[T any](v any) T {
	t, ok := v.(T)
	if !ok {
		panic("wrong type")
	}
	return t
}
