package otlpjson

import (
	"math"
	"strconv"
	"testing"
)

// Every number that the product for a division may get wrong, and the edges of
// every length.
func TestAppendInt(t *testing.T) {
	t.Parallel()
	check := func(v int64) {
		if got, want := string(appendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10); got != want {
			t.Fatalf("appendInt(%d) = %s", v, got)
		}
		if got, want := string(appendUint(nil, uint64(v))), strconv.FormatUint(uint64(v), 10); got != want {
			t.Fatalf("appendUint(%d) = %s", uint64(v), got)
		}
	}
	for v := range int64(10_000) {
		check(v)
		check(v * 10_000)
		check(-v)
		check(1_764_500_000_000_000_000 + v*10_001)
	}
	for p := int64(1); p > 0 && p <= math.MaxInt64/10; p *= 10 {
		for d := int64(-2); d <= 2; d++ {
			check(p + d)
			check(-p + d)
			check(p*9 + d)
		}
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}

func FuzzAppendUint(f *testing.F) {
	for _, v := range []uint64{0, 9, 10, 99_999_999, 100_000_000, 1e16 - 1, 1e16, math.MaxUint64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v uint64) {
		if got, want := string(appendUint(nil, v)), strconv.FormatUint(v, 10); got != want {
			t.Errorf("appendUint = %s, want %s", got, want)
		}
	})
}
