package sdkotlp_test

import (
	"math"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/sdkotlp"
)

func TestUnixNano(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Time]uint64{
		{}:                          0,
		time.Unix(-1, 999):          0,
		time.Unix(0, 1):             1,
		time.Unix(1, 5):             1_000_000_005,
		time.Unix(0, math.MaxInt64): math.MaxInt64,
		time.Unix(math.MaxInt64/1_000_000_000+1, 0): 9_223_372_036_000_000_000,
		time.Unix(math.MaxInt64/2, 0):               9_223_372_036_000_000_000,
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC): 9_223_372_036_000_000_000,
	} {
		if got := sdkotlp.UnixNano(in); got != want {
			t.Errorf("UnixNano(%v) = %d, want %d", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	if got := [3]int32{sdkotlp.StatusCode(codes.Unset), sdkotlp.StatusCode(codes.Ok), sdkotlp.StatusCode(codes.Error)}; got != [3]int32{0, 1, 2} {
		t.Errorf("status codes %v", got)
	}
	if sdkotlp.StatusCode(99) != 0 || sdkotlp.Kind(-1) != 0 || sdkotlp.Kind(6) != 0 || sdkotlp.Kind(trace.SpanKindConsumer) != 5 {
		t.Error("a number that is none is not 0")
	}
	sampled := trace.NewSpanContext(trace.SpanContextConfig{TraceFlags: trace.FlagsSampled})
	if got := sdkotlp.Flags(sampled, sampled); got != 0x101 {
		t.Errorf("flags %#x, want 0x101", got)
	}
	if got := sdkotlp.Flags(sampled, sampled.WithRemote(true)); got != 0x301 {
		t.Errorf("flags of a remote one %#x, want 0x301", got)
	}
	if sdkotlp.Count(-1) != 0 || sdkotlp.Count(math.MaxInt) != min(math.MaxInt, math.MaxUint32) {
		t.Error("a count out of range")
	}
}
