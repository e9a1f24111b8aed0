package tracefile

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/waymark-trace/waymark/traces"
)

// parseTraceID reads 32 hex digits, 16 of them (a 64-bit trace id), or base64,
// which Tempo and protojson write. No text is no id.
func parseTraceID(id *traces.TraceID, text []byte) bool {
	*id = traces.TraceID{}
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
	*id = traces.SpanID{}
	switch len(text) {
	case 0:
		return true
	case 16:
		return hexInto(id[:], text)
	default:
		return base64Into(id[:], text)
	}
}

// hexInto decodes exactly len(dst) bytes, of which there is a multiple of four.
func hexInto(dst, text []byte) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	good := true
	for len(dst) >= 4 && len(text) >= 8 {
		v, ok := hex8(binary.LittleEndian.Uint64(text))
		binary.LittleEndian.PutUint32(dst, v)
		good = good && ok
		dst, text = dst[4:], text[8:]
	}
	return good
}

// hex8 decodes eight hex digits at once, each in a byte of w: the lower half of
// a digit is its value, of a letter its value less nine.
func hex8(w uint64) (v uint32, ok bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	low := w | 0x20*ones
	digits := (w + (0x80-'0')*ones) &^ (w + (0x80-'9'-1)*ones)
	letters := (low + (0x80-'a')*ones) &^ (low + (0x80-'f'-1)*ones) & highs
	ok = w&highs == 0 && (digits|letters)&highs == highs
	w = w&(0x0f*ones) + letters>>7*9
	w = (w<<4 | w>>8) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return uint32(w | w>>16), ok //nolint:gosec // the lower half
}

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
