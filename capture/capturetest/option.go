package capturetest

import (
	"slices"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Option configures a [Trace]. The last of two of the same kind wins.
type Option interface{ apply(c config) config }

type config struct {
	provider  []sdktrace.TracerProviderOption
	allowOpen bool
	durations bool
}

type option func(config) config

func (o option) apply(c config) config { return o(c) }

// WithProviderOptions adds options of the SDK's provider: a sampler, limits, a
// resource, another processor. The default provider samples everything and has
// an empty resource.
func WithProviderOptions(opts ...sdktrace.TracerProviderOption) Option {
	return option(func(c config) config {
		c.provider = append(slices.Clip(c.provider), opts...)
		return c
	})
}

// WithOpenSpans lets spans be open at the end of the test. By default they fail
// it.
func WithOpenSpans() Option {
	return option(func(c config) config { c.allowOpen = true; return c })
}

// WithDurations writes durations into golden files, for tests in a
// testing/synctest bubble, where they are exact. By default they are left out.
func WithDurations() Option {
	return option(func(c config) config { c.durations = true; return c })
}
