package env

import (
	"strings"
)

// Prefix is what the App's variables begin with, without the underscore that
// follows: "shop" gives SHOP, so that the switch is SHOP_TRACING.
//
// Letters and digits of ASCII stay, in upper case; every other character, also
// a letter outside ASCII, is one underscore, because no shell sets a variable
// with another name. Two cases would give a name that cannot be typed: a first
// digit gets an underscore before it (2048: _2048), and an App without a single
// letter or digit of ASCII is APP. Blanks around the App do not count.
func Prefix(app string) string {
	var b strings.Builder
	usable := false
	for i, r := range strings.TrimSpace(app) {
		switch {
		case 'a' <= r && r <= 'z':
			r -= 'a' - 'A'
			usable = true
		case 'A' <= r && r <= 'Z':
			usable = true
		case '0' <= r && r <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			usable = true
		default:
			r = '_'
		}
		b.WriteRune(r)
	}
	if !usable {
		return "APP"
	}
	return b.String()
}
