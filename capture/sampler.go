package capture

import (
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/capturing"
)

// Sampler lets captures see what base drops: a span of a captured trace is then
// recorded without being sampled, so that no exporter gets it. Without it a
// provider that samples one percent gives an empty result in 99 of 100 captures.
//
//	sdktrace.NewTracerProvider(sdktrace.WithSampler(capture.Sampler(base)), …)
//
// Wrap the outermost sampler. What is not captured is decided by base alone.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk.md#sampling
func Sampler(base sdktrace.Sampler) sdktrace.Sampler {
	return capturing.NewSampler(base, sdktrace.RecordOnly)
}
