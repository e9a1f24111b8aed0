package recorder

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// processor is one that is registered; it is shut down once.
type processor struct {
	sdktrace.SpanProcessor
	stopped atomic.Bool // not a sync.Once, which would wait when the processor calls the provider
}

func (p *processor) shutdown(ctx context.Context) error {
	if p.stopped.Swap(true) {
		return nil
	}
	return p.Shutdown(ctx)
}

// RegisterSpanProcessor adds sp behind the others. It does nothing with nil, or
// after Shutdown.
func (p *Provider) RegisterSpanProcessor(sp sdktrace.SpanProcessor) {
	if sp == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isShutdown.Load() {
		return
	}
	list := append(slices.Clip(*p.processors.Load()), &processor{SpanProcessor: sp})
	p.processors.Store(&list)
}

// UnregisterSpanProcessor shuts sp down, without a deadline, and removes it.
// One that was registered several times is removed once, the latest first. It
// does nothing with one that is not registered, or after Shutdown.
func (p *Provider) UnregisterSpanProcessor(sp sdktrace.SpanProcessor) {
	found := p.last(sp)
	if found == nil {
		return
	}
	if err := found.shutdown(context.Background()); err != nil {
		otel.Handle(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(*p.processors.Load()), func(one *processor) bool { return one == found })
	p.processors.Store(&list)
}

// last returns the latest registration of sp, nil when there is none.
func (p *Provider) last(sp sdktrace.SpanProcessor) *processor {
	if p.isShutdown.Load() || sp == nil || !reflect.TypeOf(sp).Comparable() {
		return nil
	}
	for _, one := range slices.Backward(*p.processors.Load()) {
		if one.SpanProcessor == sp {
			return one
		}
	}
	return nil
}

// ForceFlush flushes the processors one after the other. When ctx ends in
// between, the rest is left out and the error is that of ctx alone.
func (p *Provider) ForceFlush(ctx context.Context) (err error) {
	for _, one := range *p.processors.Load() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, one.ForceFlush(ctx))
	}
	return err
}

// Shutdown shuts the processors down one after the other and removes them;
// tracers that are asked for afterwards do nothing. When ctx ends in between,
// the rest stays as it is and the error is that of ctx alone. Only the first
// call does anything.
func (p *Provider) Shutdown(ctx context.Context) (err error) {
	p.mu.Lock()
	first := p.isShutdown.CompareAndSwap(false, true)
	p.mu.Unlock() // a processor may call the provider
	if !first {
		return nil
	}
	for _, one := range *p.processors.Load() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, one.shutdown(ctx))
	}
	p.processors.Store(&[]*processor{})
	return err
}
