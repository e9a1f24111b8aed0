package bootstrap

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
)

// logSink gives OTel's own log lines to slog. OTel writes errors by Error,
// warnings at V(1), information at V(4), debugging at V(8).
type logSink struct {
	diag  *diagnostics
	level slog.Level
}

var _ logr.LogSink = logSink{}

func newOTelLogger(diag *diagnostics, level slog.Level) logr.Logger {
	return logr.New(logSink{diag, level})
}

func (s logSink) Init(logr.RuntimeInfo) {}

func (s logSink) Enabled(v int) bool {
	level := slogLevel(v)
	return level >= s.level && !s.diag.quiet.Load() && s.diag.logger.Enabled(context.Background(), level)
}

func (s logSink) Info(v int, msg string, kvs ...any) {
	attrs := []slog.Attr{slog.String("message", s.diag.clean(msg))}
	attrs = append(attrs, s.attrs(kvs)...)
	s.diag.logger.LogAttrs(context.Background(), slogLevel(v), "opentelemetry", attrs...)
}

// Error is an error like any other, without the values: they are what was
// wrong, and may be a header.
func (s logSink) Error(err error, msg string, _ ...any) {
	if s.level > slog.LevelError || s.diag.quiet.Load() {
		return
	}
	s.diag.report("opentelemetry", fmt.Errorf("%s: %w", msg, orUnknown(err)))
}

func (s logSink) WithValues(...any) logr.LogSink { return s }

func (s logSink) WithName(string) logr.LogSink { return s }

func (s logSink) attrs(kvs []any) []slog.Attr {
	attrs := make([]slog.Attr, 0, len(kvs)/2)
	for i := 0; i+1 < len(kvs); i += 2 {
		value := kvs[i+1]
		if m, ok := value.(logr.Marshaler); ok {
			value = m.MarshalLog()
		}
		attrs = append(attrs, slog.String(fmt.Sprint(kvs[i]), s.diag.clean(fmt.Sprintf("%+v", value))))
	}
	return attrs
}

func orUnknown(err error) error {
	if err == nil {
		return errUnknown
	}
	return err
}

func slogLevel(v int) slog.Level {
	switch {
	case v <= 1:
		return slog.LevelWarn
	case v <= 4:
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}
