package tracecontext

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// Every byte at every place, among digits of both kinds, against encoding/hex.
func TestDecodeHex(t *testing.T) {
	t.Parallel()
	for _, around := range []string{"0", "9", "a", "f"} {
		for at := range 16 {
			for c := range 256 {
				src := []byte(strings.Repeat(around, 16))
				src[at] = byte(c)
				var want, got [8]byte
				_, err := hex.Decode(want[:], src)
				valid := err == nil && bytes.Equal(src, bytes.ToLower(src))
				value, bad := decodeHex(string(src))
				binary.BigEndian.PutUint64(got[:], value)
				if ok := bad == 0; ok != valid || ok && got != want {
					t.Fatalf("decodeHex(%q) = %x, %v, want %x, %v", src, got, ok, want, valid)
				}
				if v, ok := decodeByte(string(src[at&^1:][:2])); ok != valid || ok && v != want[at/2] {
					t.Fatalf("decodeByte(%q) = %x, %v", src[at&^1:][:2], v, ok)
				}
			}
		}
	}
}
