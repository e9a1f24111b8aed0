package tracefile

import (
	"encoding/base64"

	"github.com/waymark-trace/waymark/traces"
)

// parseTraceID reads 32 hex digits, 16 of them (a 64-bit trace id), or base64,
// which Tempo and protojson write. No text is no id.
func parseTraceID(id *traces.TraceID, text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 32:
		return hexInto(id[:], text)
	case 16:
		return hexInto(id[8:], text)
	default:
		return base64Into(id[:], text)
	}
}

// parseSpanID reads 16 hex digits or base64.
func parseSpanID(id *traces.SpanID, text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 16:
		return hexInto(id[:], text)
	default:
		return base64Into(id[:], text)
	}
}

// hexInto decodes exactly len(dst) bytes. Bad digits have a high bit in the
// table, which is looked at once, at the end.
func hexInto(dst, text []byte) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	var bad byte
	for i := range dst {
		hi, lo := hexValue[text[2*i]], hexValue[text[2*i+1]]
		bad |= hi | lo
		dst[i] = hi<<4 | lo
	}
	return bad < 0x80
}

//nolint:gochecknoglobals // a constant table
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

// base64Into decodes exactly len(dst) bytes, with or without padding, in
// either alphabet.
func base64Into(dst, text []byte) bool {
	if len(text) > 64 {
		return false
	}
	b, ok := decodeBase64(text)
	return ok && copy(dst, b) == len(dst) && len(b) == len(dst)
}

// decodeBase64 decodes standard or URL-safe base64, padded or not.
func decodeBase64(text []byte) ([]byte, bool) {
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
	}
	enc := base64.RawStdEncoding
	for _, c := range text {
		if c == '-' || c == '_' {
			enc = base64.RawURLEncoding
			break
		}
	}
	b, err := enc.AppendDecode(nil, text)
	return b, err == nil
}

// paddedHex decodes hex digits of which leading zeros may be missing, as Jaeger
// and Python print ids. No text is no id.
func paddedHex(dst, text []byte) bool {
	var full [32]byte
	n := 2 * len(dst)
	if len(text) > n {
		return false
	}
	for i := range n {
		full[i] = '0'
	}
	copy(full[n-len(text):n], text)
	return hexInto(dst, full[:n])
}
