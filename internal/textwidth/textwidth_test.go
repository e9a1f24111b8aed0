package textwidth_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/textwidth"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"empty":                           {"", 0},
		"ASCII":                           {"GET /users/{id}", 15},
		"accents in one character":        {"é", 1},
		"accents as marks":                {"e\u0301\u0323", 1},
		"a mark alone":                    {"\u0301", 0},
		"the last that is narrow":         {"\u02ff", 1},
		"Greek":                           {"λόγος", 5},
		"a soft hyphen":                   {"a\u00adb", 2},
		"Chinese":                         {"日本語です", 10},
		"an ideographic blank":            {"\u3000", 2},
		"fullwidth letters":               {"ＡＢ", 4},
		"halfwidth katakana":              {"ｱｲ", 2},
		"rare Chinese":                    {"\U00020000", 2},
		"Hangul":                          {"한국", 4},
		"Hangul in letters":               {"\u1112\u1161\u11ab", 2},
		"kana with its mark":              {"\u304b\u3099", 2},
		"Persian with a joiner":           {"می\u200cخواهم", 7},
		"Devanagari":                      {"\u0928\u0940", 2},
		"an emoji":                        {"😀", 2},
		"emoji and letters":               {"a😀b", 4},
		"a color of skin":                 {"👍🏽", 2},
		"a color of skin alone":           {"🏽", 2},
		"a letter before a color":         {"a🏽", 3},
		"a family":                        {"👩\u200d👩\u200d👧x", 3},
		"a joiner between letters":        {"a\u200db", 2},
		"Devanagari with a joiner":        {"\u0915\u200d\u0937", 2},
		"a keycap":                        {"a1\ufe0f\u20e3", 3},
		"a flag":                          {"🇩🇪", 2},
		"a heart as text":                 {"❤", 1},
		"a heart as emoji":                {"❤\ufe0f", 2},
		"an emoji that says it is one":    {"😀\ufe0f", 2},
		"box drawing, blocks and bullets": {"├── █▏•…│", 9},
		"broken UTF-8":                    {"\xff\xfe", 2},
	} {
		if got := textwidth.Of(c.text); got != c.want {
			t.Errorf("%s: Of(%q) = %d, want %d", name, c.text, got, c.want)
		}
	}
}

// TestNextIsBounded holds one character to a bounded length.
func TestNextIsBounded(t *testing.T) {
	t.Parallel()
	text := "a" + strings.Repeat("\u0301", 1000)
	if size, columns := textwidth.Next(text); size > 40 || columns != 1 {
		t.Errorf("Next = %d, %d, want a short character of one column", size, columns)
	}
	if got := textwidth.Of(text); got != 1 {
		t.Errorf("Of = %d, want 1", got)
	}
}

func FuzzNext(f *testing.F) {
	for _, s := range []string{"", "a", "日", "e\u0301", "👩\u200d👧", "\xff", "❤\ufe0f", "\u200d\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sum := 0
		for rest := s; rest != ""; {
			size, columns := textwidth.Next(rest)
			if size <= 0 || size > len(rest) || columns < 0 || columns > 2 {
				t.Fatalf("Next(%q) = %d, %d", rest, size, columns)
			}
			if columns > size {
				t.Errorf("Next(%q): %d columns in %d bytes", rest, columns, size)
			}
			if utf8.ValidString(s) && !utf8.ValidString(rest[:size]) {
				t.Errorf("Next(%q) = %d cuts a character", rest, size)
			}
			sum += columns
			rest = rest[size:]
		}
		if got := textwidth.Of(s); got != sum {
			t.Errorf("Of(%q) = %d, want %d", s, got, sum)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for name, text := range map[string]string{"ASCII": strings.Repeat("GET /users/{id} ", 8), "Chinese": strings.Repeat("日本語です", 8)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				textwidth.Of(text)
			}
		})
	}
}
