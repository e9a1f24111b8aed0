// Package bootstrap turns tracing on for a whole program from one environment
// variable, and turns it off again without losing a span unseen.
//
// With App "shop", SHOP_TRACING=true makes every request of the wrapped handler
// a trace: in a local file when nothing else is configured, at an OTLP backend
// when the OTEL_* variables name one. Without the variable nothing exists: no
// provider, no goroutine, no file, no socket, and OpenTelemetry's globals are
// as they were.
//
//	tracing, err := bootstrap.Start(ctx, bootstrap.Config{App: "shop"})
//	if err != nil {
//		slog.Error("tracing", "err", err)
//	}
//	srv := &http.Server{Addr: ":8080", Handler: tracing.Middleware()(mux)}
//	err = tracing.Serve(ctx, srv)
//
// A bad variable never stops the program: it is one warning that names the
// variable, its value, what was wanted and what is used instead. [Explain] says
// what Start would do and where each value comes from, without doing it.
//
// What is lost is counted. After [Tracing.Shutdown], for each destination,
// Ended = Exported + Failed + Dropped.
package bootstrap

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/profile"
)

// Tracing is the handle that [Start] returns. It is never nil and every method
// works whether tracing is on, off or broken. It is safe for concurrent use.
type Tracing struct {
	cfg    Config
	plan   Plan
	logger *slog.Logger
	diag   *diagnostics

	active     bool // propagation at least
	recording  bool // spans are made
	provider   trace.TracerProvider
	propagator propagation.TextMapPropagator
	forward    *forwarder   // nil: off, or the program's own provider is used
	made       spanProvider // the provider that spans come from; nil: not ours
	foreign    registrar    // the program's provider; nil: none
	hub        *hub
	mask       maskFunc         // nil: nothing is hidden
	extra      []*userProcessor // Config.Processors
	profiler   *profile.Profiler
	restore    func() // puts OTel's error handler back

	mu             sync.Mutex
	hooks          []func(context.Context) error
	serving        int          // calls of Serve that run
	over           atomic.Bool  // no span is made any more
	reason         atomic.Value // string, why the program stops
	goroutinesDone atomic.Bool
	stopOnce       sync.Once
	stopped        chan struct{}
	ended          atomic.Bool // stop has returned; stopped itself only the synctest bubble that made it may touch
	ending         ending      // after stopped
}

// Enabled reports whether spans are made: not when tracing is off, and no
// more once [Tracing.Shutdown] has come to the flush.
func (t *Tracing) Enabled() bool { return t.recording && !t.over.Load() }

// TracerProvider returns the provider that Waymark uses: the forwarding one of
// the process, the program's own when Start found one, a no-op one when tracing
// is off. Tracers taken from the forwarding provider keep working after
// Shutdown and another Start.
func (t *Tracing) TracerProvider() trace.TracerProvider { return t.provider }

// Destination says in words for people where spans go: the path of a file, the
// URL of an endpoint without its user and query, several separated by a comma.
// It is empty when tracing is off.
func (t *Tracing) Destination() string {
	if t.hub == nil {
		return ""
	}
	words := make([]string, 0, len(t.hub.dests))
	for _, d := range t.hub.dests {
		words = append(words, d.target)
	}
	return strings.Join(words, ", ")
}

// Mask applies Config.Mask and OPENINFERENCE_HIDE_* to an attribute, for code
// that sends what spans hold to a place of its own. It reports false when the
// attribute is to be left out.
func (t *Tracing) Mask(kv attribute.KeyValue) (attribute.KeyValue, bool) {
	if t.mask == nil {
		return kv, true
	}
	return t.mask(kv)
}

// Plan returns what Start decided, like [Explain].
func (t *Tracing) Plan() Plan { return t.plan }

// Middleware returns a function that gives each request of a handler its server
// span, with the provider, the propagators, the skip list and the known methods
// of the configuration; later options win. When tracing is off it returns the
// handler itself.
func (t *Tracing) Middleware(opts ...middleware.Option) func(http.Handler) http.Handler {
	if !t.active {
		return func(next http.Handler) http.Handler { return next }
	}
	return middleware.Handler(append(t.options(), opts...)...)
}

// Transport gives outgoing requests a client span and the trace headers. A nil
// base is [http.DefaultTransport]. When tracing is off it returns base.
func (t *Tracing) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	if !t.active {
		return base
	}
	return middleware.NewTransport(base, t.options()...)
}

func (t *Tracing) options() []middleware.Option {
	s := t.plan.settings
	return []middleware.Option{
		middleware.WithTracerProvider(t.provider),
		middleware.WithPropagators(t.propagator),
		middleware.WithSkipPaths(s.TracesSkip.V...),
		middleware.WithKnownMethods(s.KnownMethods.V...),
	}
}

// OnShutdown registers a function that [Tracing.Shutdown] runs after the last
// request and before the flush, the latest first, each with a deadline. An
// error is part of Shutdown's; a panic becomes an error. A nil function and one
// registered after Shutdown began do nothing.
func (t *Tracing) OnShutdown(f func(context.Context) error) {
	if f == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hooks = append(t.hooks, f)
}
