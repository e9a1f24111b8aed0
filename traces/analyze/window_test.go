package analyze_test

import (
	"testing"
	"time"

	"github.com/waymark-trace/waymark/traces/analyze"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	newest := time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-01-31T12:03:05Z":      "2026-01-31T12:03:05Z",
		"2026-01-31T12:03:05+02:00": "2026-01-31T10:03:05Z",
		"2026-01-31T12:03:05.5":     "2026-01-31T12:03:05.5Z",
		"2026-01-31 12:03":          "2026-01-31T12:03:00Z",
		"2026-01-31":                "2026-01-31T00:00:00Z",
		"00:30":                     "2026-03-01T00:30:00Z",
		"00:29:59.25":               "2026-03-01T00:29:59.25Z",
		"00:31":                     "2026-02-28T00:31:00Z", // later than the newest: the day before
		"23:59":                     "2026-02-28T23:59:00Z",
		"noon":                      "",
		"25:00":                     "",
		"":                          "",
	} {
		at, err := analyze.ParseTime(text, newest)
		if got := at.UTC().Format(time.RFC3339Nano); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}
