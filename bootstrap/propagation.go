package bootstrap

import (
	"go.opentelemetry.io/contrib/propagators/aws/xray"
	"go.opentelemetry.io/contrib/propagators/b3"
	"go.opentelemetry.io/contrib/propagators/jaeger"
	"go.opentelemetry.io/contrib/propagators/ot"
	"go.opentelemetry.io/otel/propagation"

	"github.com/waymark-trace/waymark/tracecontext"
)

// newPropagator builds what OTEL_PROPAGATORS names, in its order. When several
// find a trace in the headers the last one wins.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#general-sdk-configuration
func newPropagator(names []string) propagation.TextMapPropagator {
	var all []propagation.TextMapPropagator
	for _, name := range names {
		switch name {
		case "tracecontext":
			all = append(all, tracecontext.New())
		case "baggage":
			all = append(all, propagation.Baggage{})
		case "b3":
			all = append(all, b3.New(b3.WithInjectEncoding(b3.B3SingleHeader)))
		case "b3multi":
			all = append(all, b3.New(b3.WithInjectEncoding(b3.B3MultipleHeader)))
		case "jaeger":
			all = append(all, jaeger.Jaeger{})
		case "xray":
			all = append(all, xray.Propagator{})
		case "ottrace":
			all = append(all, ot.OT{})
		default: // none
		}
	}
	return propagation.NewCompositeTextMapPropagator(all...)
}
