package bootstrap_test

import (
	"context"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// notingProcessor notes what is done to it and keeps what it sees.
type notingProcessor struct {
	note func(string)

	mu      sync.Mutex
	started []sdktrace.ReadWriteSpan
	ended   []sdktrace.ReadOnlySpan
}

func (p *notingProcessor) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, s)
}

func (p *notingProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, s)
}

func (p *notingProcessor) ForceFlush(context.Context) error {
	if p.note != nil {
		p.note("flush")
	}
	return nil
}

func (p *notingProcessor) Shutdown(context.Context) error {
	if p.note != nil {
		p.note("shutdown")
	}
	return nil
}
