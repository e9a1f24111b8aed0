package main

import (
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/testspans"
)

// TestWrongQuestions holds every verb that chooses to status 2 and the place.
func TestWrongQuestions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	for _, verb := range []string{"tree", "list", "stats", "convert", "html", "check", "send", "tail"} {
		stdout, stderr := ran(t, 2, verb, "-where", "dur>50", path)
		want := "waymark: " + verb + `: invalid value "dur>50" for flag -where: at character 5, "50": want a duration like 50ms or 1.5s (waymark ` + verb + " -h explains)\n"
		if stdout != "" || stderr != want {
			t.Errorf("%s: stdout %q, stderr\n%s\nwant\n%s", verb, stdout, stderr, want)
		}
	}
}

// TestWhatFitsNothing is told, and is no mistake.
func TestWhatFitsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a key that no span has":          {[]string{"-where", "user.idd=u1"}, `waymark: -where: no span has "user.idd"` + "\n"},
		"the same, as a question for it":  {[]string{"-where", "has:user.idd"}, `waymark: -where: no span has "user.idd"` + "\n"},
		"the same, where all spans fit":   {[]string{"-where", "user.idd!=u1"}, `waymark: -where: no span has "user.idd"` + "\n"},
		"beside one that there is":        {[]string{"-where", "rows=3", "-where", "nothing=1"}, `waymark: -where: no span has "nothing"` + "\n"},
		"after one that fits no span":     {[]string{"-where", "name=none", "-where", "rows=3"}, "waymark: -where: none of 6 spans fits\n"},
		"two that no span has":            {[]string{"-where", "has:a", "-where", "has:b"}, "waymark: -where: no span has \"a\"\nwaymark: -where: no span has \"b\"\n"},
		"a value that no span has":        {[]string{"-where", "user.id=u9"}, "waymark: -where: none of 6 spans fits\n"},
		"a key of the resource":           {[]string{"-where", "host.name=web-1"}, ""},
		"a field":                         {[]string{"-where", "kind=client"}, ""},
		"a field without such a value":    {[]string{"-where", "kind=producer"}, "waymark: -where: none of 6 spans fits\n"},
		"a trace that there is not":       {[]string{"-trace", "abcd09"}, "waymark: -trace abcd09: no trace has this ID\n"},
		"and a key":                       {[]string{"-trace", "abcd09", "-where", "rows=3"}, "waymark: -trace abcd09: no trace has this ID\n"},
		"one trace":                       {[]string{"-trace", "abcd02"}, ""},
		"one trace, and nothing fits":     {[]string{"-trace", "abcd02", "-where", "user.id=u1"}, "waymark: -where: none of 3 spans fits\n"},
		"one trace, and it lacks the key": {[]string{"-trace", "abcd02", "-where", "has:rows"}, `waymark: -where: no span has "rows"` + "\n"},
		"a word that is nowhere":          {[]string{"-where", "name=GET /cart"}, "waymark: -where: none of 6 spans fits (\"/cart\" is looked for in names and values; a value with blanks needs quotes: name=\"GET /cart\")\n"},
		"a window without spans":          {[]string{"-until", "2000-01-01"}, "waymark: no span starts in -until 2000-01-01\n"},
		"several traces": {[]string{"-trace", "abcd"}, "waymark: -trace abcd: 3 traces begin so: " +
			"abcd0100000000000000000000000001, abcd0200000000000000000000000002, abcd0300000000000000000000000003\n"},
	} {
		for _, verb := range [][]string{{"list"}, {"list", "-spans"}, {"tree", "-n", "0"}, {"html"}, {"stats"}, {"convert", "-to", "csv"}} {
			if _, got := ran(t, 0, append(append(verb, path), c.args...)...); got != c.want {
				t.Errorf("%s: %q: stderr\n%s\nwant\n%s", name, append(verb, c.args...), got, c.want)
			}
		}
	}
}

func TestManyTracesBeginSo(t *testing.T) {
	t.Parallel()
	var spans []testspans.Span
	for i := range byte(5) {
		spans = append(spans, testspans.Span{Trace: i + 1, ID: 1, Name: "x", Service: "web", End: ms})
	}
	_, stderr := ran(t, 0, "list", "-trace", "abcd", spansFile(t, spans...))
	want := "waymark: -trace abcd: 5 traces begin so: abcd0100000000000000000000000001, abcd0200000000000000000000000002, abcd0300000000000000000000000003, …\n"
	if stderr != want {
		t.Errorf("stderr\n%s\nwant\n%s", stderr, want)
	}
}
