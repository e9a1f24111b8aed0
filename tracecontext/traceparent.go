package tracecontext

import (
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
func parseTraceparent(h string) (trace.SpanContextConfig, bool) {
	var scc trace.SpanContextConfig
	h = strings.Trim(h, ows) // white space around a field value is not part of it
	if len(h) < traceparentSz ||
		h[versionEnd] != '-' || h[traceIDEnd] != '-' || h[parentIDEnd] != '-' {
		return scc, false
	}
	var version, flags [1]byte
	if !decodeHex(version[:], h[:versionEnd]) || version[0] == 0xff ||
		!decodeHex(scc.TraceID[:], h[traceIDStart:traceIDEnd]) || !scc.TraceID.IsValid() ||
		!decodeHex(scc.SpanID[:], h[parentIDStart:parentIDEnd]) || !scc.SpanID.IsValid() ||
		!decodeHex(flags[:], h[flagsStart:traceparentSz]) {
		return scc, false
	}
	if len(h) > traceparentSz && (version[0] == 0 || h[traceparentSz] != '-') {
		return scc, false
	}
	scc.TraceFlags = trace.TraceFlags(flags[0]) & definedFlags
	return scc, true
}

// decodeHex decodes lower-case hexadecimal; encoding/hex takes upper case too,
// which the specification forbids.
func decodeHex(dst []byte, src string) bool {
	for i := range dst {
		hi, ok1 := hexDigit(src[2*i])
		lo, ok2 := hexDigit(src[2*i+1])
		if !ok1 || !ok2 {
			return false
		}
		dst[i] = hi<<4 | lo
	}
	return true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
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
