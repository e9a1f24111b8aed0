package bootstrap_test

import (
	"context"
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// childDefaultLog makes LogHandler the default in every way that once locked up.
func childDefaultLog() error {
	var c check
	first := slog.Default().Handler()
	for _, off := range []string{"false", "true"} {
		if err := os.Setenv("SHOP_TRACING", off); err != nil {
			return err
		}
		tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "shop"})
		c.that(err == nil, "Start: %v", err)
		for _, next := range []slog.Handler{nil, first, first.WithAttrs([]slog.Attr{slog.Int("a", 1)}), tracing.LogHandler(first)} {
			slog.SetDefault(slog.New(tracing.LogHandler(next)))
			done := make(chan struct{})
			go func() {
				defer close(done)
				slog.Info("by slog") //nolint:sloglint // the default is the subject
				log.Print("by log")
				slog.Default().WithGroup("g").With(slog.Int("a", 1)).Info("in a group")
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				c.that(false, "%s, %T: it is locked up", off, next)
				return c.err()
			}
		}
		c.that(tracing.Shutdown(context.Background()) == nil, "Shutdown")
	}
	return c.err()
}

// childDefaultLogLate sets the default after Start, as everybody does whose
// handler is LogHandler.
func childDefaultLogLate() error {
	var c check
	ctx := context.Background()
	tracing, err := bootstrap.Start(ctx, bootstrap.Config{App: "shop"})
	c.that(err == nil, "Start: %v", err)
	_, span := tracing.TracerProvider().Tracer("x").Start(ctx, "open")
	defer span.End()
	out := &logs{}
	slog.SetDefault(slog.New(tracing.LogHandler(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo}))))
	c.that(tracing.Shutdown(ctx) == nil, "Shutdown")
	text := out.String()
	for _, want := range []string{`"msg":"tracing stopped"`, `"account":{"file":{`} {
		c.that(strings.Contains(text, want), "no %s in the new default's log: %s", want, text)
	}
	return c.err()
}
