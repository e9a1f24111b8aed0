package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
)

// A check that cannot fail is none: our side's work done twice is found, by the
// allocations, which are the same on any machine.
func TestCheckFindsASlowdown(t *testing.T) {
	for _, tt := range []struct {
		slowdown int
		missed   bool
	}{{1, false}, {2, true}} {
		s := suite.New(true)
		s.Rounds, s.Slice, s.Slowdown = 3, 5*time.Millisecond, tt.slowdown
		if err := s.Run("P2"); err != nil || len(s.Rows) == 0 || len(s.Errors) > 0 {
			t.Fatalf("%v, %d rows, errors %v", err, len(s.Rows), s.Errors)
		}
		if missed := s.Missed(1.25); (len(missed) > 0) != tt.missed {
			t.Errorf("slowdown %d: missed %v", tt.slowdown, missed)
		}
	}
}

func TestUnknownGoal(t *testing.T) {
	t.Parallel()
	s := suite.New(true)
	if err := s.Run("P3", "P33"); err == nil || !strings.Contains(err.Error(), "P33") || len(s.Rows) != 0 {
		t.Errorf("got %v and %d rows, want an error that names P33, and nothing measured", err, len(s.Rows))
	}
}

func TestRow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		goal  suite.Goal
		value float64
		last  string
	}{
		{suite.Goal{Holds: 0.6, Stretch: 0.5, Unit: "×"}, 0.6, "| ≤ 0.600× | ≤ 0.500× | holds |"},
		{suite.Goal{Holds: 0.6, Stretch: 0.5, Unit: "×"}, 0.61, "| ≤ 0.600× | ≤ 0.500× | short |"},
		{suite.Goal{AtLeast: true, Holds: 25, Stretch: 35, Unit: "×"}, 25, "| ≥ 25× | ≥ 35× | holds |"},
		{suite.Goal{AtLeast: true, Holds: 25, Stretch: 35, Unit: "×"}, 24, "| ≥ 25× | ≥ 35× | short |"},
	} {
		r := suite.Row{ID: "P1", What: "what", Ours: "ours", Rival: "rival", Value: tt.value, Goal: tt.goal}
		if got := r.String(); !strings.HasPrefix(got, "| P1 | what | ours | rival | ") || !strings.HasSuffix(got, tt.last) {
			t.Errorf("row %q, want it to end in %q", got, tt.last)
		}
	}
}

func TestMissed(t *testing.T) {
	t.Parallel()
	most, least := suite.Goal{Holds: 8}, suite.Goal{AtLeast: true, Holds: 8}
	if most.Missed(10, 1.25) || !most.Missed(10.1, 1.25) || least.Missed(6.4, 1.25) || !least.Missed(6.3, 1.25) {
		t.Error("a quarter is not the limit")
	}
}

// Alternate runs the cases in turn, and the ratio is that of neighbors.
func TestAlternate(t *testing.T) {
	var order strings.Builder
	count := func(name string) measure.Case {
		return measure.Case{Name: name, Begin: func() { order.WriteString(name) }, Run: func(n int) { time.Sleep(time.Duration(n) * time.Microsecond) }}
	}
	series := measure.Alternate(3, time.Millisecond, count("a"), count("b"))
	if !strings.HasSuffix(order.String(), "abbaab") || len(series) != 2 || len(series[1].Samples) != 3 {
		t.Errorf("order %q, %d series", order.String(), len(series))
	}
	x := measure.Series{Samples: []measure.Sample{{Wall: 2}, {Wall: 40}, {Wall: 6}}}
	y := measure.Series{Samples: []measure.Sample{{Wall: 1}, {Wall: 10}, {Wall: 2}}}
	if got := measure.Ratio(x, y, measure.Wall); got != 3 {
		t.Errorf("Ratio = %v, want 3", got)
	}
	if got := measure.Difference(x, y, measure.Wall); got != 4 {
		t.Errorf("Difference = %v, want 4", got)
	}
	if got := measure.Median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("Median = %v, want 2.5", got)
	}
}
