package env

import (
	"log/slog"
	"strconv"
	"strings"
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

// maskURL hides what can be a secret in a URL, also in one that does not parse:
// the user information, the query and the fragment.
func maskURL(raw string) string {
	scheme, rest, found := strings.Cut(raw, "://")
	if found && isLetters(scheme) {
		scheme += "://"
	} else {
		scheme, rest = "", raw
	}
	// The last @, not the one a parser would choose: an unescaped slash in a
	// password ends the authority before it.
	at := strings.LastIndexByte(rest, '@')
	end := strings.IndexAny(rest, "?#")
	switch {
	case at >= 0 && end >= 0 && end < at:
		return scheme + masked
	case end >= 0:
		rest = rest[:end+1] + masked
	}
	if at >= 0 {
		rest = masked + rest[at:]
	}
	return scheme + rest
}

func isLetters(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}
