package otlpjson

import (
	"bytes"
	"math"
	"math/bits"
)

// parseWhole reads a decimal number that stands for an integer, like
// 1.6530302570751997e18 or 3.0, and returns its absolute value. It is exact: the
// nearest double may be 128 off. Zero is not negative.
func parseWhole(text []byte) (n uint64, negative, ok bool) {
	negative, text = sign(text)
	exponent := 0
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		if exponent, ok = parseExponent(text[i+1:]); !ok {
			return 0, false, false
		}
		text = text[:i]
	}
	n, places, ok := mantissa(text)
	if !ok || n == 0 {
		return 0, false, ok
	}
	n, ok = timesTen(n, exponent+places)
	return n, negative, ok
}

func sign(text []byte) (negative bool, rest []byte) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return text[0] == '-', text[1:]
	}
	return false, text
}

// parseExponent reads what follows the e of a number. One that is too large for
// any integer may come out as another such.
func parseExponent(text []byte) (e int, ok bool) {
	const most = math.MaxInt32 / 16
	negative, text := sign(text)
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		e = min(e*10+int(c), most)
	}
	if negative {
		e = -e
	}
	return e, len(text) > 0
}

// mantissa reads digits and at most one point. They are n times ten to the power
// of places, n without zeros at its end.
func mantissa(text []byte) (n uint64, places int, ok bool) {
	point, digits, zeros := false, 0, 0
	for _, c := range text {
		if c == '.' && !point {
			point = true
			continue
		}
		if c -= '0'; c > 9 {
			return 0, 0, false
		}
		digits++
		if point {
			places--
		}
		if zeros++; c == 0 {
			continue
		}
		if n, ok = timesTen(n, zeros); !ok || n > math.MaxUint64-uint64(c) {
			return 0, 0, false
		}
		n += uint64(c)
		zeros = 0
	}
	return n, places + zeros, digits > 0
}

// timesTen multiplies by a power of ten, as long as the product fits.
func timesTen(n uint64, power int) (uint64, bool) {
	if power < 0 {
		return 0, false
	}
	for ; power > 0 && n > 0; power-- {
		high, low := bits.Mul64(n, 10)
		if high > 0 {
			return 0, false
		}
		n = low
	}
	return n, true
}
