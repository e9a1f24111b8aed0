package capturetest

import (
	"slices"
	"strings"
	"testing"
)

// Any text is a tree or an error, and a tree that is drawn again is the same.
func FuzzParseTree(f *testing.F) {
	f.Add("")
	f.Add("(no spans)")
	f.Add("└── a\n    ├── b (1.00 ms) {scope=x}\n    │   └── c\n    └── d [ERROR] [k='v']")
	f.Add("\n\t\t└── a\n\t\t└── b\n")
	f.Add("└── a\n└── │   ├── b")
	f.Add("    └── indented")
	f.Fuzz(func(t *testing.T, tree string) {
		want, err := parseTree(tree)
		if err != nil {
			return
		}
		for _, w := range want {
			if w.depth > len(tree) {
				t.Fatalf("depth %d", w.depth)
			}
		}
		again, err := parseTree(drawWanted(want))
		if err != nil {
			t.Fatalf("drawn again: %v\n%s", err, drawWanted(want))
		}
		if len(want) > 0 && !slices.Equal(want, again) {
			t.Fatalf("drawn again: %v, want %v", again, want)
		}
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	diff := func(want, got string) string {
		w, g := strings.Split(want, ""), strings.Split(got, "")
		out := ""
		changes, same := compare(len(w), len(g), func(i, j int) bool { return w[i] == g[j] })
		if same != (want == got) {
			t.Errorf("%q, %q: same %v", want, got, same)
		}
		for _, c := range changes {
			switch {
			case c.got < 0:
				out += "-" + w[c.want]
			case c.want < 0:
				out += "+" + g[c.got]
			default:
				out += g[c.got]
			}
		}
		return out
	}
	for _, tc := range []struct{ want, got, diff string }{
		{"", "", ""},
		{"abc", "abc", "abc"},
		{"abc", "ac", "a-bc"},
		{"ac", "abc", "a+bc"},
		{"abcd", "axcd", "a-b+xcd"},
		{"abc", "abcd", "abc+d"},
		{"abc", "", "-a-b-c"},
	} {
		if got := diff(tc.want, tc.got); got != tc.diff {
			t.Errorf("%q, %q: %q, want %q", tc.want, tc.got, got, tc.diff)
		}
	}
	// Too long for a table: what differs is cut.
	long, _ := compare(3000, 3000, func(i, j int) bool { return i == j && i < 10 })
	if len(long) != 10+2000 {
		t.Errorf("%d lines of difference", len(long))
	}
}
