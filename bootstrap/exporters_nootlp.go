//go:build waymark_nootlp

package bootstrap

import (
	"errors"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
)

// otlpBuiltIn says that this binary was built without the OTLP exporters.
const otlpBuiltIn = false

func newOTLPExporter(env.OTLP) (sdktrace.SpanExporter, error) {
	return nil, errors.New("built with the tag waymark_nootlp")
}
