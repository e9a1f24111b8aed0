package render

import "strconv"

// grid turns nanoseconds into microseconds that are multiples of a power of two
// below a nanosecond. Viewers add ts and dur as floating-point numbers, and one
// of them (speedscope) first subtracts the earliest ts of the lane. With decimal
// fractions a child's end comes out a little behind its parent's, and the frame
// is drawn to the end of the profile. Multiples of a power of two stay exact.
type grid struct{ step float64 }

// newGrid picks the finest step, 2⁻¹³ µs at best, with which the range has 53
// bits, the precision of a float64: at 12 days it is an eighth of a nanosecond.
func newGrid(nanoseconds uint64) grid {
	step := 1.0 / 8192
	for float64(nanoseconds/1000+1)/step >= 1<<53 && step < 1 {
		step *= 2
	}
	return grid{step}
}

// micros rounds up, so that a viewer that cuts fractions of a nanosecond off
// and one that rounds get the same.
func (g grid) micros(ns uint64) float64 {
	perMicro := uint64(1 / g.step)
	whole, rest := ns/1000, ns%1000
	return float64(whole) + float64((rest*perMicro+999)/1000)*g.step
}

func appendMicros(b []byte, micros float64) []byte {
	return strconv.AppendFloat(b, micros, 'f', -1, 64)
}
