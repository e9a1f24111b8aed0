package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testpty"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/internal/textwidth"
)

// onTerminal runs a command on a terminal of so many columns and returns what it
// shows, without colors.
func onTerminal(t *testing.T, columns int, vars env.Map, args ...string) string {
	t.Helper()
	terminal := testpty.Open(t, uint16(columns))
	var stderr bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), terminal.Tty, &stderr, vars); got != 0 {
		t.Errorf("%q: status %d: %s", args, got, &stderr)
	}
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(terminal.End(), "")
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, textwidth.Of(strings.TrimSuffix(line, "\n")))
	}
	return most
}

// TestOnATerminal holds every line to the terminal's width.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	wide := testspans.Stubs(
		testspans.Span{Trace: 1, ID: 1, Name: "日本語のとても長い名前のリクエスト", Service: "ショップ", Start: ms, End: 90 * ms},
		testspans.Span{Trace: 1, ID: 2, Parent: 1, Name: "👩\u200d👩\u200d👧 e\u0301", Service: "pay", Start: 0, End: 95 * ms},
	)
	var b bytes.Buffer
	if err := testspans.Write(&b, wide); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, append(b.Bytes(), shopLines(t)...))
	for _, args := range [][]string{{"tree", "-events"}, {"list"}, {"list", "-spans"}, {"stats"}} {
		for _, columns := range []int{40, 60, 80, 132} {
			text := onTerminal(t, columns, env.Map{}, append(args, path)...)
			if n := widest(text); n > columns || n < columns-25 {
				t.Errorf("%q on %d columns has lines of %d:\n%s", args, columns, n, text)
			}
			if strings.Count(text, "\n") < 4 {
				t.Errorf("%q on %d columns shows\n%s", args, columns, text)
			}
		}
		if n := widest(onTerminal(t, 200, env.Map{"COLUMNS": "50"}, append(args, path)...)); n > 50 {
			t.Errorf("%q with COLUMNS=50 has lines of %d columns", args, n)
		}
		if n := widest(onTerminal(t, 0, env.Map{}, append(args, path)...)); n < 100 {
			t.Errorf("%q on a terminal that does not know its size is cut to %d columns", args, n)
		}
	}
	if n := widest(onTerminal(t, 80, env.Map{}, "tree", "-width", "30", path)); n != 30 {
		t.Errorf("tree -width 30 has lines of %d columns", n)
	}
}

// TestListOnATerminal shows what is left out first on a narrow terminal.
func TestListOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	want := `TRACE      NAME             SERVICE  START          DURATION MS  SPANS  ERRORS
abcd0100…  GET /users/{id}  web      10:00:00.000Z       10.000      2       0
abcd0200…  POST /checkout   web      10:00:00.100Z      100.000      3       2
abcd0300…  GET /users/{id}  web      10:00:00.300Z        0.400      1       0
`
	if got := onTerminal(t, 78, env.Map{}, "list", path); got != want {
		t.Errorf("on 78 columns:\n%s\nwant\n%s", got, want)
	}
	// What is shown of an ID can be given back.
	if got := onTerminal(t, 200, env.Map{}, "list", "-trace", "abcd0200…", path); !strings.Contains(got, "\nabcd0200000000000000000000000002  POST /checkout") || strings.Contains(got, "users") {
		t.Errorf("-trace with an ID that was cut:\n%s", got)
	}
}
