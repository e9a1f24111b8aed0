package traces

import (
	"encoding/hex"
	"fmt"
)

// TraceID identifies a trace. The zero TraceID is none.
type TraceID [16]byte

// SpanID identifies a span inside its trace. The zero SpanID is none.
type SpanID [8]byte

// ParseTraceID reads 32 hexadecimal digits of either case, the form of OTLP's
// JSON. All zeros are accepted and give the zero TraceID.
func ParseTraceID(s string) (TraceID, error) {
	var id TraceID
	if err := parseHex(id[:], s); err != nil {
		return TraceID{}, fmt.Errorf("traces: trace ID %w", err)
	}
	return id, nil
}

// ParseSpanID reads 16 hexadecimal digits of either case. All zeros are
// accepted and give the zero SpanID.
func ParseSpanID(s string) (SpanID, error) {
	var id SpanID
	if err := parseHex(id[:], s); err != nil {
		return SpanID{}, fmt.Errorf("traces: span ID %w", err)
	}
	return id, nil
}

func parseHex(dst []byte, s string) error {
	if len(s) == hex.EncodedLen(len(dst)) {
		if _, err := hex.Decode(dst, []byte(s)); err == nil {
			return nil
		}
	}
	// The text came from a file: an id of a megabyte must not become an error
	// message of a megabyte.
	const most = 48
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Errorf("%q: want %d hexadecimal digits", s, hex.EncodedLen(len(dst)))
}

// String returns 32 lower-case hexadecimal digits.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// IsZero reports whether t is none.
func (t TraceID) IsZero() bool { return t == TraceID{} }

// MarshalText returns the 32 digits, so that JSON holds them as a string.
func (t TraceID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, t[:]), nil }

// UnmarshalText reads what [ParseTraceID] reads, and sets t only on success.
func (t *TraceID) UnmarshalText(text []byte) error {
	id, err := ParseTraceID(string(text))
	if err == nil {
		*t = id
	}
	return err
}

// String returns 16 lower-case hexadecimal digits.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether s is none.
func (s SpanID) IsZero() bool { return s == SpanID{} }

// MarshalText returns the 16 digits, so that JSON holds them as a string.
func (s SpanID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what [ParseSpanID] reads, and sets s only on success.
func (s *SpanID) UnmarshalText(text []byte) error {
	id, err := ParseSpanID(string(text))
	if err == nil {
		*s = id
	}
	return err
}
