package tracecontext

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// Where the fields of a traceparent lie: 00-<trace-id>-<parent-id>-<flags>.
const (
	versionEnd    = 2
	traceIDStart  = versionEnd + 1
	traceIDEnd    = traceIDStart + 32
	parentIDStart = traceIDEnd + 1
	parentIDEnd   = parentIDStart + 16
	flagsStart    = parentIDEnd + 1
	traceparentSz = flagsStart + 2
)

// definedFlags are the bits that Level 2 gives a meaning. The others are
// ignored when read, zero when written.
//
// Spec: https://www.w3.org/TR/trace-context-2/#other-flags
const definedFlags = trace.FlagsSampled | trace.FlagsRandom

const ows = " \t"

// parseTraceparent reads a header value of version 00, or of a later version by
// the rules for those: longer is allowed when a dash follows the flags.
//
// Spec: https://www.w3.org/TR/trace-context-2/#versioning-of-traceparent
func parseTraceparent(h string) (scc trace.SpanContextConfig, ok bool) {
	if len(h) != traceparentSz {
		h = strings.Trim(h, ows) // white space around a field value is not part of it
	}
	if len(h) < traceparentSz ||
		h[versionEnd] != '-' || h[traceIDEnd] != '-' || h[parentIDEnd] != '-' {
		return scc, false
	}
	high, bad1 := decodeHex(h[traceIDStart : traceIDStart+16])
	low, bad2 := decodeHex(h[traceIDStart+16 : traceIDEnd])
	parent, bad3 := decodeHex(h[parentIDStart:parentIDEnd])
	if bad1|bad2|bad3 != 0 || high|low == 0 || parent == 0 {
		return scc, false
	}
	binary.BigEndian.PutUint64(scc.TraceID[:8], high)
	binary.BigEndian.PutUint64(scc.TraceID[8:], low)
	binary.BigEndian.PutUint64(scc.SpanID[:], parent)
	version, ok := decodeByte(h[:versionEnd])
	if !ok {
		return scc, false
	}
	flags, ok := decodeByte(h[flagsStart:traceparentSz])
	if !ok {
		return scc, false
	}
	if version == 0xff || len(h) > traceparentSz && (version == 0 || h[traceparentSz] != '-') {
		return scc, false
	}
	scc.TraceFlags = trace.TraceFlags(flags) & definedFlags
	return scc, true
}

// decodeHex decodes sixteen digits of lower-case hexadecimal; encoding/hex takes
// upper case too, which the specification forbids. bad is 0 when all are digits.
func decodeHex(s string) (value, bad uint64) {
	high, bad1 := decodeWord(binary.BigEndian.Uint64([]byte(s[:8])))
	low, bad2 := decodeWord(binary.BigEndian.Uint64([]byte(s[8:16])))
	return high<<32 | low, bad1 | bad2
}

// decodeWord decodes eight digits without a branch: ids are random, so that
// which digits are letters cannot be predicted.
func decodeWord(w uint64) (value, bad uint64) {
	const ones = 0x0101010101010101
	letters := w >> 6 & ones // ones where c is 0x40 to 0x7f, or not ASCII
	v := w - letters*('a'-'0'-10) - ones*'0'
	// All are below sixteen, and those from ten were letters. What is below
	// '0' borrows from the next, and is itself above sixteen then.
	bad = v&^(ones*0xf) | (v+ones*6)>>4&ones ^ letters
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return (v | v>>16) & 0xffffffff, bad
}

// decodeByte decodes two digits of lower-case hexadecimal.
func decodeByte(src string) (byte, bool) {
	high, low := hexDigit(src[0]), hexDigit(src[1])
	return high<<4 | low&0xf, high|low <= 0xf
}

// hexDigit returns the value of a digit, 0xff for what is none.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// formatTraceparent writes version 00, whatever version was read.
func formatTraceparent(sc trace.SpanContext) string {
	var b [traceparentSz]byte
	traceID, spanID := sc.TraceID(), sc.SpanID()
	flags := [1]byte{byte(sc.TraceFlags() & definedFlags)}
	copy(b[:], "00-")
	hex.Encode(b[traceIDStart:], traceID[:])
	b[traceIDEnd] = '-'
	hex.Encode(b[parentIDStart:], spanID[:])
	b[parentIDEnd] = '-'
	hex.Encode(b[flagsStart:], flags[:])
	return string(b[:])
}
