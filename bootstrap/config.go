package bootstrap

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/secrets"
)

// DefaultShutdownTimeout is how long [Tracing.Serve] and [Tracing.Shutdown]
// take at most when nothing else is said. `docker stop` kills after 10 s.
const DefaultShutdownTimeout = 8 * time.Second

// Config is the whole configuration. The zero value is good. What is set here
// beats the environment.
type Config struct {
	// App is the one word that names the variables (SHOP_TRACING), the service
	// and the folder of the span file. Default: the executable's name.
	App string
	// Version is the resource's service.version. Default: the main module's
	// version in the build information, when it has one.
	Version string
	// Environment is the resource's deployment.environment.name. Default: none.
	Environment string
	// Logger takes findings, notices and the account. Default: slog.Default(),
	// as it is at each line.
	Logger *slog.Logger
	// Lookup is where the variables come from; tests pass an [env.Map].
	// Default: the process.
	Lookup env.Lookup
	// Strict makes every finding part of Start's error. Tracing starts
	// nevertheless, as it does without Strict.
	Strict bool
	// Force replaces a provider that the program has set. Default: Waymark adds
	// its processor to it.
	Force bool
	// AlsoFile writes the file beside any other destination.
	AlsoFile bool
	// NoGlobals leaves OpenTelemetry's globals (provider, propagator, error
	// handler, logger) alone. Such a Start is independent of every other one.
	NoGlobals bool
	// SDK takes the provider of OpenTelemetry's SDK instead of Waymark's, which
	// does the same for less. It settles a doubt about ours. That provider reads
	// variables of the process itself: with NoGlobals the program's own error
	// handler is told when OTEL_TRACES_SAMPLER or OTEL_RESOURCE_ATTRIBUTES is
	// malformed there. Default: Waymark's.
	SDK bool
	// ShutdownTimeout bounds Serve's way out, and Shutdown when its context has
	// no deadline. Default: DefaultShutdownTimeout.
	ShutdownTimeout time.Duration
	// Processors are added to the provider; Shutdown flushes and shuts them
	// down once. They see spans as Mask leaves them.
	Processors []sdktrace.SpanProcessor
	// Instrument switches other libraries on with the provider that was built.
	// Errors and panics are logged. They do not run when tracing is off.
	Instrument []func(trace.TracerProvider) error
	// Mask changes an attribute, or hides it (false), before anything sees it:
	// the sampler, the file, every exporter, Processors. It also sees the
	// attributes of events, links and the resource. It is called from many
	// goroutines at once; when it panics the attribute is hidden. Default: none.
	Mask func(attribute.KeyValue) (attribute.KeyValue, bool)
}

func (c Config) app() string {
	if app := strings.TrimSpace(c.App); app != "" {
		return app
	}
	exe, err := os.Executable()
	if err != nil {
		return "app"
	}
	return strings.TrimSuffix(filepath.Base(exe), ".exe")
}

func (c Config) lookup() env.Lookup {
	if c.Lookup == nil {
		return env.Process()
	}
	return c.Lookup
}

// Variables returns where the variables of this configuration come from: Lookup,
// or the process. It is for code that puts values of its own in front of them.
func (c Config) Variables() env.Lookup { return c.lookup() }

func (c Config) logger(known *secrets.Redactor) *slog.Logger {
	logger := c.Logger
	if logger == nil {
		logger = slog.New(currentHandler{})
	}
	return slog.New(guardedHandler{logger.Handler(), known})
}

func (c Config) shutdownTimeout() time.Duration {
	if c.ShutdownTimeout <= 0 {
		return DefaultShutdownTimeout
	}
	return c.ShutdownTimeout
}
