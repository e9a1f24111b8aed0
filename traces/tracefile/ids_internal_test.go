package tracefile

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// Eight digits at a time are read as encoding/hex reads them, whatever byte
// stands at whatever place.
func TestHexInto(t *testing.T) {
	t.Parallel()
	const digits = "0123456789abcdefABCDEF"
	rnd := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 32)
	for at := range text {
		for c := range 256 {
			for i := range text {
				text[i] = digits[rnd.IntN(len(digits))]
			}
			text[at] = byte(c)
			var got, want [16]byte
			_, err := hex.Decode(want[:], text)
			if ok := hexInto(got[:], text); ok != (err == nil) || ok && got != want {
				t.Fatalf("hexInto(%q) = %x, %v; encoding/hex: %x, %v", text, got, ok, want, err)
			}
		}
	}
}
