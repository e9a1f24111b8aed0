package capture

import (
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the instrumentation scope of root spans, unless [Scope] names
// another.
const ScopeName = "github.com/waymark-trace/waymark/capture"

// DefaultMaxSpans is how many spans a capture keeps, unless [WithMaxSpans] says
// otherwise.
const DefaultMaxSpans = 100_000

// Option configures a capture. The last of two of the same kind wins; a zero or
// nil argument keeps the default.
type Option interface{ apply(c config) config }

type config struct {
	name       string
	scope      string
	output     string
	into       []**Result
	attributes []attribute.KeyValue
	provider   trace.TracerProvider
	maxSpans   int
	logger     *slog.Logger
}

type option func(config) config

func (o option) apply(c config) config { return o(c) }

func newConfig(opts []Option) config {
	c := config{scope: ScopeName, maxSpans: DefaultMaxSpans, logger: slog.New(slog.DiscardHandler)}
	for _, o := range opts {
		if o != nil {
			c = o.apply(c)
		}
	}
	return c
}

// Name sets the name of the root span. The default is the name given to [Run] or
// [Start]; if that is empty, the name of the calling function; for [Func] and its
// like, the name of the function that is wrapped.
func Name(name string) Option {
	return option(func(c config) config {
		if name != "" {
			c.name = name
		}
		return c
	})
}

// Scope sets the instrumentation scope of the root span. The default is
// [ScopeName].
func Scope(name string) Option {
	return option(func(c config) config {
		if name != "" {
			c.scope = name
		}
		return c
	})
}

// Output saves the Chrome trace at path when the block ends, however it ends:
// see [Result.SaveChrome]. An error of saving is the block's error if that is
// otherwise nil, and goes to the logger if not. The default is not to save.
func Output(path string) Option {
	return option(func(c config) config {
		if path != "" {
			c.output = path
		}
		return c
	})
}

// Into stores the result at res when the block ends, before a panic goes on: it
// is how to get at the result of a block that panics, and of a wrapped function.
// Given more than once, each gets it. It is not for a wrapped function that runs
// more than once at a time.
func Into(res **Result) Option {
	return option(func(c config) config {
		if res != nil {
			c.into = append(slices.Clip(c.into), res)
		}
		return c
	})
}

// WithAttributes adds attributes to the root span.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return option(func(c config) config {
		c.attributes = append(slices.Clip(c.attributes), attributes...)
		return c
	})
}

// WithTracerProvider captures spans of this provider. The default is OTel's global
// one, as it is when the block starts.
func WithTracerProvider(tp trace.TracerProvider) Option {
	return option(func(c config) config {
		if tp != nil {
			c.provider = tp
		}
		return c
	})
}

// WithMaxSpans bounds the number of spans that are kept: the first n to start.
// The others are counted, see [Result.Dropped]. The default is
// [DefaultMaxSpans], 100,000.
func WithMaxSpans(n int) Option {
	return option(func(c config) config {
		if n > 0 {
			c.maxSpans = n
		}
		return c
	})
}

// WithLogger sets where an error goes that can go nowhere else, at level Debug.
// The default is to discard it.
func WithLogger(l *slog.Logger) Option {
	return option(func(c config) config {
		if l != nil {
			c.logger = l
		}
		return c
	})
}
