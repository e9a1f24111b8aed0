package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// hub is the one processor that Waymark puts on a provider: it counts sampled
// spans once and hands them to every destination.
type hub struct {
	started, ended atomic.Uint64
	late           atomic.Uint64 // would have begun after the end
	dests          []*destination
	stop           sync.Once
}

// destination is one place that spans go to.
type destination struct {
	name, target string
	proc         sdktrace.SpanProcessor
	report       func() DestinationReport
	nowhere      bool // it could not be built
}

func (h *hub) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if s.SpanContext().IsSampled() {
		h.started.Add(1)
	}
}

func (h *hub) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	h.ended.Add(1)
	for _, d := range h.dests {
		d.proc.OnEnd(s)
	}
}

func (h *hub) ForceFlush(ctx context.Context) error {
	return h.each(func(d *destination) error { return d.proc.ForceFlush(ctx) })
}

// Shutdown flushes and shuts down every destination at the same time, each
// with the whole of ctx. Only the first call has the errors: the provider's own
// shutdown would repeat them.
func (h *hub) Shutdown(ctx context.Context) (err error) {
	h.stop.Do(func() { err = h.each(func(d *destination) error { return d.proc.Shutdown(ctx) }) })
	return err
}

func (h *hub) each(do func(*destination) error) error {
	errs := make([]error, len(h.dests))
	var wg sync.WaitGroup
	for i, d := range h.dests {
		wg.Go(func() {
			if err := do(d); err != nil {
				errs[i] = fmt.Errorf("%s: %w", d.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (h *hub) report() Report {
	r := Report{Destinations: make([]DestinationReport, 0, len(h.dests))}
	for _, d := range h.dests {
		// Read in this order Open is never too small by a race: a span that
		// ends in between counts as open.
		ended := h.ended.Load()
		started := h.started.Load()
		dr := d.report()
		dr.Name, dr.Target = d.name, d.target
		// Beside the program's own provider a span may have begun before us.
		dr.Started = max(started, ended)
		dr.Open = dr.Started - ended
		late := h.late.Load()
		dr.Started += late
		dr.Ended += late
		dr.Dropped += late
		r.Destinations = append(r.Destinations, dr)
	}
	return r
}

// gated makes a destination of an exporter: a gate and a batch processor.
func gated(name, target string, g *gate) *destination {
	return &destination{name: name, target: target, proc: g, report: g.acc.report}
}

// written makes a destination of a file exporter, which is its own processor:
// it encodes a span when it ends.
func written(name, target string, e *jsonlexport.Exporter, v view) *destination {
	return &destination{
		name: name, target: target, proc: v.processor(e),
		report: func() DestinationReport {
			s := e.Stats()
			return DestinationReport{
				Ended:     s.Ended,
				Queued:    s.Queued,
				Exported:  s.Exported,
				Failed:    s.Failed,
				Dropped:   s.Dropped,
				Discarded: s.Discarded,
			}
		},
	}
}

// nowhere makes a destination that could not be built: it drops and counts.
func nowhere(name, why string) *destination {
	acc := &account{}
	return &destination{name: name, target: why, proc: droppingProcessor{acc}, report: acc.report, nowhere: true}
}

type droppingProcessor struct{ acc *account }

func (droppingProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (p droppingProcessor) OnEnd(sdktrace.ReadOnlySpan)                   { p.acc.end(0) }
func (droppingProcessor) ForceFlush(context.Context) error                { return nil }
func (droppingProcessor) Shutdown(context.Context) error                  { return nil }
