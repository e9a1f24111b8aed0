package bootstrap

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/env"
)

const (
	maxErrorKinds  = 64               // distinct errors that are counted apart
	maxErrorBytes  = 1024             // of an error's text: a backend may answer with a page
	repeatInterval = 10 * time.Minute // an error that lasts is logged again after this
)

// diagnostics is the one channel for what goes wrong in the background: each
// kind of error once at its first occurrence, then counted, again when it lasts
// for long, and the rest of the count at shutdown. Secrets are taken out.
type diagnostics struct {
	logger  *slog.Logger
	secrets []string
	quiet   atomic.Bool // while the SDK reads variables that are checked already

	mu         sync.Mutex
	kinds      map[string]*errorKind
	lastExport string // why spans were lost last
}

type errorKind struct {
	source, text string
	unlogged     int
	logged       time.Time
}

func newDiagnostics(logger *slog.Logger) *diagnostics {
	return &diagnostics{logger: logger, kinds: map[string]*errorKind{}}
}

// silently runs f, in which the SDK reads the process's variables: what is wrong
// with them is a finding already, and its texts show values as they are.
func (d *diagnostics) silently(f func()) {
	d.quiet.Store(true)
	defer d.quiet.Store(false)
	f()
}

// Handle takes the errors of the SDK and of instrumentations.
func (d *diagnostics) Handle(err error) {
	if err == nil || d.quiet.Load() {
		return
	}
	d.report("opentelemetry", err)
}

func (d *diagnostics) report(source string, err error) {
	if text, n := d.count(source, err); n > 0 {
		d.logger.LogAttrs(context.Background(), slog.LevelWarn, "tracing error",
			slog.String("source", source), slog.String("error", text), slog.Int("count", n))
	}
}

// exportFailed is report with how many spans it cost.
func (d *diagnostics) exportFailed(name string, failed int, uncertain bool, err error) {
	if failed == 0 {
		d.report(name, err)
		return
	}
	d.mu.Lock()
	d.lastExport = name + ": " + d.clean(err.Error())
	d.mu.Unlock()
	if text, n := d.count(name, err); n > 0 {
		d.logger.LogAttrs(context.Background(), slog.LevelWarn, "spans not exported",
			slog.String("destination", name), slog.String("error", text), slog.Int("spans", failed),
			slog.Bool("may_have_arrived", uncertain), slog.Int("count", n))
	}
}

// notReached reports a try that got no connection, at the first one and not
// after all of them. The loss of the batch counts as the same error.
func (d *diagnostics) notReached(name string, err error) {
	text, n := d.count(name, err)
	d.mu.Lock()
	d.lastExport = name + ": " + d.clean(err.Error())
	d.mu.Unlock()
	if n > 0 {
		d.logger.LogAttrs(context.Background(), slog.LevelWarn, "backend not reached",
			slog.String("destination", name), slog.String("error", text), slog.Int("count", n))
	}
}

func (d *diagnostics) lastExportError() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lastExport
}

// count returns the text and how many errors a line stands for; 0: no line.
func (d *diagnostics) count(source string, err error) (string, int) {
	text := d.clean(err.Error())
	key := source + " " + withoutDigits(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.kinds[key]
	if k == nil && len(d.kinds) >= maxErrorKinds {
		key, text = "", "other errors"
		k = d.kinds[key]
	}
	if k == nil {
		k = &errorKind{source: source, text: text}
		d.kinds[key] = k
	}
	k.unlogged++
	now := time.Now()
	if !k.logged.IsZero() && now.Sub(k.logged) < repeatInterval {
		return "", 0
	}
	n := k.unlogged
	k.unlogged, k.logged = 0, now
	return text, n
}

// summary logs what was counted and not logged.
func (d *diagnostics) summary(ctx context.Context) {
	d.mu.Lock()
	var rest []*errorKind
	for _, k := range d.kinds {
		if k.unlogged > 0 {
			rest = append(rest, &errorKind{source: k.source, text: k.text, unlogged: k.unlogged})
			k.unlogged = 0
		}
	}
	d.mu.Unlock()
	slices.SortFunc(rest, func(a, b *errorKind) int {
		return strings.Compare(a.source+" "+a.text, b.source+" "+b.text)
	})
	for _, k := range rest {
		d.logger.LogAttrs(ctx, slog.LevelWarn, "tracing error repeated",
			slog.String("source", k.source), slog.String("error", k.text), slog.Int("count", k.unlogged))
	}
}

// clean takes secrets out of a text and bounds it.
func (d *diagnostics) clean(text string) string {
	for _, s := range d.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return cut(maskUserInfo(text))
}

// cut bounds a text.
func cut(text string) string {
	if len(text) > maxErrorBytes {
		text = text[:maxErrorBytes] + "…"
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// printable is a text cut, and quoted when a terminal would obey it.
func printable(text string) string {
	text = cut(text)
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return text
}

// cleanedError is an error whose text may be printed.
type cleanedError struct {
	text  string
	cause error
}

func (e cleanedError) Error() string { return e.text }
func (e cleanedError) Unwrap() error { return e.cause }

// hide adds texts that are never printed. Very short ones are no secrets, and
// would take letters out of every word.
func (d *diagnostics) hide(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 4 {
			d.secrets = append(d.secrets, s)
		}
	}
}

// hideOTLP hides the headers' values, and each word after the first of them: a
// backend repeats a token without its scheme. A key that stands where its path
// should be would be in the error of opening it.
func (d *diagnostics) hideOTLP(o env.OTLP) {
	for _, kv := range o.Headers.V {
		d.hide(kv.Value)
		if words := strings.Fields(kv.Value); len(words) > 1 {
			d.hide(words[1:]...)
		}
	}
	for _, v := range []string{o.Certificate.V, o.ClientCertificate.V, o.ClientKey.V} {
		if isPEM(v) {
			d.hide(v)
		}
	}
}

// maskUserInfo hides user and password of every URL in a text.
func maskUserInfo(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		end := strings.IndexAny(after, "/?# \t\n\"'")
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			b.WriteString("***")
			after = after[at:]
		}
		text = after
	}
}

// withoutDigits makes one kind of errors that differ in a port or a count.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}
