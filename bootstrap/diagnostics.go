package bootstrap

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/secrets"
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
	secrets *secrets.Redactor
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

func newDiagnostics(logger *slog.Logger, known *secrets.Redactor) *diagnostics {
	return &diagnostics{logger: logger, secrets: known, kinds: map[string]*errorKind{}}
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

// clean takes secrets out of a text of others, bounds it, and makes it one line
// that a terminal shows as it is.
func (d *diagnostics) clean(text string) string {
	text = strings.TrimSpace(d.secrets.Text(text)) // before it is cut
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return printable(strings.ReplaceAll(text, "\n", "; "))
}

// cut bounds a text.
func cut(text string) string {
	if len(text) > maxErrorBytes {
		text = text[:maxErrorBytes] + "…"
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// printable is a text cut and escaped.
func printable(text string) string { return escaped(cut(text)) }

// escaped is a text with escapes in place of what a terminal would obey or not
// show.
func escaped(text string) string {
	if !strings.ContainsFunc(text, isUnprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isUnprintable(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }

// cleanedError is an error whose text may be printed. The errors in it are no
// part of its chain: their texts are as others wrote them. It is what they are,
// and has those of them whose texts are clean already.
type cleanedError struct {
	text  string
	cause error
	clean func(string) string
}

func (e cleanedError) Error() string { return e.text }

func (e cleanedError) Is(target error) bool { return errors.Is(e.cause, target) }

func (e cleanedError) As(target any) bool {
	found := reflect.New(reflect.TypeOf(target).Elem())
	if !errors.As(e.cause, found.Interface()) {
		return false
	}
	err, ok := reflect.TypeAssert[error](found.Elem())
	if !ok || e.clean(err.Error()) != err.Error() {
		return false
	}
	reflect.ValueOf(target).Elem().Set(found.Elem())
	return true
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
