package bootstrap

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"slices"
)

// currentHandler is slog.Default's handler at the time of each record. Programs
// set their default after Start: LogHandler needs the handle.
type currentHandler struct {
	since []func(slog.Handler) slog.Handler // WithAttrs and WithGroup, in order
}

func (h currentHandler) resolve() slog.Handler {
	next := slog.Default().Handler()
	for _, do := range h.since {
		next = do(next)
	}
	return next
}

func (h currentHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.resolve().Enabled(ctx, level)
}

func (h currentHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.resolve().Handle(ctx, r)
}

func (h currentHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(n slog.Handler) slog.Handler { return n.WithAttrs(attrs) })
}

func (h currentHandler) WithGroup(name string) slog.Handler {
	return h.with(func(n slog.Handler) slog.Handler { return n.WithGroup(name) })
}

func (h currentHandler) with(do func(slog.Handler) slog.Handler) slog.Handler {
	return currentHandler{append(slices.Clip(h.since), do)}
}

// settable is a handler that may be made slog's default, or go below one that
// is. Slog's first handler may not: it writes to package log, which
// slog.SetDefault sends to the new default, and that back to it, with log's
// lock held.
func settable(h slog.Handler) slog.Handler {
	if h == nil {
		h = slog.Default().Handler()
	}
	if reflect.TypeOf(h).String() != "*slog.defaultHandler" {
		return h
	}
	return slog.NewTextHandler(os.Stderr, nil) //nolint:forbidigo // where slog's first handler writes
}
