package bootstrap

import (
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
)

// newSampler builds what OTEL_TRACES_SAMPLER names.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#general-sdk-configuration
func newSampler(s env.Sampler) sdktrace.Sampler {
	switch s.Name {
	case "always_on":
		return sdktrace.AlwaysSample()
	case "always_off":
		return sdktrace.NeverSample()
	case "traceidratio":
		return sdktrace.TraceIDRatioBased(s.Arg)
	case "parentbased_always_off":
		return sdktrace.ParentBased(sdktrace.NeverSample())
	case "parentbased_traceidratio":
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(s.Arg))
	default:
		return sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
}

func newLimits(l env.Limits) sdktrace.SpanLimits {
	return sdktrace.SpanLimits{
		AttributeValueLengthLimit:   l.AttributeValueLength.V,
		AttributeValueDepthLimit:    sdktrace.DefaultAttributeValueDepthLimit,
		AttributeCountLimit:         l.AttributeCount.V,
		EventCountLimit:             l.EventCount.V,
		LinkCountLimit:              l.LinkCount.V,
		AttributePerEventCountLimit: l.AttributePerEventCount.V,
		AttributePerLinkCountLimit:  l.AttributePerLinkCount.V,
	}
}
