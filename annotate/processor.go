package annotate

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/request"
)

// Processor gives each span that starts the user, session, tags and metadata of its context: those of the
// request or trace ([SetUser] and its like) and those of the block ([With]). It is safe for concurrent use.
type Processor struct {
	_ byte // the SDK tells processors by their address
}

var _ sdktrace.SpanProcessor = (*Processor)(nil)

// NewProcessor returns a processor for a provider that the program builds itself. A [Client] adds one to the
// provider that it uses, when that takes processors; a second one changes nothing.
func NewProcessor() *Processor { return &Processor{} }

// OnStart annotates the span.
func (*Processor) OnStart(parent context.Context, s sdktrace.ReadWriteSpan) {
	rec, all := attributesFor(parent)
	if len(rec) > 0 {
		s.SetAttributes(rec...)
	}
	if len(all) > 0 {
		s.SetAttributes(all...)
	}
}

// attributesFor returns what a span started in ctx says: what the request's record holds, and over it, when
// the context has a block or a trace outside of requests, what these say.
func attributesFor(ctx context.Context) (rec, all []attribute.KeyValue) {
	st := stateOf(ctx)
	record := request.FromContext(ctx)
	rec = record.Attributes()
	if record != nil && st.block == nil {
		return rec, nil
	}
	info, _ := infoOf(ctx, st)
	all, _ = info.in(st.block)
	return rec, all
}

// OnEnd does nothing.
func (*Processor) OnEnd(sdktrace.ReadOnlySpan) {}

// ForceFlush does nothing.
func (*Processor) ForceFlush(context.Context) error { return nil }

// Shutdown does nothing.
func (*Processor) Shutdown(context.Context) error { return nil }
