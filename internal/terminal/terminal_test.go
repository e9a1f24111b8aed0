package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/internal/textwidth"
)

func FuzzCut(f *testing.F) {
	f.Add("GET /\x1b]0;x\x07", 5)
	f.Add("\xff\u202e", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := terminal.Cut(s, max(n, 1))
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q becomes %q", s, got)
		}
		if got := textwidth.Of(got); got > max(n, 1) {
			t.Errorf("Cut(%q, %d) has %d columns", s, n, got)
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
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"\x1b\x1b", 5, `\x1b…`},
		{strings.Repeat("x", 1<<20), 2, "x…"},
		{"日本語です", 10, "日本語です"},
		{"日本語です", 9, "日本語で…"},
		{"日本語です", 8, "日本語…"},
		{"日本語です", 7, "日本語…"},
		{"日", 1, "…"},
		{"👩\u200d👩\u200d👧ab", 4, "👩\u200d👩\u200d👧ab"},
		{"👩\u200d👩\u200d👧abc", 4, "👩\u200d👩\u200d👧a…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"", 3, ""},
		{strings.Repeat("\u0301", 1000), 1, strings.Repeat("\u0301", 40) + "…"},
	} {
		if got := terminal.Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%.20q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func rows(rows ...[]string) iter.Seq[[]string] { return slices.Values(rows) }

func TestTable(t *testing.T) {
	t.Parallel()
	table := terminal.NewTable(rows([]string{"日本", "7", "x"}, []string{"longer", "1234", ""}), "NAME", ">N", "LAST")
	var b bytes.Buffer
	n, err := table.WriteTo(&b)
	want := "NAME       N  LAST\n日本       7  x\nlonger  1234\n"
	if err != nil || b.String() != want || n != int64(len(want)) {
		t.Errorf("wrote %d, %v:\n%s\nwant\n%s", n, err, &b, want)
	}
}

// TestTableFits holds every line to the width, and the columns to their places.
func TestTableFits(t *testing.T) {
	t.Parallel()
	list := rows([]string{"abcdefgh", "日本語です", "12"}, []string{"a", "b", "1"})
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "ID        NAME         N\nabcdefgh  日本語です  12\na         b            1\n"},
		{24, "ID        NAME         N\nabcdefgh  日本語です  12\na         b            1\n"},
		{23, "ID        NAME        N\nabcdefgh  日本語で…  12\na         b           1\n"},
		{20, "ID       NAME      N\nabcdef…  日本語…  12\na        b         1\n"},
		{12, "ID    NAME …\nabc…  日本……\na     b    …\n"},
	} {
		var b bytes.Buffer
		_, err := terminal.NewTable(list, "ID", "NAME", ">N").Fit(c.width, map[string]int{"ID": 4, "NAME": 5}).WriteTo(&b)
		if err != nil || b.String() != c.want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", c.width, err, &b, c.want)
		}
	}
}

// TestTableCutsInOrder cuts a second choice only where the first is not enough.
func TestTableCutsInOrder(t *testing.T) {
	t.Parallel()
	list := rows([]string{"abcdefgh", "GET /users", "12"})
	for _, c := range []struct {
		width int
		want  string
	}{
		{20, "ID    NAME         N\nabc…  GET /users  12\n"},
		{23, "ID       NAME         N\nabcdef…  GET /users  12\n"},
		{18, "ID    NAME       N\nabc…  GET /us…  12\n"},
	} {
		var b bytes.Buffer
		_, err := terminal.NewTable(list, "ID", "NAME", ">N").Fit(c.width, map[string]int{"ID": 4}, map[string]int{"NAME": 5}).WriteTo(&b)
		if err != nil || b.String() != c.want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", c.width, err, &b, c.want)
		}
	}
}

// TestTableCutsTheFirstOfEqual columns first.
func TestTableCutsTheFirstOfEqual(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	least := map[string]int{"A": 1, "B": 1}
	_, err := terminal.NewTable(rows([]string{"abcd", "abcd"}), "A", "B").Fit(9, least).WriteTo(&b)
	if want := "A    B\nab…  abcd\n"; err != nil || b.String() != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, &b, want)
	}
}

func TestTableThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	asked := 0
	endless := func(yield func([]string) bool) {
		for range 100_000 {
			if asked++; !yield([]string{strings.Repeat("x", 100)}) {
				return
			}
		}
	}
	_, err := terminal.NewTable(endless, "X").WriteTo(failing{})
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a write that fails: %v", err)
	}
	if asked > 101_000 {
		t.Errorf("%d rows were asked for after the first write had failed", asked-100_000)
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
	if got, want := terminal.Spark([]uint64{0, 1, 5, 4, 9, 9}), " ▁▅▄██"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := terminal.Spark([]uint64{0, 0}); got != "  " {
		t.Errorf("nothing: %q", got)
	}
}

// TestDevNullIsNoTerminal holds what is a character device without a screen.
func TestDevNullIsNoTerminal(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if columns := (env.Map{"COLUMNS": "80"}); terminal.IsTerminal(null) || terminal.Width(null, columns.Lookup) != 0 {
		t.Error("the null device counts as a terminal")
	}
}

func TestColorIsForTerminals(t *testing.T) {
	t.Parallel()
	none := func(string) (string, bool) { return "", false }
	if terminal.Color(&bytes.Buffer{}, none) || terminal.IsTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	missing := errors.New("tracefile: stat x.jsonl: no such file")
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"a package's":              {missing, []string{"stat x.jsonl: no such file"}},
		"another's":                {errors.New("render: write tree: full"), []string{"write tree: full"}},
		"nobody's":                 {errors.New("there is no tracefile: none"), []string{"there is no tracefile: none"}},
		"several":                  {errors.Join(missing, errors.New("second")), []string{"stat x.jsonl: no such file", "second"}},
		"several inside another's": {fmt.Errorf("about %w and %w", missing, io.EOF), []string{"about tracefile: stat x.jsonl: no such file and EOF"}},
		"several within several":   {errors.Join(errors.Join(missing, io.EOF), errors.New("third")), []string{"stat x.jsonl: no such file", "EOF", "third"}},
	} {
		if got := terminal.Messages(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
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
