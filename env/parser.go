package env

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parser collects findings while it reads variables.
type parser struct {
	lookup   Lookup
	prefix   string
	findings []Finding
}

// get returns a variable without the blanks around it. The specification has an
// empty value count as unset; a blank one does so too.
func (p *parser) get(key string) (string, bool) {
	v, _ := p.lookup.Lookup(key)
	v = strings.TrimSpace(v)
	return v, v != ""
}

// first returns the first of the variables that is set.
func (p *parser) first(keys ...string) (key, value string) {
	for _, key := range keys {
		if v, ok := p.get(key); ok {
			return key, v
		}
	}
	return "", ""
}

func (p *parser) find(key, value, want, used string) {
	shown, _ := Show(key, value)
	p.findings = append(p.findings, Finding{Key: key, Value: shorten(shown), Want: want, Used: shorten(used)})
}

// read takes the first of the variables that parse accepts, else def. What parse
// refuses, by saying what was wanted, is a finding and counts as unset, so that
// a general variable stands in for a bad specific one.
func read[T any](p *parser, def T, parse func(string) (v T, want string), keys ...string) Value[T] {
	out := Value[T]{V: def}
	mark := len(p.findings)
	for _, key := range keys {
		raw, ok := p.get(key)
		if !ok {
			continue
		}
		v, want := parse(raw)
		if want == "" {
			out = Value[T]{V: v, Key: key}
			break
		}
		p.find(key, raw, want, "")
	}
	for i := mark; i < len(p.findings); i++ {
		p.findings[i].Used = show(out)
	}
	return out
}

// show says what is used in place of a bad value, and where it comes from.
func show[T any](v Value[T]) string {
	s := fmt.Sprint(v.V)
	switch x := any(v.V).(type) {
	case int:
		if x < 0 {
			s = "no limit"
		}
	case time.Duration:
		if x == 0 {
			s = "no limit"
		}
	}
	if v.Key == "" {
		return s
	}
	return s + " from " + v.Key
}

// parseSwitch reads a switch of the App's.
func parseSwitch(raw string) (on bool, want string) {
	switch strings.ToLower(raw) {
	case "true", "1":
		return true, ""
	case "false", "0":
		return false, ""
	}
	return false, "true, 1, false or 0"
}

// parseBool reads a boolean by the specification, which forbids further
// spellings.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/common.md#boolean
func parseBool(raw string) (on bool, want string) {
	switch strings.ToLower(raw) {
	case "true":
		return true, ""
	case "false":
		return false, ""
	}
	return false, "true or false"
}

// parseInt reads a whole number in a range.
func parseInt(low, high int) func(string) (int, string) {
	return func(raw string) (int, string) {
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil || n < int64(low) || n > int64(high) {
			return 0, fmt.Sprintf("a whole number from %d to %d", low, high)
		}
		return int(n), ""
	}
}

// parseMillis reads milliseconds; low is the smallest number allowed.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/common.md#duration
func parseMillis(low int) func(string) (time.Duration, string) {
	return func(raw string) (time.Duration, string) {
		n, want := parseInt(low, math.MaxInt32)(raw)
		if want == "" {
			return time.Duration(n) * time.Millisecond, ""
		}
		want += ", in milliseconds"
		if d, err := time.ParseDuration(raw); err == nil {
			if n := d.Milliseconds(); n >= int64(low) && n <= math.MaxInt32 {
				want += fmt.Sprintf(" (here %d)", n)
			}
		}
		return 0, want
	}
}

// parseBytes reads a size: bytes, or a number with KiB, MiB, GiB or TiB.
func parseBytes(raw string) (int64, string) {
	const want = "a number of bytes above 0, or one with KiB, MiB, GiB or TiB"
	number, unit := strings.ToLower(raw), int64(1)
	for i, suffix := range []string{"kib", "mib", "gib", "tib"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(n), int64(1)<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, want
	}
	return n * unit, ""
}

// parseEnum reads one of the accepted words, in any case.
func parseEnum(accepted ...string) func(string) (string, string) {
	return func(raw string) (string, string) {
		v := strings.ToLower(raw)
		if !slices.Contains(accepted, v) {
			return "", alternatives(accepted)
		}
		return v, ""
	}
}

// items splits a list at its commas. Blank items do not count.
func items(raw string) []string {
	var out []string
	for item := range strings.SplitSeq(raw, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// enumList reads a list of the accepted words, in any case, each once, in the
// order given. Unknown items are one finding and left out; none wins over all
// others; when nothing is left it is def, without a key.
func (p *parser) enumList(key string, def []string, accepted ...string) Value[[]string] {
	raw, ok := p.get(key)
	if !ok {
		return Value[[]string]{V: def}
	}
	var kept, bad []string
	for _, item := range items(raw) {
		switch word := strings.ToLower(item); {
		case !slices.Contains(accepted, word):
			bad = addBad(bad, key, item)
		case !slices.Contains(kept, word):
			kept = append(kept, word)
		}
	}
	want := "a list of " + alternatives(accepted)
	if len(bad) > 0 {
		want += ", not " + alternatives(bad)
	}
	if len(kept) > 1 && slices.Contains(kept, "none") {
		kept = []string{"none"}
		if len(bad) == 0 {
			bad, want = kept, "none alone, or a list without it"
		}
	}
	out := Value[[]string]{V: kept, Key: key}
	if len(kept) == 0 {
		out = Value[[]string]{V: def}
	}
	if len(bad) > 0 || len(kept) == 0 {
		p.find(key, raw, want, strings.Join(out.V, ","))
	}
	return out
}

// list reads a list of what valid takes, each item once, in the order given.
// The others are one finding and left out; when nothing is left the variable
// counts as unset, which is none in words.
func (p *parser) list(key string, valid func(string) bool, want, none string) Value[[]string] {
	raw, ok := p.get(key)
	if !ok {
		return Value[[]string]{}
	}
	var kept, bad []string
	seen := map[string]bool{} // a list of thousands must not hold up the start
	for _, item := range items(raw) {
		switch {
		case !valid(item):
			bad = addBad(bad, key, item)
		case !seen[item]:
			seen[item] = true
			kept = append(kept, item)
		}
	}
	if len(bad) > 0 {
		want += ", not " + alternatives(bad)
	}
	if len(kept) == 0 {
		p.find(key, raw, want, none)
		return Value[[]string]{}
	}
	if len(bad) > 0 {
		used, _ := Show(key, strings.Join(kept, ","))
		p.find(key, raw, want, used)
	}
	return Value[[]string]{V: kept, Key: key}
}

// mostNamed bounds the bad items of a list that are named: there may be thousands.
const mostNamed = 12

// addBad adds an item to the bad ones of a list.
func addBad(bad []string, key, item string) []string {
	if len(bad) > mostNamed {
		return bad
	}
	shown, _ := Show(key, item)
	return append(bad, strconv.Quote(shorten(shown)))
}

// alternatives writes words as "a, b or c".
func alternatives(words []string) string {
	if len(words) > mostNamed {
		words = append(slices.Clone(words[:mostNamed]), "others")
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
