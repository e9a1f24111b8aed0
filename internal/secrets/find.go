package secrets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// search is the search for secrets in one text.
type search struct {
	*Redactor
	marks []bool          // of the bytes that are part of a secret
	seen  map[string]bool // what has been looked through
}

// find marks what is a secret in v, or in what v says when it is taken for an
// escaped text, escaped depth times at most.
func (s search) find(v view, depth int) {
	text := lower(v.text)
	if s.seen[text] { // two kinds of escapes were undone in the other order
		return
	}
	s.seen[text] = true
	mark := func(from, to int) {
		for i := v.from[from]; i < v.to[to-1]; i++ {
			s.marks[i] = true
		}
	}
	s.stretches(text, mark)
	for _, f := range s.forms {
		beginnings(text, f, mark)
		ends(text, f, mark)
	}
	if depth == 0 {
		return
	}
	for _, e := range escapes() {
		if inner, ok := v.unescape(e); ok {
			s.find(inner, depth-1)
		}
	}
}

// stretches marks the stretches of forms, also where lines are broken in them or
// other characters stand between their letters and digits.
func (r *Redactor) stretches(text string, mark func(from, to int)) {
	eachGram(text, notSpace, func(g uint64, from, to int) {
		if _, ok := r.grams[g]; ok {
			mark(from, to)
		}
	})
	eachGram(text, isAlnum, func(g uint64, from, to int) {
		if _, ok := r.squeezed[g]; ok {
			mark(from, to)
		}
	})
}

// eachGram calls f for every stretch of text that has gram bytes which keep
// wants, and for where it begins and ends.
func eachGram(text string, keep func(byte) bool, f func(g uint64, from, to int)) {
	var at [gram]int // of the last bytes that were kept
	var g uint64
	n := 0
	for i := range len(text) {
		c := text[i]
		if !keep(c) {
			continue
		}
		at[n%gram] = i
		n++
		g = g<<8 | uint64(c)
		if n >= gram {
			f(g, at[n%gram], i+1)
		}
	}
}

// beginnings marks where a form begins and is cut short, or is short: what
// follows is no part of a word. Nor does it begin inside of one, unless the form
// does so or the end of the text cuts it.
func beginnings(text string, f form, mark func(from, to int)) {
	for i := 0; ; i++ {
		next := strings.Index(text[i:], f.text[:least])
		if next < 0 {
			return
		}
		i += next
		end := i + common(text[i:], f.text)
		cut := end == len(text) && end-i < len(f.text)
		if wordEnds(text, end) && (f.inner || cut || wordBegins(text, i)) {
			mark(i, end)
		}
	}
}

// ends marks where a form ends whose beginning is missing.
func ends(text string, f form, mark func(from, to int)) {
	last := f.text[len(f.text)-least:]
	for i := 0; ; i++ {
		next := strings.Index(text[i:], last)
		if next < 0 {
			return
		}
		i += next
		end := i + least
		begin := end - commonEnd(text[:end], f.text)
		cut := begin == 0 && end < len(f.text)
		if wordBegins(text, begin) && (f.inner || cut || wordEnds(text, end)) {
			mark(begin, end)
		}
	}
}

// wordEnds reports whether no word goes on at i, wordBegins whether none comes
// before.
func wordEnds(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

func wordBegins(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
