package otlpjson

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The append functions write OTLP/JSON: ids in lower-case hex, enums as
// integers, 64-bit integers as strings, and never a character escaped that JSON
// does not want escaped. Each appends to b and returns it, like append.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/docs/specification.md#json-protobuf-encoding
//
// A list is opened by a function named after it, its elements each end in a
// comma, and [CloseList] turns the last comma into the bracket. That keeps the
// hot path without a branch for "not the first".

// CloseList ends a list whose elements were appended with a comma each.
func CloseList(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == ',' {
		b[n-1] = ']'
		return b
	}
	return append(b, ']')
}

// CloseObject ends an element of a list.
func CloseObject(b []byte) []byte { return append(b, '}', ',') }

// room returns b with room for n more bytes. What is written there in pieces of a
// fixed size needs no look at the capacity for each (ADR 0121).
func room(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		return slices.Grow(b, n)
	}
	return b
}

// AppendString appends s as a JSON string. Each byte that is not UTF-8 becomes
// U+FFFD.
func AppendString(b []byte, s string) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// appendText appends what stands between the quotes.
func appendText(b []byte, s string) []byte {
	b = room(b, len(s)+1) // and the quote
	n := len(b)
	if i := copyPlain(b[n:n+len(s)], s); i < len(s) {
		return appendEscaped(b[:n+i], s[i:])
	}
	return b[:n+len(s)]
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends s, escaping what has to be.
func appendEscaped(b []byte, s string) []byte {
	done := 0 // s[:done] is appended
	for i := 0; i < len(s); {
		c := s[i]
		if plain(c) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[done:i]...)
		i++
		done = i
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			if c >= utf8.RuneSelf {
				b = append(b, "\uFFFD"...)
			} else {
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
		}
	}
	return append(b, s[done:]...)
}

// AppendHex appends the bytes of an id in lower-case hex, without quotes.
func AppendHex(b, id []byte) []byte {
	for ; len(id) >= 4; id = id[4:] {
		b = binary.BigEndian.AppendUint64(b, hex8(id))
	}
	for _, c := range id {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

// putHex writes an id, whose length is a multiple of four, over the start of b.
func putHex(b, id []byte) {
	for ; len(id) >= 4; id = id[4:] {
		binary.BigEndian.PutUint64(b, hex8(id))
		b = b[8:]
	}
}

// hex8 returns four bytes as eight hex digits. It spreads the nibbles over eight
// bytes, and adds to each what makes it a digit: a nibble above nine carries
// into bit 4 when 6 is added.
func hex8(id []byte) uint64 {
	x := uint64(binary.BigEndian.Uint32(id))
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + ones*6) >> 4 & ones
	return x + ones*'0' + letters*('a'-'0'-10)
}

// AppendDouble appends f as proto3 JSON has it: a number, or one of the strings
// "NaN", "Infinity", "-Infinity".
func AppendDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
