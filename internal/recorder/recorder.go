// Package recorder makes spans: it is a tracer provider that behaves as that of
// OpenTelemetry's SDK does and costs less. Its spans are read-write spans of the
// SDK's interfaces, so that processors, exporters, samplers and ID generators
// that were written for the SDK work with it unchanged.
//
// It reads no environment variable and logs nothing. Where it differs from the
// SDK, differences_test.go has the closed list.
package recorder

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// Config says how spans are made.
type Config struct {
	// Processors see each span, in this order.
	Processors []sdktrace.SpanProcessor
	// Sampler decides for each span. Default: always_on, if the parent does not say otherwise.
	Sampler sdktrace.Sampler
	// IDGenerator makes the IDs. Default: random ones.
	IDGenerator sdktrace.IDGenerator
	// Limits bound a span. They count as they are, so that 0 keeps nothing and
	// a negative one has no bound; only an AttributeValueDepthLimit of 0 is the default one.
	Limits sdktrace.SpanLimits
	// Resource is that of each span, as it is. Default: the empty one.
	Resource *resource.Resource
	// WithoutPanicRecording leaves a panic that a deferred End sees unrecorded.
	WithoutPanicRecording bool
}

// Provider makes tracers. It is safe for concurrent use.
type Provider struct {
	embedded.TracerProvider
	sampler      sdktrace.Sampler
	ids          sdktrace.IDGenerator
	limits       sdktrace.SpanLimits
	resource     *resource.Resource
	recordPanics bool

	processors atomic.Pointer[[]*processor] // never nil, and never changed in place
	isShutdown atomic.Bool

	mu      sync.Mutex // held while processors is replaced
	tracers map[instrumentation.Scope]*tracer
}

var _ trace.TracerProvider = (*Provider)(nil)

// New returns a provider.
func New(c Config) *Provider {
	p := &Provider{
		sampler:      c.Sampler,
		ids:          c.IDGenerator,
		limits:       c.Limits,
		resource:     c.Resource,
		recordPanics: !c.WithoutPanicRecording,
		tracers:      map[instrumentation.Scope]*tracer{},
	}
	if p.sampler == nil {
		p.sampler = sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	if p.ids == nil {
		p.ids = randomIDs{}
	}
	if p.limits.AttributeValueDepthLimit == 0 {
		p.limits.AttributeValueDepthLimit = sdktrace.DefaultAttributeValueDepthLimit
	}
	if p.resource == nil {
		p.resource = resource.Empty()
	}
	list := make([]*processor, 0, len(c.Processors))
	for _, sp := range c.Processors {
		if sp != nil {
			list = append(list, &processor{SpanProcessor: sp})
		}
	}
	p.processors.Store(&list)
	return p
}
