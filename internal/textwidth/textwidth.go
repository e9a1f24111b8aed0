// Package textwidth says how many columns of a terminal text takes: two for
// most East Asian characters and emoji, none for a combining mark.
package textwidth

import (
	"unicode"
	"unicode/utf8"
)

// Of returns the columns of a text without control characters.
func Of(s string) int {
	columns := ascii(s)
	s = s[columns:]
	for s != "" {
		size, n := Next(s)
		columns += n
		s = s[size:]
	}
	return columns
}

// ascii is the length of what begins s and is one column a byte: ASCII, without
// a last character that may have marks.
func ascii(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return max(i-1, 0)
		}
	}
	return len(s)
}

// maxMarks bounds the marks that belong to one character: what a stranger
// writes may be nothing but marks.
const maxMarks = 16

// Next returns the length in bytes and the columns of the first character of s,
// with the marks, the emoji modifiers and the joined emoji that belong to it;
// zeros for an empty s.
//
// Spec: https://www.unicode.org/reports/tr29/tr29-43.html#Grapheme_Cluster_Boundaries
// The rules are cut down to what changes a width: flags are two characters of
// one column each.
func Next(s string) (size, columns int) {
	if s == "" {
		return 0, 0
	}
	first, size := utf8.DecodeRuneInString(s)
	columns = ofRune(first)
	joined := false
	for range maxMarks {
		r, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case n == 0 || r < 0x300 && r != softHyphen:
			return size, columns
		case joined, columns == 2 && isModifier(r):
			// One picture with what stands before it.
		case r == emojiStyle:
			columns = max(columns, min(2*columns, 2))
		case ofRune(r) > 0:
			return size, columns
		}
		joined = r == joiner && columns == 2
		size += n
	}
	return size, columns
}

const (
	softHyphen = '\u00ad'
	joiner     = '\u200d'
	emojiStyle = '\ufe0f'
)

// isModifier reports whether r is a color of skin.
func isModifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

func ofRune(r rune) int {
	switch {
	case r < 0x300 && r != softHyphen:
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3: // most of what is wide, in no search
		return 2
	case r >= 0x1160 && r <= 0x11ff: // vowels and finals, drawn into the syllable
		return 0
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	default:
		return 1
	}
}
