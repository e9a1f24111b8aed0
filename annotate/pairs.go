package annotate

import (
	"iter"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// badKey is the key of a value that came without one, as in package slog.
const badKey = "!BADKEY"

// eachPair walks over keys and values as package slog takes them: a key, which is a string of any type, such as
// an attribute.Key, and the value after it; or alone a slog.Attr, an attribute.KeyValue, a list of either, an
// attribute.Set, or a map whose keys are strings (in the order of its keys).
func (c *Client) eachPair(args []any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := 0; i < len(args); i++ {
			var more bool
			switch key, isKey := keyOf(args[i]); {
			case !isKey:
				more = c.eachOf(args[i], yield)
			case i+1 == len(args):
				more = yield(badKey, key)
			default:
				i++
				more = yield(key, args[i])
			}
			if !more {
				return
			}
		}
	}
}

// keyOf returns the key that an argument is.
func keyOf(arg any) (key string, ok bool) {
	switch a := arg.(type) {
	case string:
		return a, true
	case attribute.Key:
		return string(a), true
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return v.String(), true
	}
	return "", false
}

// eachOf walks over the pairs that one argument holds; it reports whether to go on.
func (c *Client) eachOf(arg any, yield func(string, any) bool) bool {
	switch a := arg.(type) {
	case slog.Attr:
		return yield(a.Key, c.logged(a.Value, 0))
	case attribute.KeyValue:
		return yield(string(a.Key), a.Value)
	case []slog.Attr:
		return every(a, func(kv slog.Attr) bool { return c.eachOf(kv, yield) })
	case []attribute.KeyValue:
		return every(a, func(kv attribute.KeyValue) bool { return c.eachOf(kv, yield) })
	case attribute.Set:
		return every(a.ToSlice(), func(kv attribute.KeyValue) bool { return c.eachOf(kv, yield) })
	}
	m := reflect.ValueOf(arg)
	if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
		return yield(badKey, arg)
	}
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return every(keys, func(key reflect.Value) bool { return yield(key.String(), m.MapIndex(key).Interface()) })
}

// every calls f for each of the list until it is false, and reports whether none was.
func every[T any](list []T, f func(T) bool) bool {
	return !slices.ContainsFunc(list, func(t T) bool { return !f(t) })
}
