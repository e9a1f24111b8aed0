package middleware

import (
	"encoding/binary"
	"net/http"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Bounds of what a client can put into a span, in bytes.
const (
	maxPath         = 4096
	maxQuery        = 4096
	maxURL          = maxPath + maxQuery
	maxUserAgent    = 1024
	maxHeaderValue  = 1024
	maxHeaderValues = 16
	maxRoute        = 512
	maxHost         = 255
	maxMethod       = 32
	maxMessage      = 4096
	maxStack        = 64 << 10
	maxTypeName     = 256
)

// maxShared is how long a request line may be for a span to keep it whole, by one of its parts.
const maxShared = maxPath + maxQuery

// clip returns s as valid UTF-8 of at most limit bytes. A text that is cut is copied: as a part it would keep the whole
// in memory as long as the span.
func clip(s string, limit int) string {
	if len(s) <= limit && isASCII(s) {
		return s
	}
	return clipUTF8(s, limit)
}

// sharesMuch reports whether a short text of r may keep a long one in memory. net/http cuts the method, the target and
// the host of an absolute target out of one string, the request line; each header has a string of its own. A request
// without RequestURI is not net/http's, and what its texts are cut out of is not known.
func sharesMuch(r *http.Request) bool {
	return r.RequestURI == "" || len(r.Method)+len(r.RequestURI) > maxShared
}

// own returns s, a copy of it when it may keep much else in memory.
func own(s string, sharesMuch bool) string {
	if sharesMuch {
		return strings.Clone(s)
	}
	return s
}

// isASCII takes eight bytes at a time, the last eight perhaps twice: it is asked for each text of each request, and
// utf8.ValidString takes the bytes at the end one by one.
func isASCII(s string) bool {
	const high, word = 0x8080808080808080, 8
	all := uint64(0)
	if n := len(s); n >= word {
		for i := 0; i < n-word; i += word {
			all |= binary.NativeEndian.Uint64([]byte(s[i : i+word]))
		}
		all |= binary.NativeEndian.Uint64([]byte(s[n-word:]))
		return all&high == 0
	}
	for i := range len(s) {
		all |= uint64(s[i])
	}
	return all&high == 0
}

// clipUTF8 is clip for what is longer, or not only ASCII.
func clipUTF8(s string, limit int) string {
	cut := len(s) > limit
	if cut {
		s = head(s, limit)
	}
	switch {
	case !utf8.ValidString(s):
		return clipUTF8(strings.ToValidUTF8(s, "\uFFFD"), limit) // a copy; one byte may have become three
	case cut:
		return strings.Clone(s)
	}
	return s
}

// head returns the first limit bytes of s. A character that the cut has halved goes with it.
func head(s string, limit int) string {
	s = s[:limit]
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				s = s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// splitHostPort splits host, host:port, [v6], [v6]:port and a bare v6 address; of what is none of them there is no host.
// The port is 0 when there is none or it is not a number from 1 to 65535. It does not allocate for what is one of them.
func splitHostPort(s string) (host string, port int) {
	if strings.HasPrefix(s, "[") {
		host, rest, closed := strings.Cut(s[1:], "]")
		if !closed || !isV6(host) || rest != "" && rest[0] != ':' {
			return "", 0
		}
		return host, parsePort(strings.TrimPrefix(rest, ":"))
	}
	host, rest, found := strings.Cut(s, ":")
	if found && strings.IndexByte(rest, ':') >= 0 {
		if !isV6(s) {
			return "", 0
		}
		return s, 0
	}
	return host, parsePort(rest)
}

func isV6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}

// isHost reports whether s, from splitHostPort, may be the host of a URL: a name, or an address without brackets.
// Spec: https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2
func isHost(s string) bool {
	if s == "" || len(s) > maxHost {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetterOrDigit(c) && strings.IndexByte("-._~!$&'()*+,;=%:", c) < 0 {
			return false
		}
	}
	return true // a colon is in addresses alone: splitHostPort has seen to it
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func parsePort(s string) int {
	if len(s) == 0 || len(s) > 5 {
		return 0
	}
	n := 0
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n > 65535 {
		return 0
	}
	return n
}
