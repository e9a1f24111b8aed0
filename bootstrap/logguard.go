package bootstrap

import (
	"context"
	"log/slog"
)

// guardedHandler swallows panics of the program's log handler: most lines are
// written in goroutines of ours, where a panic ends the process.
type guardedHandler struct{ next slog.Handler }

func (h guardedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	defer func() { _ = recover() }() // a level that cannot be told is off
	return h.next.Enabled(ctx, level)
}

func (h guardedHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }() // there is nobody left to tell
	return h.next.Handle(ctx, r)
}

func (h guardedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return guardedHandler{h.next.WithAttrs(attrs)}
}

func (h guardedHandler) WithGroup(name string) slog.Handler {
	return guardedHandler{h.next.WithGroup(name)}
}
