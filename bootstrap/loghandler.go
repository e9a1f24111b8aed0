package bootstrap

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler returns a handler that adds trace_id and span_id to each record
// whose context carries a span, in lower-case hex and always at the top level,
// also under WithGroup. It may be made slog's default:
//
//	slog.SetDefault(slog.New(tracing.LogHandler(slog.NewJSONHandler(os.Stderr, nil))))
//
// A nil next is slog.Default's handler. Slog's first handler, the one of a
// program that has set none, cannot go below a default of slog: it writes to
// package log, which writes to the default. In its place, also when next is that
// handler, comes a [slog.TextHandler] to standard error with level info; what
// With added to it is gone.
func (t *Tracing) LogHandler(next slog.Handler) slog.Handler {
	next = settable(next)
	return &logHandler{root: next, next: next}
}

// logHandler keeps the handler from before the first group, and what was done
// since: attributes can only be added inside the open group.
type logHandler struct {
	root  slog.Handler // no group is open
	next  slog.Handler
	since []func(slog.Handler) slog.Handler // from root to next
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		return h.next.Handle(ctx, r)
	}
	ids := []slog.Attr{
		slog.String("trace_id", sc.TraceID().String()),
		slog.String("span_id", sc.SpanID().String()),
	}
	if len(h.since) == 0 {
		r = r.Clone()
		r.AddAttrs(ids...)
		return h.next.Handle(ctx, r)
	}
	next := h.root.WithAttrs(ids)
	for _, do := range h.since {
		next = do(next)
	}
	return next.Handle(ctx, r)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	if len(h.since) == 0 {
		next := h.next.WithAttrs(attrs)
		return &logHandler{root: next, next: next}
	}
	return h.with(func(n slog.Handler) slog.Handler { return n.WithAttrs(attrs) })
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(func(n slog.Handler) slog.Handler { return n.WithGroup(name) })
}

func (h *logHandler) with(do func(slog.Handler) slog.Handler) slog.Handler {
	return &logHandler{root: h.root, next: do(h.next), since: append(slices.Clip(h.since), do)}
}
