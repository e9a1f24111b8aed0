package render_test

import (
	"testing"

	"github.com/waymark-trace/waymark/traces/render"
)

func TestFormatName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"GET /users/{id}":             "GET /users/{id}",
		"a\x1b[31mb":                  `a\x1b[31mb`,
		"line\nbreak\tand\r":          `line\nbreak\tand\r`,
		"\u202eevil\u2066":            `\u202eevil\u2066`,
		"c1 \u009b31m":                `c1 \x9b31m`,
		"broken \xff\xc3(":            `broken \xff\xc3(`,
		"sep\u2028arator":             `sep\u2028arator`,
		"tag \U000e0001":              `tag \U000e0001`,
		"می\u200cخواهم 👩\u200d🚀":      "می\u200cخواهم 👩\u200d🚀",
		"the replacement character �": "the replacement character �",
		`back\slash`:                  `back\slash`,
	} {
		if got := render.FormatName(in); got != want {
			t.Errorf("FormatName(%q) = %q, want %q", in, got, want)
		}
	}
}
