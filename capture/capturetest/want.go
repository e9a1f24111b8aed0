package capturetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Want compares the spans so far with a tree as [Trace.Tree] draws it, which may
// be indented as a whole:
//
//	└── TestCheckout
//	    └── checkout {scope=shop} [ERROR]
//	        ├── reserve
//	        └── charge (3.00 ms) [order='A-1']
//
// Names, order and depth have to be the same, and so has [ERROR]. A duration,
// (open), a scope and attributes count only where they are written; a span may
// have more attributes than are written. Ports of local servers read PORT. The
// test's own span is the first line.
func (tr *Trace) Want(tree string) {
	tr.tb.Helper()
	want, err := parseTree(tree)
	if err != nil {
		tr.tb.Errorf("the wanted tree: %v", err)
		return
	}
	got := tr.linesOf(tr.Result().Set())
	diff, same := compare(len(want), len(got), func(i, j int) bool {
		return want[i].depth == got[j].depth && got[j].matches(want[i].text)
	})
	if same {
		return
	}
	durations := regexp.MustCompile(`\(\d+\.\d+ (s|ms|µs)\)`).MatchString(tree)
	tr.tb.Errorf("the spans are not as wanted\ngot:\n%s\nwant:\n%s\ndifference (-want +got):\n%s%s",
		indent(drawLines(got, durations)), indent(drawWanted(want)), indent(drawDiff(diff, want, bare(got, want), durations)), tr.hint())
}

func indent(s string) string { return "\t" + strings.ReplaceAll(s, "\n", "\n\t") }

// wanted is a line of a wanted tree.
type wanted struct {
	depth int
	text  string
}

func parseTree(tree string) ([]wanted, error) {
	var out []wanted
	margin := ""
	for i, text := range strings.Split(tree, "\n") {
		text = strings.TrimRight(text, " \t\r")
		if strings.TrimSpace(text) == "" || len(out) == 0 && strings.TrimSpace(text) == "(no spans)" {
			continue
		}
		if len(out) == 0 {
			margin = text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		}
		body, ok := strings.CutPrefix(text, margin)
		if !ok {
			return nil, fmt.Errorf("line %d is indented less than the first one: %q", i+1, text)
		}
		depth := 0
		for {
			rest, ok := cutAny(body, "│   ", "    ")
			if !ok {
				break
			}
			body = rest
			depth++
		}
		name, ok := cutAny(body, "├── ", "└── ")
		if !ok {
			return nil, fmt.Errorf("line %d has no ├── or └── where one belongs: %q", i+1, text)
		}
		if len(out) == 0 && depth > 0 || len(out) > 0 && depth > out[len(out)-1].depth+1 {
			return nil, fmt.Errorf("line %d is deeper than a child of the line above: %q", i+1, text)
		}
		out = append(out, wanted{depth, name})
	}
	return out, nil
}

func cutAny(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}

func drawWanted(want []wanted) string {
	texts, lines := make([]string, len(want)), make([]line, len(want))
	for i, w := range want {
		texts[i], lines[i].depth = w.text, w.depth
	}
	return draw(texts, lines)
}

// change is a line of a difference: its index in want and got, -1 in one of them
// for a line that only the other has.
type change struct{ want, got int }

// maxTable bounds the memory of a comparison, in pairs of lines.
const maxTable = 4_000_000

// compare finds the longest common part of two lists of so many lines; of very
// long lists, what they begin with.
func compare(wants, gots int, equal func(want, got int) bool) (diff []change, same bool) {
	n := 0
	for n < wants && n < gots && equal(n, n) {
		diff = append(diff, change{n, n})
		n++
	}
	if n == wants && n == gots {
		return diff, true
	}
	rest := func(i, j int) bool { return equal(i+n, j+n) }
	if (wants-n)*(gots-n) > maxTable {
		rest = func(int, int) bool { return false }
		wants, gots = min(wants, n+1000), min(gots, n+1000)
	}
	for _, c := range table(wants-n, gots-n, rest) {
		if c.want >= 0 {
			c.want += n
		}
		if c.got >= 0 {
			c.got += n
		}
		diff = append(diff, c)
	}
	return diff, false
}

func table(wants, gots int, equal func(want, got int) bool) (diff []change) {
	common := make([][]int, wants+1) // how much of the rests from i and j on
	for i := range common {
		common[i] = make([]int, gots+1)
	}
	for i := wants - 1; i >= 0; i-- {
		for j := gots - 1; j >= 0; j-- {
			if equal(i, j) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < wants || j < gots {
		switch {
		case i < wants && j < gots && equal(i, j):
			diff = append(diff, change{i, j})
			i, j = i+1, j+1
		case j == gots || i < wants && common[i+1][j] >= common[i][j+1]:
			diff = append(diff, change{i, -1})
			i++
		default:
			diff = append(diff, change{-1, j})
			j++
		}
	}
	return diff
}

// bare is got without scopes and attributes if no wanted line has any: they do
// not count then, and hide what does.
func bare(got []line, want []wanted) []line {
	for _, w := range want {
		if strings.Contains(w.text, " {scope=") || strings.Contains(strings.TrimSuffix(w.text, " [ERROR]"), " [") {
			return got
		}
	}
	out := slices.Clone(got)
	for i := range out {
		out[i].rest = ""
		if out[i].failed {
			out[i].rest = " [ERROR]"
		}
	}
	return out
}

func drawDiff(diff []change, want []wanted, got []line, durations bool) string {
	out := make([]string, len(diff))
	for i, c := range diff {
		switch {
		case c.got < 0:
			out[i] = "- " + strings.Repeat("    ", want[c.want].depth) + want[c.want].text
		case c.want < 0:
			out[i] = "+ " + strings.Repeat("    ", got[c.got].depth) + got[c.got].text(durations)
		default:
			out[i] = "  " + strings.Repeat("    ", got[c.got].depth) + got[c.got].text(durations)
		}
	}
	return strings.Join(out, "\n")
}
