// Package sdkotlp turns finished spans of OpenTelemetry's Go SDK into OTLP, JSON
// and protobuf.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
package sdkotlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// Flags are the W3C flags of sc and whether remote came from another process.
func Flags(sc, remote trace.SpanContext) uint32 {
	f := uint32(sc.TraceFlags()) | otlpjson.FlagHasIsRemote
	if remote.IsRemote() {
		f |= otlpjson.FlagIsRemote
	}
	return f
}

// Kind is the number of a span kind, 0 for one that is none.
func Kind(k trace.SpanKind) int32 {
	if k < trace.SpanKindUnspecified || k > trace.SpanKindConsumer {
		return 0
	}
	return int32(k)
}

// StatusCode turns Go's number into OTLP's: 1 and 2 are swapped.
func StatusCode(c codes.Code) int32 {
	switch c {
	case codes.Ok:
		return otlpjson.StatusOK
	case codes.Error:
		return otlpjson.StatusError
	default:
		return otlpjson.StatusUnset
	}
}

// UnixNano is 0 for the zero time and for every other before 1970, and near the
// largest int64 for one beyond it, where UnixNano is undefined.
func UnixNano(t time.Time) uint64 {
	sec := t.Unix()
	if sec < 0 {
		return 0
	}
	sec = min(sec, math.MaxInt64/int64(time.Second))
	return min(uint64(sec)*uint64(time.Second)+uint64(t.Nanosecond()), math.MaxInt64) //nolint:gosec // both are positive
}

// Count is a count of what was dropped.
func Count(n int) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32))
}
