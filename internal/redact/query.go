// Package redact keeps secrets out of the texts that go into spans: the query of a URL, a URL, and any text in which URLs
// may stand, as errors and panics have them.
package redact

import "strings"

// Mark stands in the place of a secret.
const Mark = "REDACTED"

// secretKeys are the query keys whose values never go into a span: those of the conventions, then ours.
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/registry/attributes/url.md
// (url.query). The conventions compare with case; we do not, since a secret in another case is still one.
func secretKeys() []string {
	return []string{
		"x-amz-signature", "x-amz-credential", "x-amz-security-token", "awsaccesskeyid", "signature", "sig",
		"x-goog-signature",
		"token", "access_token", "id_token", "refresh_token", "api_key", "key", "password", "secret", "code",
	}
}

// Redactor replaces secrets. It is safe for concurrent use; the zero value is not ready, see [New].
type Redactor struct {
	keys   map[string]struct{}
	shapes *[32]uint64 // by the low bits of a key's first letter: a bit for each length that keys have
}

// New returns a redactor for the built-in keys and more, in any case.
func New(more ...string) Redactor {
	keys := make(map[string]struct{})
	for _, k := range append(secretKeys(), more...) {
		if k = strings.ToLower(strings.TrimSpace(k)); k != "" {
			keys[k] = struct{}{}
		}
	}
	q := Redactor{keys, new([32]uint64)}
	for k := range keys {
		q.shapes[k[0]&31] |= 1 << min(len(k), 63)
	}
	return q
}

// Query returns raw, the query of a URL, with the values of secret keys replaced. Keys stay as they are. Pairs end at
// & and at ;, since servers differ on the latter; a pair that only decodes to a secret (redirect=%2Fcb%3Ftoken%3Dabc)
// is redacted whole. Without secrets nothing is allocated.
func (q Redactor) Query(raw string) string {
	var b strings.Builder
	kept := 0 // raw[:kept] is in b
	for start := 0; start <= len(raw); {
		n, plain := q.pair(raw[start:])
		end := start + n
		if !plain {
			if from := q.secretIn(raw[start:end]); from >= 0 {
				b.WriteString(raw[kept : start+from])
				b.WriteString(Mark)
				kept = end
			}
		}
		start = end + 1
	}
	if kept == 0 {
		return raw
	}
	b.WriteString(raw[kept:])
	return b.String()
}

// pair returns the length of the first pair of s, and whether it is plain: a key of one word that no secret key is
// like, a value in which no pair can hide. Nearly all are, and this one look at them is then the only one.
func (q Redactor) pair(s string) (n int, plain bool) {
	word := 0 // of which the key consists
	for word < len(s) && isWordByte(s[word]) {
		word++
	}
	if word == 0 || word == len(s) || s[word] != '=' || q.like(s[:word]) {
		return pairLen(s, word), false
	}
	plain = true
	for n = word + 1; n < len(s); n++ {
		switch s[n] {
		case '&', ';':
			return n, plain
		case '=', ':', '%', '@', '\\':
			plain = false
		}
	}
	return n, plain
}

// pairLen returns where the first pair ends, of which some is known to be in it.
func pairLen(s string, known int) int {
	for i := known; i < len(s); i++ {
		if s[i] == '&' || s[i] == ';' {
			return i
		}
	}
	return len(s)
}

// secretIn returns where the secret of a pair starts, and -1 when there is none.
func (q Redactor) secretIn(pair string) int {
	key, value, found := strings.Cut(pair, "=")
	if !found {
		if q.hidden(pair) {
			return 0
		}
		return -1
	}
	switch {
	case q.hidden(key): // x%26token%3Dabc=1: the key itself tells
		return 0
	case value != "" && (q.secretKey(key) || q.hidden(value)):
		return len(key) + 1
	}
	return -1
}

// maxDecodings is how often a key or value is decoded in search of a secret; what is still encoded after
// that is taken for one.
const maxDecodings = 3

// secretKey reports whether a raw key, or a part of it (user[token]), is secret.
func (q Redactor) secretKey(key string) bool {
	for range maxDecodings {
		if q.hasSecretWord(key) {
			return true
		}
		next := unescape(key)
		if next == key {
			return false
		}
		key = next
	}
	return q.hasSecretWord(key)
}

// hasSecretWord reports whether one of the words of s, or all of it, is a secret key.
func (q Redactor) hasSecretWord(s string) bool {
	plain := true
	for start := 0; start < len(s); {
		n := wordLen(s[start:])
		if n == 0 {
			plain = false
			start++
			continue
		}
		if q.isSecret(s[start : start+n]) {
			return true
		}
		start += n
	}
	if plain {
		return false
	}
	_, ok := q.keys[strings.ToLower(strings.TrimSpace(s))]
	return ok
}

// like reports whether a secret key has the length and the first letter of the word.
func (q Redactor) like(word string) bool {
	return q.shapes[word[0]&31]&(1<<min(len(word), 63)) != 0
}

// isSecret looks a word up without allocating, and without hashing one that no key is like.
func (q Redactor) isSecret(word string) bool {
	if !q.like(word) {
		return false
	}
	var buf [64]byte
	if len(word) > len(buf) {
		_, ok := q.keys[strings.ToLower(word)]
		return ok
	}
	lower := buf[:len(word)]
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	_, ok := q.keys[string(lower)]
	return ok
}

func wordLen(s string) int {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return i
		}
	}
	return len(s)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// hidden reports whether s, as it is or decoded, holds a pair with a secret key (token=x, "token":"x") or a URL with
// user information.
func (q Redactor) hidden(s string) bool {
	if !suspicious(s) {
		return false
	}
	for range maxDecodings {
		if q.holdsSecret(s) {
			return true
		}
		next := unescape(s)
		if next == s {
			return false
		}
		s = next
	}
	return q.holdsSecret(s) || unescape(s) != s
}

// suspicious reports whether s may hold a pair, as it is or decoded. strings.ContainsAny, which goes by
// characters, was a third of the redactor's time.
func suspicious(s string) bool {
	for i := range len(s) {
		if c := s[i]; c == '=' || c == ':' || c == '%' || c == '@' || c == '\\' {
			return true
		}
	}
	return false
}

func (q Redactor) holdsSecret(s string) bool {
	if i := strings.IndexByte(s, '@'); i >= 0 && strings.Contains(s[:i], "//") {
		if _, at, ok := userInfo(s); ok && at < len(s) && s[at] == '@' {
			return true
		}
	}
	return q.holdsPair(s)
}

func (q Redactor) holdsPair(s string) bool {
	for i := range len(s) {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		end := i
		for end > 0 && !isWordByte(s[end-1]) && s[end-1] != '=' && s[end-1] != ':' {
			end-- // "token" :
		}
		start := end
		for start > 0 && isWordByte(s[start-1]) {
			start--
		}
		if start < end && q.isSecret(s[start:end]) {
			return true
		}
	}
	return false
}

// unescape decodes the valid escapes of s, also those of JSON (\u0026), leaves the others, and takes + for a blank.
func unescape(s string) string {
	if !strings.ContainsAny(s, `%+\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n, c := 1, s[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && isHexPair(s[i+1:]):
			n, c = 3, unhex(s[i+1])<<4|unhex(s[i+2])
		case strings.HasPrefix(s[i:], `\u00`) && isHexPair(s[i+4:]):
			n, c = 6, unhex(s[i+4])<<4|unhex(s[i+5])
		}
		b = append(b, c)
		i += n
	}
	return string(b)
}

func isHexPair(s string) bool { return len(s) >= 2 && isHex(s[0]) && isHex(s[1]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
