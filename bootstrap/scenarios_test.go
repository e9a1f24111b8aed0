package bootstrap_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// childGlobals walks through the life of the globals: a tracer taken early,
// Start, a second Start, two at once, Shutdown, Start again.
func childGlobals() error {
	var c check
	ctx := context.Background()
	early := otel.Tracer("early")

	cfg := childConfig()
	cfg.Instrument = append(cfg.Instrument, func(trace.TracerProvider) error {
		_, err := bootstrap.Start(ctx, childConfig()) // by way of a library that starts it lazily
		c.that(errors.Is(err, bootstrap.ErrStarted), "Start in a hook: %v", err)
		return nil
	})
	first, err := bootstrap.Start(ctx, cfg)
	c.that(err == nil, "first Start: %v", err)
	c.that(first.Enabled(), "not enabled")
	c.that(otel.GetTracerProvider() == first.TracerProvider(), "the global provider is not ours")
	c.that(len(otel.GetTextMapPropagator().Fields()) == 3, "propagator fields: %v", otel.GetTextMapPropagator().Fields())
	_, span := early.Start(ctx, "a")
	c.that(span.SpanContext().IsSampled(), "a tracer taken before Start does not record")
	span.End()
	kept := otel.Tracer("kept")
	c.that(kept == otel.Tracer("kept"), "tracers are not cached")

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			again, err := bootstrap.Start(ctx, childConfig())
			c.that(errors.Is(err, bootstrap.ErrStarted) && again == first, "Start while running: %v", err)
		})
	}
	wg.Wait()

	c.that(first.Shutdown(ctx) == nil, "Shutdown")
	c.that(first.Shutdown(ctx) == nil, "second Shutdown")
	_, span = kept.Start(ctx, "b")
	c.that(!span.SpanContext().IsValid(), "a span is made after Shutdown")

	var started []*bootstrap.Tracing
	var mu sync.Mutex
	fresh := 0
	for range 8 {
		wg.Go(func() {
			tracing, err := bootstrap.Start(ctx, childConfig())
			mu.Lock()
			defer mu.Unlock()
			started = append(started, tracing)
			if err == nil {
				fresh++
			}
		})
	}
	wg.Wait()
	c.that(fresh == 1, "%d of 8 concurrent Starts were the first", fresh)
	for _, tracing := range started {
		c.that(tracing == started[0] && tracing != first, "concurrent Starts have several handles")
	}
	for _, tracer := range []trace.Tracer{early, kept} {
		_, span = tracer.Start(ctx, "c")
		c.that(span.SpanContext().IsSampled(), "a tracer that was kept does not record after another Start")
		span.End()
	}
	c.that(started[0].Shutdown(ctx) == nil, "Shutdown of the second life")
	d := started[0].Report().Destinations[0]
	c.that(d.Ended == 2 && d.Exported == 2, "account of the second life: %s", d)
	return c.err()
}

// childOff shows that off means off.
func childOff() error {
	var c check
	ctx := context.Background()
	provider, propagator, handler := otel.GetTracerProvider(), otel.GetTextMapPropagator(), otel.GetErrorHandler()
	goroutines := runtime.NumGoroutine()
	tracing, err := bootstrap.Start(ctx, childConfig())
	c.that(err == nil, "Start: %v", err)
	c.that(!tracing.Enabled() && tracing.Destination() == "" && len(tracing.Report().Destinations) == 0, "it is on")
	c.that(otel.GetTracerProvider() == provider, "the global provider changed")
	c.that(reflect.DeepEqual(otel.GetTextMapPropagator(), propagator), "the global propagator changed")
	c.that(otel.GetErrorHandler() == handler, "the error handler changed")
	c.that(runtime.NumGoroutine() == goroutines, "%d goroutines, were %d", runtime.NumGoroutine(), goroutines)
	handlerIn := &countingHandler{}
	c.that(tracing.Middleware()(handlerIn) == http.Handler(handlerIn), "Middleware is not the identity")
	base := &http.Transport{}
	c.that(tracing.Transport(base) == http.RoundTripper(base), "Transport is not the identity")
	entries, err := os.ReadDir(os.Getenv("HOME"))
	c.that(err == nil && len(entries) == 0, "files in HOME: %v %v", entries, err)
	again, err := bootstrap.Start(ctx, childConfig())
	c.that(err == nil && again != nil, "second Start: %v", err)
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	return c.err()
}

type countingHandler struct{ n int }

func (h *countingHandler) ServeHTTP(http.ResponseWriter, *http.Request) { h.n++ }

// childForeign attaches to the program's provider.
func childForeign() error {
	var c check
	ctx := context.Background()
	theirs := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(theirs), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	otel.SetTracerProvider(provider)
	tracer := otel.Tracer("x")
	cfg := childConfig()
	cfg.Version = "1.2.3"
	tracing, err := bootstrap.Start(ctx, cfg)
	c.that(err == nil, "Start: %v", err)
	c.that(otel.GetTracerProvider() == trace.TracerProvider(provider), "the program's provider was replaced")
	c.that(tracing.TracerProvider() == trace.TracerProvider(provider), "TracerProvider is not the program's")
	for range 3 {
		_, span := tracer.Start(ctx, "a")
		span.End()
	}
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	d := tracing.Report().Destinations[0]
	c.that(d.Exported == 3, "our account: %s", d)
	_, span := tracer.Start(ctx, "b")
	span.End()
	c.that(len(theirs.GetSpans()) == 4, "the program's exporter got %d spans, want 4: its provider was shut down", len(theirs.GetSpans()))
	c.that(tracing.Report().Destinations[0].Ended == 3, "our processor is still attached")
	return c.err()
}

func childForeignForce() error {
	var c check
	ctx := context.Background()
	provider := sdktrace.NewTracerProvider()
	otel.SetTracerProvider(provider)
	cfg := childConfig()
	cfg.Force = true
	tracing, err := bootstrap.Start(ctx, cfg)
	c.that(err == nil && tracing.Enabled(), "Start: %v", err)
	c.that(otel.GetTracerProvider() != trace.TracerProvider(provider), "the program's provider was not replaced")
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	return c.err()
}

// opaqueProvider takes no processors, as wrappers of vendors do.
type opaqueProvider struct{ embedded.TracerProvider }

func (opaqueProvider) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return noop.NewTracerProvider().Tracer(name, opts...)
}

func childForeignOpaque() error {
	var c check
	ctx := context.Background()
	for _, provider := range []trace.TracerProvider{opaqueProvider{}, noop.NewTracerProvider()} {
		otel.SetTracerProvider(provider)
		propagator := otel.GetTextMapPropagator()
		tracing, err := bootstrap.Start(ctx, childConfig())
		c.that(errors.Is(err, bootstrap.ErrProviderExists), "%T: Start: %v", provider, err)
		c.that(tracing != nil && !tracing.Enabled(), "%T: the handle", provider)
		c.that(otel.GetTracerProvider() == provider, "%T: replaced", provider)
		c.that(reflect.DeepEqual(otel.GetTextMapPropagator(), propagator), "%T: the propagator changed", provider)
		c.that(tracing.Shutdown(ctx) == nil, "%T: Shutdown", provider)
	}
	return c.err()
}

func childForeignPropagator() error {
	var c check
	ctx := context.Background()
	otel.SetTracerProvider(sdktrace.NewTracerProvider())
	otel.SetTextMapPropagator(propagation.Baggage{})
	tracing, err := bootstrap.Start(ctx, childConfig())
	c.that(err == nil, "Start: %v", err)
	c.that(len(otel.GetTextMapPropagator().Fields()) == 1, "the program's propagator was replaced: %v", otel.GetTextMapPropagator().Fields())
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	return c.err()
}

// standInProvider is one as capture installs.
type standInProvider struct{ *sdktrace.TracerProvider }

func (standInProvider) StandIn() bool { return true }

func childStandIn() error {
	var c check
	ctx := context.Background()
	otel.SetTracerProvider(standInProvider{sdktrace.NewTracerProvider()})
	tracing, err := bootstrap.Start(ctx, childConfig())
	c.that(err == nil && tracing.Enabled(), "Start: %v", err)
	_, isStandIn := otel.GetTracerProvider().(standInProvider)
	c.that(!isStandIn, "the stand-in was not replaced")
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	return c.err()
}

// childWithoutSpans shows that propagation alone is running tracing too: a second
// Start would take its error handler for the program's.
func childWithoutSpans() error {
	var c check
	ctx := context.Background()
	handler := otel.GetErrorHandler()
	tracing, err := bootstrap.Start(ctx, childConfig())
	c.that(err == nil && !tracing.Enabled(), "Start: %v", err)
	again, err := bootstrap.Start(ctx, childConfig())
	c.that(errors.Is(err, bootstrap.ErrStarted) && again == tracing, "Start while running: %v", err)
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	c.that(otel.GetErrorHandler() == handler, "the error handler is not the program's again")
	return c.err()
}

// childSpans makes SPANS spans, shuts down, and says what became of them.
func childSpans() error {
	ctx := context.Background()
	tracing, err := bootstrap.Start(ctx, childConfig())
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(os.Getenv("SPANS"))
	if err != nil {
		return err
	}
	tracer := otel.Tracer("spans")
	for range n {
		_, span := tracer.Start(ctx, "work")
		span.End()
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	if d, err := time.ParseDuration(os.Getenv("DEADLINE")); err == nil {
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), d)
	}
	defer cancel()
	_ = tracing.Shutdown(ctx) // the report says what was lost
	if _, err := os.Stderr.WriteString("REPORT " + tracing.Report().String() + "\n"); err != nil {
		return err
	}
	return nil
}

// childOwnLookup makes spans by the variables in LOOKUP, whatever the process's
// own say.
func childOwnLookup() error {
	var c check
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	vars := env.Map{}
	if err := json.Unmarshal([]byte(os.Getenv("LOOKUP")), &vars); err != nil {
		return err
	}
	cfg := childConfig()
	cfg.Lookup, cfg.NoGlobals = vars, os.Getenv("GLOBALS") == "none"
	tracing, err := bootstrap.Start(ctx, cfg)
	c.that(err == nil, "Start: %v", err)
	c.that(len(tracing.Plan().Findings) == 0, "findings: %v", tracing.Plan().Findings)
	tracer := tracing.TracerProvider().Tracer("own")
	for range 20 {
		_, span := tracer.Start(ctx, "work", trace.WithAttributes(attribute.String("k", "value")))
		span.AddEvent("event")
		span.End()
	}
	err = tracing.Shutdown(ctx)
	c.that(err == nil, "Shutdown: %v", err)
	return c.err()
}
