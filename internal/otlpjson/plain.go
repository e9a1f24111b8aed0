package otlpjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain says whether c stands in a JSON string as it is, for certain: ASCII, no
// control character, no quote, no backslash.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// plainEnd returns the index of the first byte at or after from that is not
// plain; len(b) when there is none. It looks at eight bytes at a time.
func plainEnd(b []byte, from int) int {
	i := from
	for ; i+8 <= len(b); i += 8 {
		if m := notPlain(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i > from && i < len(b) {
		// The rest with some that was looked at already: one more word instead
		// of up to seven bytes. What is known to be plain cannot be marked.
		// Not for short texts: a word over bytes that were just copied one by
		// one has to wait for them.
		last := len(b) - 8
		if m := notPlain(binary.LittleEndian.Uint64(b[last:])); m != 0 {
			return last + bits.TrailingZeros64(m)>>3
		}
		return len(b)
	}
	for ; i < len(b); i++ {
		if !plain(b[i]) {
			return i
		}
	}
	return i
}

// notPlain marks the high bit of each byte that is not plain. A subtraction of
// one borrows into the high bit of a byte that was zero, one of 0x20 into that
// of a control character; w itself marks what is not ASCII. Borrows go upwards
// and can mark the byte above such a one too: only the lowest mark is exact.
func notPlain(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w | (w - ones*0x20) | (quote - ones) | (slash - ones)) & highs
}
