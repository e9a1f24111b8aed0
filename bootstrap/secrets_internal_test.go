package bootstrap

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/secrets"
)

type secretValue struct{ text string }

func (v secretValue) LogValue() slog.Value { return slog.GroupValue(slog.String("text", v.text)) }

// Whatever a line of the log is made of, it holds no secret.
func TestNoSecretInAnyPartOfALine(t *testing.T) {
	t.Parallel()
	const key = "8f3bQzX71kLm"
	for name, log := range map[string]func(*slog.Logger){
		"message":       func(l *slog.Logger) { l.Warn("no key " + key) },
		"text":          func(l *slog.Logger) { l.Warn("m", slog.String("k", key)) },
		"error":         func(l *slog.Logger) { l.Warn("m", slog.Any("k", errors.New("no key "+key))) },
		"list":          func(l *slog.Logger) { l.Warn("m", slog.Any("k", []string{key})) },
		"group":         func(l *slog.Logger) { l.Warn("m", slog.Group("g", slog.String("k", key))) },
		"valuer":        func(l *slog.Logger) { l.Warn("m", slog.Any("k", secretValue{key})) },
		"key":           func(l *slog.Logger) { l.Warn("m", slog.Int(key, 1)) }, //nolint:sloglint // what others do
		"attribute":     func(l *slog.Logger) { l.With(slog.String("k", key)).Warn("m") },
		"under a group": func(l *slog.Logger) { l.WithGroup("g").Warn("m", slog.String("k", key)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			cfg := Config{Logger: slog.New(slog.NewJSONHandler(&out, nil))}
			log(cfg.logger(secrets.New(key)))
			if text := out.String(); strings.Contains(text, key) || !strings.Contains(text, "***") {
				t.Errorf("want the line without the key: %s", text)
			}
			out.Reset()
			log(cfg.logger(nil))
			if text := out.String(); !strings.Contains(text, key) {
				t.Errorf("without secrets a line is as it was written: %s", text)
			}
		})
	}
}

// A secret that our own limit would cut in two is taken out before.
func TestCleanRedactsBeforeItCuts(t *testing.T) {
	t.Parallel()
	const key = "8f3bQzX71kLm"
	d := newDiagnostics(slog.New(slog.DiscardHandler), secrets.New(key))
	spaced := strings.Join(strings.Split(key, ""), " ")
	for n := range len(spaced) + 1 {
		got := d.clean(strings.Repeat("n", maxErrorBytes-n-1) + " " + spaced)
		if rest := strings.Trim(got, "n …"); strings.Trim(rest, "*") != "" {
			t.Errorf("%q is left where %d bytes fit", rest, n)
		}
	}
}

func TestCleanIsOneLine(t *testing.T) {
	t.Parallel()
	d := newDiagnostics(slog.New(slog.DiscardHandler), nil)
	for text, want := range map[string]string{
		"a\nb\r\nc\n":          "a; b; c",
		"\x1b[31mred":          `\x1b[31mred`,
		"tab\tand \u202ebidi":  `tab\tand \u202ebidi`,
		"übermäßig \xff":       "übermäßig \ufffd",
		`C:\tmp\file "quoted"`: `C:\tmp\file "quoted"`,
	} {
		if got := d.clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
