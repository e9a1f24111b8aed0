package env

import (
	"log/slog"
	"strconv"
	"unicode/utf8"
)

// masked stands for what may be a secret.
const masked = "***"

// maxShown bounds what a finding repeats of a value, in bytes.
const maxShown = 256

// Finding is one bad or doubtful variable: what it says, what was wanted and
// what is used instead. A value that can hold a secret is masked already, and a
// long one is cut.
type Finding struct { //nolint:errname // an error to strict programs alone; its name says what it is to all others
	Key   string // the variable
	Value string // as given, masked where it can hold a secret
	Want  string // what would have been right
	Used  string // what is used instead
}

// Error makes a Finding an error, for strict programs. It is one line, whatever
// the value holds:
//
//	env: SHOP_TRACING="yes": want true, 1, false or 0; using false
func (f Finding) Error() string {
	key := f.Key
	if quoted := strconv.Quote(key); quoted != `"`+key+`"` {
		key = quoted
	}
	return "env: " + key + "=" + strconv.Quote(f.Value) + ": want " + f.Want + "; using " + f.Used
}

// LogValue is the finding as a group of variable, value, want and used.
func (f Finding) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("variable", f.Key),
		slog.String("value", f.Value),
		slog.String("want", f.Want),
		slog.String("used", f.Used),
	)
}

// shorten cuts what a finding repeats, at a character's border.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
