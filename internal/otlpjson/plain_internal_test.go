package otlpjson

import (
	"bytes"
	"testing"
)

// TestPlainEnd compares with a loop over the bytes: every byte at every place of
// texts around the length of a word, looked for from every start.
func TestPlainEnd(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		text := bytes.Repeat([]byte{'a'}, n)
		for at := range n {
			for c := range 256 {
				text[at] = byte(c)
				for from := range n + 1 {
					want := from
					for want < n && plain(text[want]) {
						want++
					}
					if got := plainEnd(text, from); got != want {
						t.Fatalf("plainEnd(%q, %d) = %d, want %d", text, from, got, want)
					}
				}
				// The byte above one that is not plain is the one that a
				// borrow could mark.
				if at > 0 {
					text[at-1] = '"'
					if got := plainEnd(text, at); (got == at) == plain(text[at]) {
						t.Fatalf("plainEnd(%q, %d) = %d behind a quote", text, at, got)
					}
				}
				text = bytes.Repeat([]byte{'a'}, n)
			}
		}
	}
}

// TestCopyPlain compares with a loop over the bytes: every byte at every place of
// texts around the length of a word.
func TestCopyPlain(t *testing.T) {
	t.Parallel()
	check := func(text []byte) {
		want := 0
		for want < len(text) && plain(text[want]) {
			want++
		}
		d := make([]byte, len(text))
		got := copyPlain(d, string(text))
		if got != want || !bytes.Equal(d[:got], text[:got]) {
			t.Fatalf("copyPlain(%q) = %d with %q, want %d", text, got, d[:got], want)
		}
	}
	for n := range 26 {
		for at := range n {
			for c := range 256 {
				text := bytes.Repeat([]byte{'a'}, n)
				text[at] = byte(c)
				check(text)
				// The byte above one that is not plain is the one that a borrow
				// could mark.
				if at > 0 {
					text[at-1] = '"'
					check(text)
				}
			}
		}
		check(bytes.Repeat([]byte{'z'}, n))
	}
}
