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

// copyPlain copies s to d, which has room for it, and returns the index of the
// first byte of s that is not plain; len(s) when there is none. Behind that index
// nothing is promised. It copies and looks in one go, eight bytes at a time: to
// look at what was just copied is to wait for it.
func copyPlain(d []byte, s string) int {
	d = d[:len(s)]
	if len(s) < 8 {
		return copyShort(d, s)
	}
	i := 0
	for ; i <= len(s)-16; i += 16 {
		v, w := word(s[i:i+8]), word(s[i+8:i+16])
		binary.LittleEndian.PutUint64(d[i:i+8], v)
		binary.LittleEndian.PutUint64(d[i+8:i+16], w)
		if notPlain(v)|notPlain(w) != 0 {
			break // the next loop finds where
		}
	}
	for ; i <= len(s)-8; i += 8 {
		w := word(s[i : i+8])
		binary.LittleEndian.PutUint64(d[i:i+8], w)
		if m := notPlain(w); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	// The rest with some that was looked at already: what is known to be plain
	// cannot be marked.
	last := len(s) - 8
	w := word(s[last:])
	binary.LittleEndian.PutUint64(d[last:], w)
	if m := notPlain(w); m != 0 {
		return last + bits.TrailingZeros64(m)>>3
	}
	return len(s)
}

// copyShort is copyPlain for less than eight bytes.
func copyShort(d []byte, s string) int {
	switch n := len(s); {
	case n >= 4:
		first, last := half(s), half(s[n-4:])
		binary.LittleEndian.PutUint32(d, first)
		binary.LittleEndian.PutUint32(d[n-4:], last)
		if notPlain(uint64(first)|uint64(last)<<32) == 0 {
			return n
		}
	case n > 0:
		a, m, z := s[0], s[n/2], s[n-1]
		d[0], d[n/2], d[n-1] = a, m, z
		if plain(a) && plain(m) && plain(z) {
			return n
		}
	}
	for i := range len(s) {
		if !plain(s[i]) {
			return i
		}
	}
	return len(s)
}

// word returns the first eight bytes of s, half the first four.
func word(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s[:8])) }
func half(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s[:4])) }

// notPlain marks the high bit of each byte that is not plain. A subtraction of
// one borrows into the high bit of a byte that was zero, one of 0x20 into that
// of a control character; w itself marks what is not ASCII. Borrows go upwards
// and can mark the byte above such a one too: only the lowest mark is exact.
func notPlain(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w | (w - ones*0x20) | (quote - ones) | (slash - ones)) & highs
}
