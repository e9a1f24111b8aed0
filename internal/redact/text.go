package redact

import "strings"

// sentence is the punctuation that may follow a URL in a text and is no part of it.
const sentence = ":,.;!)]}'"

// Text returns s, of which it looks at somewhat more than limit bytes, without the secrets of the URLs in it: those that
// [Redactor.URL] knows, in URLs with and without a scheme, in forms (a=1&token=x), and in what is percent-encoded.
func (q Redactor) Text(s string, limit int) string {
	s = bounded(s, limit)
	var b strings.Builder
	kept := 0 // s[:kept] is in b
	for at := 0; at < len(s); {
		if isBreak(s[at]) {
			at++
			continue
		}
		end := wordEnd(s, at)
		if clean := q.word(s[at:end]); clean != s[at:end] {
			b.WriteString(s[kept:at])
			b.WriteString(clean)
			kept = end
		}
		at = end
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// slack is how far behind a limit the end of a word is looked for.
const slack = 4096

// bounded cuts s behind limit, if it can between two words: half a URL does not show that it holds a secret. What is cut
// is copied, so that a span does not keep all of s.
func bounded(s string, limit int) string {
	if len(s) <= limit+slack {
		return s
	}
	for i := limit + slack; i > limit; i-- {
		if isBreak(s[i]) {
			return strings.Clone(s[:i])
		}
	}
	return strings.Clone(s[:limit+slack])
}

// isBreak reports whether c stands between words and never in a URL.
func isBreak(c byte) bool {
	return c <= ' ' || c == 0x7f || c == '"' || c == '`' || c == '<' || c == '>'
}

// wordEnd returns the end of the word that begins at start: a URL in quotes ends with them, although an error may show
// one with blanks in it.
func wordEnd(s string, start int) int {
	if start > 0 && (s[start-1] == '"' || s[start-1] == '`') && !strings.HasSuffix(s[:start-1], `\`) {
		if end := quoteEnd(s, start); end > 0 && isURL(s[start:end]) {
			return end
		}
	} else if s[start] == '\'' {
		if end := quoteEnd(s, start+1); end > 0 && isURL(s[start+1:end]) {
			return end
		}
	}
	end := blank(s, start)
	word := strings.TrimRight(s[start:end], sentence)
	if from, _, ok := userInfo(word); ok && strings.IndexByte(word[from:], '@') < 0 {
		// The password may have a blank in it: the @ comes later, but not beyond the length of an authority, where text of
		// another kind may stand.
		line, _, _ := strings.Cut(s[end:min(len(s), end+maxAuthority)], "\n")
		if i := strings.IndexByte(line, '@'); i >= 0 {
			return blank(s, end+i)
		}
	}
	return end
}

func blank(s string, from int) int {
	for from < len(s) && !isBreak(s[from]) {
		from++
	}
	return from
}

// quoteEnd returns where the quotes end that begin before from, in the same line, and -1 when they do not.
func quoteEnd(s string, from int) int {
	quote := s[from-1]
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i
		case '\n':
			return -1
		}
	}
	return -1
}

// isURL reports whether all of s is meant as a URL: it begins as one.
func isURL(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '/' || c == '?':
			return i == 0
		case c == ':':
			return strings.HasPrefix(s[i:], "://")
		case !isWordByte(c) && c != '+' && c != '.':
			return false
		}
	}
	return false
}

// word returns a word of a text without secrets.
func (q Redactor) word(s string) string {
	url := strings.TrimRight(s, sentence)
	clean := q.urlOrForm(url)
	if q.encoded(clean) {
		clean = Mark
	}
	if clean == url {
		return s
	}
	return clean + s[len(url):]
}

func (q Redactor) urlOrForm(s string) string {
	s = q.URL(s)
	if strings.IndexByte(s, '&') >= 0 && !strings.ContainsAny(s, "?#") {
		return q.Query(s)
	}
	return s
}

// encoded reports whether s holds a secret once it is decoded.
func (q Redactor) encoded(s string) bool {
	if strings.IndexByte(s, '%') < 0 {
		return false
	}
	for range maxDecodings {
		next := unescape(s)
		if next == s {
			return false
		}
		if s = next; q.urlOrForm(s) != s {
			return true
		}
	}
	return unescape(s) != s
}
