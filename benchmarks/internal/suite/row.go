package suite

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

// Goal is what a number has to be: at most Holds, or at least when AtLeast.
// Stretch is where it is to go, NaN for nowhere.
type Goal struct {
	AtLeast        bool
	Holds, Stretch float64
	Unit           string // after the number: "×", " allocs"
}

func atMost(holds, stretch float64, unit string) Goal {
	return Goal{Holds: holds, Stretch: stretch, Unit: unit}
}

func atLeast(holds, stretch float64, unit string) Goal {
	return Goal{AtLeast: true, Holds: holds, Stretch: stretch, Unit: unit}
}

func none() float64 { return math.NaN() }

// Met says whether v is as good as want.
func (g Goal) Met(v, want float64) bool {
	if g.AtLeast {
		return v >= want
	}
	return v <= want
}

// Missed says whether v is worse than the goal by more than the factor.
func (g Goal) Missed(v, factor float64) bool {
	if g.AtLeast {
		return v*factor < g.Holds
	}
	return v > g.Holds*factor
}

func (g Goal) show(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	sign := "≤ "
	if g.AtLeast {
		sign = "≥ "
	}
	return sign + number(v) + g.Unit
}

// Row is one line of the table of goals.
type Row struct {
	ID, What    string
	Ours, Rival string
	Value       float64
	Goal        Goal
	Steady      bool // the same on a busy machine: bench-check looks at it
}

// Holds says whether the goal is met.
func (r Row) Holds() bool { return r.Goal.Met(r.Value, r.Goal.Holds) }

// Header is the head of the table of goals.
const Header = "| # | what | ours | rival | ratio | goal | stretch | holds |\n|---|---|---|---|---|---|---|---|\n"

func (r Row) String() string {
	holds := "short"
	if r.Holds() {
		holds = "holds"
	}
	cells := []string{r.ID, r.What, r.Ours, r.Rival, number(r.Value) + r.Goal.Unit, r.Goal.show(r.Goal.Holds), r.Goal.show(r.Goal.Stretch), holds}
	return "| " + strings.Join(cells, " | ") + " |"
}

// number prints with what a reader can use: 0.213, 3.4, 41, 1200.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "–"
	case a >= 100 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}

// nanos prints a time of one operation.
func nanos(ns float64) string {
	switch {
	case ns >= 1e6:
		return number(ns/1e6) + " ms"
	case ns >= 1e4:
		return number(ns/1e3) + " µs"
	default:
		return number(ns) + " ns"
	}
}

// Table is a table beside the goals, for the document.
type Table struct {
	Title, Note string
	Columns     []string
	Rows        [][]string
}

// Write writes the table in Markdown.
func (t Table) Write(w io.Writer) {
	fmt.Fprintf(w, "## %s\n\n", t.Title)
	if t.Note != "" {
		fmt.Fprintf(w, "%s\n\n", t.Note)
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(t.Columns, " | "), strings.Repeat("---|", len(t.Columns)))
	for _, r := range t.Rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintln(w)
}

// clock is the metric that "time" means in this run.
type clock struct {
	metric measure.Metric
	name   string
}
