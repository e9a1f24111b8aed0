package capture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// children are what is about OTel's globals: each runs in a process of its own.
var children = map[string]func() error{
	"installs":             childInstalls,
	"attaches":             childAttaches,
	"later provider":       childLaterProvider,
	"processor later":      childProcessorLater,
	"wrapped stand-in":     childWrappedStandIn,
	"first at once":        childFirstAtOnce,
	"takes no processor":   childTakesNoProcessor,
	"nothing on import":    childNothingOnImport,
	"function after start": childFunction,
	"bootstrap later":      childBootstrapLater,
	"unset is passed":      childUnsetIsPassed,
}

func TestGlobalProvider(t *testing.T) {
	t.Parallel()
	for name := range children {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "CAPTURE_CHILD="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// captured runs a block that starts a span of the tracer.
func captured(tracer trace.Tracer) (int, error) {
	res, err := Run(context.Background(), "block", func(ctx context.Context) error {
		_, s := tracer.Start(ctx, "inside")
		s.End()
		return nil
	})
	return len(res.Spans()), err
}

func wantCaptured(tracer trace.Tracer, want int) error {
	if n, err := captured(tracer); n != want || err != nil {
		return fmt.Errorf("captured %d spans, want %d (%w)", n, want, err)
	}
	return nil
}

func recording(tracer trace.Tracer) bool {
	_, s := tracer.Start(context.Background(), "s")
	defer s.End()
	return s.IsRecording()
}

func exported() (*sdktrace.TracerProvider, *tracetest.InMemoryExporter) {
	e := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(sdktrace.WithSyncer(e)), e
}

func childNothingOnImport() error {
	if !isUnset(otel.GetTracerProvider()) {
		return fmt.Errorf("a provider is set: %T", otel.GetTracerProvider())
	}
	return nil
}

// The provider that OTel begins with is as good as none.
func childUnsetIsPassed() error {
	res, err := Run(context.Background(), "block", func(ctx context.Context) error {
		_, s := otel.Tracer("x").Start(ctx, "inside")
		s.End()
		return nil
	}, WithTracerProvider(otel.GetTracerProvider()))
	if len(res.Spans()) != 2 || err != nil {
		return fmt.Errorf("captured %d spans, want 2 (%w)", len(res.Spans()), err)
	}
	return nil
}

// With no provider set, a capture works at once, with a tracer that was taken
// before, and outside of it nothing is recorded.
func childInstalls() error {
	early := otel.Tracer("early")
	for range 3 {
		if err := wantCaptured(early, 2); err != nil {
			return err
		}
	}
	in, ok := otel.GetTracerProvider().(interface{ StandIn() bool })
	if !ok || !in.StandIn() {
		return fmt.Errorf("the provider is a %T", otel.GetTracerProvider())
	}
	if recording(early) || recording(otel.Tracer("late")) {
		return errors.New("spans are recorded outside of captures")
	}
	return nil
}

// A provider that is set is kept, and its exporters go on.
func childAttaches() error {
	early := otel.Tracer("early")
	tp, exporter := exported()
	otel.SetTracerProvider(tp)
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	if otel.GetTracerProvider() != trace.TracerProvider(tp) {
		return errors.New("the provider was replaced")
	}
	if n := len(exporter.GetSpans()); n != 2 {
		return fmt.Errorf("exported %d spans, want 2", n)
	}
	return nil
}

// Captures go to a provider that is set after the first capture, and so do the
// tracers that were taken before.
func childLaterProvider() error {
	early := otel.Tracer("early")
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	between := otel.Tracer("between")
	for range 2 {
		tp, exporter := exported()
		otel.SetTracerProvider(tp)
		for _, tracer := range []trace.Tracer{early, between, otel.Tracer("late")} {
			if !recording(tracer) {
				return errors.New("a tracer stays with the stand-in")
			}
			if err := wantCaptured(tracer, 2); err != nil {
				return err
			}
		}
		if n := len(exporter.GetSpans()); n != 9 {
			return fmt.Errorf("exported %d spans, want 9", n)
		}
	}
	return nil
}

// Whoever adds a processor to the stand-in gets every span.
func childProcessorLater() error {
	early := otel.Tracer("early")
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	e := tracetest.NewInMemoryExporter()
	p := sdktrace.NewSimpleSpanProcessor(e)
	s, ok := otel.GetTracerProvider().(*standIn)
	if !ok {
		return fmt.Errorf("the provider is a %T", otel.GetTracerProvider())
	}
	s.RegisterSpanProcessor(p)
	if !recording(early) || len(e.GetSpans()) != 1 {
		return errors.New("the processor does not get the span")
	}
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	s.UnregisterSpanProcessor(p)
	return errors.Join(s.ForceFlush(context.Background()), s.Shutdown(context.Background()))
}

// opaque is a provider around another, as of vendors, that hides what is inside.
type opaque struct{ trace.TracerProvider }

// around is one that shows it.
type around struct{ trace.TracerProvider }

func (a *around) Unwrap() trace.TracerProvider { return a.TracerProvider }

// A provider around the stand-in sends spans back to it: no endless circle.
func childWrappedStandIn() error {
	early := otel.Tracer("early")
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	in := otel.GetTracerProvider()
	otel.SetTracerProvider(&around{in})
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	for _, tp := range []trace.TracerProvider{opaque{in}, &opaque{in}} { // handing over to it would come back here
		otel.SetTracerProvider(tp)
		if recording(early) {
			return fmt.Errorf("recorded with a %T", tp)
		}
	}
	otel.SetTracerProvider(noop.NewTracerProvider())
	if recording(early) {
		return errors.New("recorded by the no-op provider")
	}
	return nil
}

func childFirstAtOnce() error {
	early := otel.Tracer("early")
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = wantCaptured(early, 2) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func childTakesNoProcessor() error {
	sdk := sdktrace.NewTracerProvider()
	for _, tp := range []trace.TracerProvider{noop.NewTracerProvider(), opaque{sdk}} {
		otel.SetTracerProvider(tp)
		ran := false
		res, err := Run(context.Background(), "block", func(context.Context) error { ran = true; return nil })
		if !errors.Is(err, ErrNoSDK) || ran || res == nil {
			return fmt.Errorf("%T: ran %v, result %v, error %w", tp, ran, res, err)
		}
		for _, want := range []string{"capture: ", reflect.TypeOf(tp).String(), "WithTracerProvider", "bootstrap.Start"} {
			if !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%T: the error does not say %q: %w", tp, want, err)
			}
		}
		if res.String() != "(no spans)" || !strings.Contains(res.Empty(), "takes no span processor") {
			return fmt.Errorf("%T: %s: %s", tp, res, res.Empty())
		}
		ctx, c := Start(context.Background(), "block")
		end := error(nil)
		c.End(&end)
		if ctx != context.Background() || !errors.Is(c.Err(), ErrNoSDK) || !errors.Is(end, ErrNoSDK) {
			return fmt.Errorf("%T: Start: %w, End: %w", tp, c.Err(), end)
		}
		if _, err := Run(context.Background(), "block", nothing, WithTracerProvider(sdk)); err != nil {
			return fmt.Errorf("the way out: %w", err)
		}
	}
	return nil
}

// A capture before bootstrap.Start takes nothing from it, and one after
// Shutdown hurts nobody.
func childBootstrapLater() error {
	early := otel.Tracer("early")
	if err := wantCaptured(early, 2); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "capture")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	tracing, err := bootstrap.Start(ctx, bootstrap.Config{
		App: "shop", Logger: slog.New(slog.DiscardHandler),
		Lookup: env.Map{"SHOP_TRACING": "true", "SHOP_TRACES_FILE": filepath.Join(dir, "spans.jsonl")},
	})
	if err != nil || !tracing.Enabled() {
		return fmt.Errorf("bootstrap.Start: %w", err)
	}
	for _, tracer := range []trace.Tracer{early, otel.Tracer("late")} {
		if !recording(tracer) {
			return errors.New("a tracer stays with the stand-in")
		}
		if err := wantCaptured(tracer, 2); err != nil {
			return err
		}
	}
	if err := tracing.Shutdown(ctx); err != nil {
		return err
	}
	spans, _, err := tracefile.ReadAll(dir)
	if err != nil || len(spans) != 6 {
		return fmt.Errorf("the file has %d spans, want 6 (%w)", len(spans), err)
	}
	if err := wantCaptured(early, 0); err != nil {
		return fmt.Errorf("after Shutdown: %w", err)
	}
	return nil
}

// A function that is wrapped before anything is set up is captured after.
func childFunction() error {
	var res *Result
	f := Func0(nothing, Into(&res))
	tp, exporter := exported()
	otel.SetTracerProvider(tp)
	if err := f(context.Background()); err != nil || len(exporter.GetSpans()) != 1 {
		return fmt.Errorf("%d spans: %w", len(exporter.GetSpans()), err)
	}
	return nil
}
