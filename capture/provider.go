package capture

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// ErrNoSDK is in the error of a capture whose provider takes no span processor,
// so that there is no way to see its spans. The block is not run then.
var ErrNoSDK = errors.New("the tracer provider takes no span processor")

// ErrTraceIDInUse is in the error of a capture whose trace ID is that of another
// open one: the provider's IDGenerator repeats itself. The block is not run then.
var ErrTraceIDInUse = errors.New("the trace ID is being captured already")

// registrar is a provider that takes processors, as the SDK's does.
type registrar interface {
	RegisterSpanProcessor(sdktrace.SpanProcessor)
	UnregisterSpanProcessor(sdktrace.SpanProcessor)
}

// unwrapper is a provider around another one.
type unwrapper interface{ Unwrap() trace.TracerProvider }

// maxUnwrap ends the way through providers that wrap each other.
const maxUnwrap = 8

// activeProvider is the one of the options, else OTel's global one, else one that
// it installs. It looks anew each time, so a provider that is set later is
// captured from then on.
func activeProvider(c config) (trace.TracerProvider, registrar, error) {
	tp := c.provider
	if tp == nil || isUnset(tp) {
		tp = globalProvider()
	}
	inner := tp
	for range maxUnwrap {
		if r, ok := inner.(registrar); ok {
			return tp, r, nil
		}
		u, ok := inner.(unwrapper)
		if !ok {
			break
		}
		inner = u.Unwrap()
	}
	return nil, nil, fmt.Errorf("%w: it is a %T: pass the provider of OpenTelemetry's SDK that is inside it "+
		"with capture.WithTracerProvider, give it a method Unwrap() trace.TracerProvider, "+
		"or set an SDK provider with otel.SetTracerProvider or bootstrap.Start", ErrNoSDK, tp)
}

// installing keeps two captures from installing a provider each.
//
//nolint:gochecknoglobals // guards OTel's global provider
var installing sync.Mutex

// globalProvider is OTel's global provider; while the program has set none, that
// is a stand-in.
func globalProvider() trace.TracerProvider {
	installing.Lock()
	defer installing.Unlock()
	tp := otel.GetTracerProvider()
	if isUnset(tp) {
		tp = newStandIn()
		otel.SetTracerProvider(tp)
	}
	return tp
}

// isUnset reports whether tp is the one that OTel begins with, which is a type of
// an internal package.
func isUnset(tp trace.TracerProvider) bool {
	return tp == nil || reflect.TypeOf(tp).String() == "*global.tracerProvider"
}
