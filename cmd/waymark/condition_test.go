package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/testspans"
)

func TestParseCondition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]condition{
		"user.id":                 {key: "user.id"},
		"user.id=u1":              {key: "user.id", value: "u1", op: equal},
		"user.id!=u1":             {key: "user.id", value: "u1", op: unequal},
		"user.id=":                {key: "user.id", op: equal},
		"name=GET /a?b=c":         {key: "name", value: "GET /a?b=c", op: equal},
		"name= x":                 {key: "name", value: " x", op: equal},
		`name="GET /cart"`:        {key: "name", value: "GET /cart", op: equal},
		`path="~/x \"y\""`:        {key: "path", value: `~/x "y"`, op: equal},
		`path=""`:                 {key: "path", op: equal},
		`path=a"b`:                {key: "path", value: `a"b`, op: equal},
		`"an odd > key"=v`:        {key: "an odd > key", value: "v", op: equal},
		`"an odd > key"!="v"`:     {key: "an odd > key", value: "v", op: unequal},
		`"an odd > key"`:          {key: "an odd > key"},
		"app:foo/bar-baz=v":       {key: "app:foo/bar-baz", value: "v", op: equal},
		"ключ=значение":           {key: "ключ", value: "значение", op: equal},
		"status=Error":            {key: "status", value: "Error", op: equal},
		"status!=ok":              {key: "status", value: "ok", op: unequal},
		"kind=SERVER":             {key: "kind", value: "SERVER", op: equal},
		"status":                  {key: "status"},
		"http.status_code=teapot": {key: "http.status_code", value: "teapot", op: equal},
	} {
		got, err := parseCondition(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(condition{})); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", text, err, diff)
		}
	}
}

func TestParseConditionMistakes(t *testing.T) {
	t.Parallel()
	const words = "want internal, server, client, producer, consumer, unspecified"
	for text, want := range map[string]string{
		"":                `at character 1: want key, key=value or key!=value`,
		"=3":              `at character 1, "=": want key, key=value or key!=value`,
		"!a":              `at character 1, "!": want key, key=value or key!=value`,
		"-user.id=7":      `at character 1, "-": want key, key=value or key!=value`,
		" name=x":         `at character 1, " ": want key, key=value or key!=value`,
		`""=x`:            `at character 1, "\"\"": want key, key=value or key!=value`,
		"dur>50ms":        `at character 4, ">": want = or !=`,
		"dur>=50ms":       `at character 4, ">=": want = or !=`,
		"dur<50ms":        `at character 4, "<": want = or !=`,
		"имя~^SELECT":     `at character 4, "~": want = or !=`,
		"name=~x":         `at character 5, "=~": want = or !=`,
		"status==error":   `at character 7, "==": want = or !=`,
		"name =x":         `at character 5, " ": want = or !=`,
		"a!b":             `at character 2, "!": want = or !=`,
		"a!":              `at character 2, "!": want = or !=`,
		"free words":      `at character 5, " ": want = or !=`,
		`a"b"=1`:          `at character 2, "\"": want = or !=`,
		`"a b`:            `at character 1, "\"": the quote is not closed, or an escape is unknown`,
		`name="GET`:       `at character 6, "\"": the quote is not closed, or an escape is unknown`,
		`name="\q"`:       `at character 6, "\"": the quote is not closed, or an escape is unknown`,
		`name="GET" POST`: `at character 11, " POST": want nothing after the quote`,
		"status=failed":   `at character 8, "failed": want unset, ok, error`,
		"status!=2":       `at character 9, "2": want unset, ok, error`,
		"status=":         `at character 8: want unset, ok, error`,
		`status="bad"`:    `at character 8, "bad": want unset, ok, error`,
		"kind=web":        `at character 6, "web": ` + words,
		"kind!=":          `at character 7: ` + words,
	} {
		got, err := parseCondition(text)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v, want %s", text, got, err, want)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"a=b", `"a b"!="c"`, "status=ok", "dur>5", `"`, "\xff=1", "a=~b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCondition(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "at character ") {
				t.Errorf("%q: %v has no place", text, err)
			}
			return
		}
		if c.key == "" {
			t.Errorf("%q has no key", text)
		}
		if c.op == has && c.value != "" {
			t.Errorf("%q: a value without an operator", text)
		}
	})
}

// TestWrongQuestions holds every verb that chooses to status 2 and the place.
func TestWrongQuestions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	for _, verb := range []string{"tree", "list", "stats", "convert", "html", "check", "send", "tail"} {
		stdout, stderr := ran(t, 2, verb, "-where", "dur>50ms", path)
		want := "waymark: " + verb + `: invalid value "dur>50ms" for flag -where: at character 4, ">": want = or != (waymark ` + verb + " -h explains)\n"
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
		"the same, as a question for it":  {[]string{"-where", "user.idd"}, `waymark: -where: no span has "user.idd"` + "\n"},
		"the same, where all spans fit":   {[]string{"-where", "user.idd!=u1"}, `waymark: -where: no span has "user.idd"` + "\n"},
		"beside one that there is":        {[]string{"-where", "rows=3", "-where", "nothing=1"}, `waymark: -where: no span has "nothing"` + "\n"},
		"after one that fits no span":     {[]string{"-where", "name=none", "-where", "rows=3"}, "waymark: -where: none of 6 spans fits\n"},
		"two that no span has":            {[]string{"-where", "a", "-where", "b"}, "waymark: -where: no span has \"a\"\nwaymark: -where: no span has \"b\"\n"},
		"a value that no span has":        {[]string{"-where", "user.id=u9"}, "waymark: -where: none of 6 spans fits\n"},
		"a key of the resource":           {[]string{"-where", "host.name=web-1"}, ""},
		"a field":                         {[]string{"-where", "kind=client"}, ""},
		"a field without such a value":    {[]string{"-where", "kind=producer"}, "waymark: -where: none of 6 spans fits\n"},
		"a trace that there is not":       {[]string{"-trace", "abcd09"}, "waymark: -trace abcd09: no trace has this ID\n"},
		"and a key":                       {[]string{"-trace", "abcd09", "-where", "rows=3"}, "waymark: -trace abcd09: no trace has this ID\n"},
		"one trace":                       {[]string{"-trace", "abcd02"}, ""},
		"one trace, and nothing fits":     {[]string{"-trace", "abcd02", "-where", "user.id=u1"}, "waymark: -where: none of 3 spans fits\n"},
		"one trace, and it lacks the key": {[]string{"-trace", "abcd02", "-where", "rows"}, `waymark: -where: no span has "rows"` + "\n"},
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
