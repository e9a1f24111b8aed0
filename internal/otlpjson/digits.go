package otlpjson

import "encoding/binary"

// Numbers are written eight digits at a time: strconv writes two at a time to a
// buffer of its own and copies them from there, which was a sixth of the time of
// encoding a span (ADR 0121).

// maxDigits is the length of the longest integer, with its sign.
const maxDigits = 20

// appendUint is strconv.AppendUint in base ten.
func appendUint(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, '0'+byte(v))
	}
	b = room(b, maxDigits)
	n := len(b)
	return b[:n+putUint(b[n:n+maxDigits], v)]
}

// appendInt is strconv.AppendInt in base ten.
func appendInt(b []byte, v int64) []byte {
	if v < 0 {
		return appendUint(append(b, '-'), -uint64(v)) //nolint:gosec // two's complement: right for the least one too
	}
	return appendUint(b, uint64(v))
}

const tenTo8 = 100_000_000

// putUint writes v to the start of d, which has room for maxDigits, and returns
// how many digits it has.
func putUint(d []byte, v uint64) int {
	_ = d[maxDigits-1]
	if v < tenTo8 {
		return putShort(d, v)
	}
	high, low := v/tenTo8, v%tenTo8
	var n int
	if high >= tenTo8 {
		n = putShort(d, high/tenTo8)
		binary.LittleEndian.PutUint64(d[n:], digits8(high%tenTo8))
		n += 8
	} else {
		n = putShort(d, high)
	}
	binary.LittleEndian.PutUint64(d[n:], digits8(low))
	return n + 8
}

// put19 is putUint for numbers of nineteen digits.
func put19(d []byte, v uint64) {
	_ = d[18]
	high := v / tenTo8
	first := digits4(high / tenTo8)
	binary.LittleEndian.PutUint32(d, uint32(first>>8)) //nolint:gosec // three digits, and what comes next
	binary.LittleEndian.PutUint64(d[3:], digits8(high%tenTo8))
	binary.LittleEndian.PutUint64(d[11:], digits8(v%tenTo8))
}

// putShort is putUint for v < 1e8. It writes eight bytes, of which those after
// the digits mean nothing.
func putShort(d []byte, v uint64) int {
	if v < 10_000 {
		n := 1
		switch {
		case v >= 1_000:
			n = 4
		case v >= 100:
			n = 3
		case v >= 10:
			n = 2
		}
		binary.LittleEndian.PutUint32(d, uint32(digits4(v)>>(8*(4-n)&63))) //nolint:gosec // four digits
		return n
	}
	n := 8
	switch {
	case v < 100_000:
		n = 5
	case v < 1_000_000:
		n = 6
	case v < 10_000_000:
		n = 7
	}
	binary.LittleEndian.PutUint64(d, digits8(v)>>(8*(8-n)&63))
	return n
}

// digits4 returns the four digits of v < 1e4, the first one in the lowest byte.
// See digits8.
func digits4(v uint64) uint64 {
	q := v * 10_486 >> 20
	x := q | (v-q*100)<<16
	q = x * 103 >> 10 & 0x0f_000f
	x = q | (x-q*10)<<8
	return x + '0'*0x0101_0101
}

// digits8 returns the eight digits of v < 1e8, the first one in the lowest byte.
// It halves the number three times, all parts at once: into two of four digits,
// four of two, eight of one. The products stand for divisions by 100 and by 10
// that are exact in these ranges, and no part reaches into the next.
func digits8(v uint64) uint64 {
	x := v/10_000 | v%10_000<<32
	q := x * 10_486 >> 20 & 0x7f_0000_007f
	x = q | (x-q*100)<<16
	q = x * 103 >> 10 & 0x0f_000f_000f_000f
	x = q | (x-q*10)<<8
	return x + ones*'0'
}
