package bootstrap

import (
	"context"
	"errors"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpsend"
)

// sender gives finished spans to a backend and says what became of them.
type sender interface {
	send(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) result
	Shutdown(ctx context.Context) error
}

// result is what became of spans that were sent.
type result struct {
	failed    int // not taken by the backend, as far as is known
	uncertain int // of those, may have arrived
	err       error
}

// exporterSender is an exporter of OpenTelemetry's as a sender.
type exporterSender struct {
	sdktrace.SpanExporter
	utf8 cleaner
}

func (s *exporterSender) send(ctx context.Context, spans []sdktrace.ReadOnlySpan, t *otlpsend.Tries) result {
	t.Leave()
	err := s.ExportSpans(ctx, s.utf8.spans(spans))
	if err == nil {
		return result{}
	}
	r := result{failed: len(spans), err: err}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		r.uncertain = r.failed
	}
	return r
}
