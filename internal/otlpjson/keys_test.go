package otlpjson_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// slowAttribute is what Keys has to give, in the pieces that are tested elsewhere.
func slowAttribute(key string, v any) string {
	b := otlpjson.AppendKey(nil, key)
	switch v := v.(type) {
	case string:
		b = otlpjson.AppendStringValue(b, v)
	case int64:
		b = otlpjson.AppendIntValue(b, v)
	case bool:
		b = otlpjson.AppendBoolValue(b, v)
	case float64:
		b = otlpjson.AppendDoubleValue(b, v)
	}
	return string(otlpjson.CloseObject(b))
}

func quickAttribute(k *otlpjson.Keys, key string, v any) string {
	switch v := v.(type) {
	case string:
		return string(k.AppendStringAttribute(nil, key, v))
	case int64:
		return string(k.AppendIntAttribute(nil, key, v))
	case bool:
		return string(k.AppendBoolAttribute(nil, key, v))
	case float64:
		return string(k.AppendDoubleAttribute(nil, key, v))
	}
	panic("no such value here")
}

// More keys than there are places, again and again, of every kind and length:
// whatever is remembered, what is written is the same.
func TestKeysWriteWhatTheSlowWayWrites(t *testing.T) {
	t.Parallel()
	keys := []string{"", "a", "é", "with \"quotes\"", "\n", "bad\xff", strings.Repeat("k", 64), strings.Repeat("k", 65), strings.Repeat("k", 63) + "\n"}
	for i := range 400 {
		keys = append(keys, fmt.Sprintf("http.%d.x", i), strconv.Itoa(i))
	}
	values := []any{"v", "needs \"escape\" \x01 \xff", "", int64(math.MinInt64), int64(7), true, false, 0.5, math.NaN()}
	var k otlpjson.Keys
	for round := range 3 {
		for i, key := range keys {
			for j := range 3 {
				v := values[(i+j+round)%len(values)]
				for _, keys := range []*otlpjson.Keys{&k, nil} {
					if got, want := quickAttribute(keys, key, v), slowAttribute(key, v); got != want {
						t.Fatalf("round %d, key %q, value %v: %s, want %s", round, key, v, got, want)
					}
				}
			}
		}
	}
}

// Two keys one after the other, the second of which may have the first one's place.
func FuzzKeys(f *testing.F) {
	f.Add("http.route", "/users/{id}", "http.scheme", "https")
	f.Add("a\"b", "\x00", "a\\b", "\xff")
	f.Fuzz(func(t *testing.T, key1, v1, key2, v2 string) {
		var k otlpjson.Keys
		for range 2 {
			for _, kv := range [][2]string{{key1, v1}, {key2, v2}} {
				got := quickAttribute(&k, kv[0], kv[1])
				if want := slowAttribute(kv[0], kv[1]); got != want || !json.Valid([]byte(strings.TrimSuffix(got, ","))) {
					t.Fatalf("%q=%q: %s, want %s", kv[0], kv[1], got, want)
				}
			}
		}
	})
}
