package terminal_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/terminal"
)

func FuzzCut(f *testing.F) {
	f.Add("GET /\x1b]0;x\x07", 5)
	f.Add("\xff\u202e", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := terminal.Cut(s, max(n, 1))
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q becomes %q", s, got)
		}
		if got := utf8.RuneCountInString(got); got > max(n, 1) {
			t.Errorf("Cut(%q, %d) has %d characters", s, n, got)
		}
	})
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語です", 3, "日本…"}, {"\x1b\x1b", 5, `\x1b…`}, {strings.Repeat("x", 1<<20), 2, "x…"},
	} {
		if got := terminal.Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%.20q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := terminal.NewTable("NAME", ">N", "LAST")
	table.Add("日本", "7", "x")
	table.Add("longer", "1234", "")
	var b bytes.Buffer
	n, err := table.WriteTo(&b)
	want := "NAME       N  LAST\n日本         7  x\nlonger  1234\n"
	if err != nil || b.String() != want || n != int64(len(want)) {
		t.Errorf("wrote %d, %v:\n%s\nwant\n%s", n, err, &b, want)
	}
	if _, err := table.WriteTo(failing{}); err == nil || !strings.HasPrefix(err.Error(), "terminal: ") {
		t.Errorf("a write that fails: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestBar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, most uint64
		want    string
	}{
		{0, 10, ""}, {10, 10, "████"}, {5, 10, "██"}, {1, 1000, "▏"}, {1, 0, ""}, {7, 8, "███▌"}, {1 << 63, 1<<64 - 1, "██"},
	} {
		if got := terminal.Bar(c.n, c.most, 4); got != c.want {
			t.Errorf("Bar(%d, %d) = %q, want %q", c.n, c.most, got, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	t.Parallel()
	if got, want := terminal.Spark([]uint64{0, 1, 4, 8, 1 << 63 >> 60}), " ▁▄██"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := terminal.Spark([]uint64{0, 0}); got != "  " {
		t.Errorf("nothing: %q", got)
	}
}

func TestColorIsForTerminals(t *testing.T) {
	t.Parallel()
	none := func(string) (string, bool) { return "", false }
	if terminal.Color(&bytes.Buffer{}, none) || terminal.IsTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
}

func TestColor(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull) // the one character device that every system has
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	for _, c := range []struct {
		key, value string
		want       bool
	}{{"", "", true}, {"NO_COLOR", "1", false}, {"NO_COLOR", "", true}, {"TERM", "dumb", false}, {"TERM", "xterm", true}} {
		lookup := func(key string) (string, bool) {
			if key != c.key {
				return "", false
			}
			return c.value, true
		}
		if got := terminal.Color(null, lookup); got != c.want {
			t.Errorf("Color with %s=%q: %v, want %v", c.key, c.value, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    uint64
		noun string
		want string
	}{
		{0, "span", "0 spans"}, {1, "span", "1 span"}, {2, "span", "2 spans"}, {1, "retry", "1 retry"}, {2, "retry", "2 retries"},
	} {
		if got := terminal.Count(c.n, c.noun); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
