package otlpjson

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// Nineteen digits are read as strconv reads them, whatever byte stands at
// whatever place.
func TestParse19(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 19)
	for at := range text {
		for c := range 256 {
			for i := range text {
				text[i] = '0' + byte(rnd.IntN(10))
			}
			text[at] = byte(c)
			want, err := strconv.ParseUint(string(text), 10, 64)
			if got, ok := parse19(text); ok != (err == nil && c != '+') || ok && got != want {
				t.Fatalf("parse19(%q) = %d, %v; strconv: %d, %v", text, got, ok, want, err)
			}
		}
	}
	for _, text := range []string{"", "123456789012345678", "12345678901234567890"} {
		if _, ok := parse19([]byte(text)); ok {
			t.Errorf("parse19 takes %q", text)
		}
	}
}
