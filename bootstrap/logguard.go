package bootstrap

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/waymark-trace/waymark/internal/secrets"
)

// guardedHandler is the program's log handler behind what all lines of ours pass:
// they hold no secret, and a panic of the handler is swallowed. Most lines are
// written in goroutines of ours, where it would end the process.
type guardedHandler struct {
	next    slog.Handler
	secrets *secrets.Redactor
}

func (h guardedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	defer func() { _ = recover() }() // a level that cannot be told is off
	return h.next.Enabled(ctx, level)
}

func (h guardedHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }() // there is nobody left to tell
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h guardedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, 0, len(attrs))
	for _, a := range attrs {
		clean = append(clean, h.attr(a))
	}
	return guardedHandler{h.next.WithAttrs(clean), h.secrets}
}

func (h guardedHandler) WithGroup(name string) slog.Handler {
	return guardedHandler{h.next.WithGroup(name), h.secrets}
}

func (h guardedHandler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.secrets.Text(a.Key), Value: h.value(a.Value)}
}

func (h guardedHandler) value(v slog.Value) slog.Value {
	v = v.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.secrets.Text(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, a := range v.Group() {
			group = append(group, h.attr(a))
		}
		return slog.GroupValue(group...)
	case slog.KindAny:
		text := fmt.Sprint(v.Any())
		if clean := h.secrets.Text(text); clean != text {
			return slog.StringValue(clean)
		}
	default:
		// Numbers, times and booleans.
	}
	return v
}
