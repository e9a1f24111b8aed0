package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxEncoded bounds the parts that are looked for in other encodings too, each of
// which takes as much memory again: a longer one is a token that holds claims, or
// a file.
const maxEncoded = 512

// parts are the secrets in a value: its words without a scheme in front of them,
// what stands between separators in those, and what they decode to.
func parts(value string) []string {
	var out []string
	for _, word := range words(value) {
		out = append(out, word)
		out = append(out, split(word)...)
		if text, ok := decode(word); ok {
			out = append(out, text)
			out = append(out, split(text)...)
		}
	}
	return out
}

// words are the words of a value, without the scheme of an Authorization header
// and without the lines around a PEM block, which are no secrets.
//
// Spec: https://www.rfc-editor.org/rfc/rfc9110.html#section-11.4
func words(value string) []string {
	if strings.Contains(value, "-----BEGIN") {
		var body []string
		for line := range strings.Lines(value) {
			if !strings.HasPrefix(strings.TrimSpace(line), "-----") {
				body = append(body, line)
			}
		}
		value = strings.Join(body, "")
	}
	out := strings.Fields(value)
	if len(out) > 1 && slices.Contains(schemes(), strings.ToLower(out[0])) {
		out = out[1:]
	}
	return out
}

// schemes are those of IANA's registry, and what vendors write in their place.
func schemes() []string {
	return []string{
		"apikey", "api-key", "api-token", "basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "key", "mutual",
		"negotiate", "ntlm", "oauth", "privatetoken", "splunk", "token", "vapid",
	}
}

// split is what stands between the separators of pairs, lists and user:password.
func split(word string) []string {
	return strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(`:=,;&"'`, r) })
}

// decode reads base64 that holds text.
func decode(word string) (string, bool) {
	word = strings.TrimRight(word, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		b, err := enc.DecodeString(word)
		if err == nil && len(b) >= least && utf8.Valid(b) && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' }) {
			return string(b), true
		}
	}
	return "", false
}

// formsOf are the ways in which a secret is written other than by escapes, which
// a search undoes.
func formsOf(secret string) []form {
	out := []form{{text: lower(secret)}}
	if len(secret) < least || len(secret) > maxEncoded {
		return out
	}
	out = append(out, form{text: hex.EncodeToString([]byte(secret)), inner: true})
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 {
			out = append(out, form{text: lower(inBase64(enc, secret, before)), inner: true})
		}
	}
	return out
}

// inBase64 is what base64 makes of a secret with so many bytes before it, as far
// as it depends on the secret alone.
func inBase64(enc *base64.Encoding, secret string, before int) string {
	text := enc.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
	skip := (before*8 + 5) / 6 // characters that the bytes before have a part in
	if (before+len(secret))%3 != 0 {
		text = text[:len(text)-1] // what follows has a part in the last one
	}
	return text[min(skip, len(text)):]
}

// lower puts ASCII in lower case and leaves every byte where it is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// isAlnum reports whether c is a letter, a digit, or part of a character outside
// ASCII.
func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// notSpace reports whether c may stand in a secret.
func notSpace(c byte) bool { return c > ' ' }
