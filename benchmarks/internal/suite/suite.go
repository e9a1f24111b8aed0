// Package suite is what is measured: the goals P1 to P11, the table of rivals
// and limits, and the table of scale.
package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

// Suite is one run.
type Suite struct {
	Rounds int // of a row, an even number: half of them go the other way
	Slice  time.Duration
	Log    io.Writer // progress
	// Slowdown is how many times our side's work is done, to see that a check
	// can fail; 1 is none.
	Slowdown int
	Rows     []Row
	Errors   []error

	clock     clock
	readTable Table
}

// New returns a suite whose "time" is the wall's or the CPU's.
func New(cpu bool) *Suite {
	// With 64 MB alive a slice has several collections: one more or less of them is no tenth of it (README.md).
	s := &Suite{Rounds: 16, Slice: 200 * time.Millisecond, Slowdown: 1, Log: io.Discard, clock: clock{measure.Wall, "wall time"}}
	if cpu {
		s.clock = clock{measure.CPU, "CPU time"}
	}
	return s
}

// Clock says what "time" is.
func (s *Suite) Clock() string { return s.clock.name }

// alternate runs the cases in turn. The first is the one that Slowdown slows: ours, in the goals.
func (s *Suite) alternate(cases ...measure.Case) []measure.Series {
	s.slow(cases)
	return measure.Alternate(s.Rounds, s.Slice, cases...)
}

func (s *Suite) slow(cases []measure.Case) {
	if first := cases[0].Run; s.Slowdown > 1 {
		cases[0].Run = func(n int) { first(n * s.Slowdown) }
	}
}

func (s *Suite) add(rows ...Row) {
	s.Rows = append(s.Rows, rows...)
	for _, r := range rows {
		fmt.Fprintln(s.Log, r)
	}
}

func (s *Suite) fail(err error) {
	if err != nil {
		s.Errors = append(s.Errors, err)
	}
}

// timeRow compares the time of one operation: less is better.
func (s *Suite) timeRow(id, what string, ours, rival measure.Series, g Goal) {
	s.add(Row{
		ID: id, What: what, Value: measure.Ratio(ours, rival, s.clock.metric), Goal: g,
		Ours: nanos(ours.Median(s.clock.metric)), Rival: rival.Name + " " + nanos(rival.Median(s.clock.metric)),
	})
}

// speedRow compares units a second: more is better.
func (s *Suite) speedRow(id, what string, ours, rival measure.Series, g Goal, unit string, units float64) {
	speed := func(x measure.Series) string { return rate(units*1e9/x.Median(s.clock.metric)) + " " + unit + "/s" }
	s.add(Row{
		ID: id, What: what, Value: measure.Ratio(rival, ours, s.clock.metric), Goal: g,
		Ours: speed(ours), Rival: rival.Name + " " + speed(rival),
	})
}

// wallRow is speedRow by the wall's time, for what runs on more than one core.
func (s *Suite) wallRow(id, what string, ours, rival measure.Series, g Goal, unit string, units float64) {
	wall := Suite{clock: clock{measure.Wall, ""}, Log: s.Log}
	wall.speedRow(id, what, ours, rival, g, unit, units)
	s.Rows = append(s.Rows, wall.Rows...)
}

func rate(v float64) string {
	switch {
	case v >= 1e6:
		return number(v/1e6) + " M"
	case v >= 1e3:
		return number(v/1e3) + " k"
	}
	return number(v)
}

func heapLabel(mb int) string {
	if mb == 0 {
		return ", empty heap"
	}
	return fmt.Sprintf(", %d MB live heap", mb)
}

func shutdown(tp *sdktrace.TracerProvider) { _ = tp.Shutdown(context.Background()) }

func newlines(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

// touch reads all that an exporter reads.
func touch(spans []sdktrace.ReadOnlySpan) {
	for _, s := range spans {
		sc, p := s.SpanContext(), s.Parent()
		n := len(s.Name()) + int(s.SpanKind()) + int(sc.TraceFlags()) + len(sc.TraceState().String()) + len(s.Status().Description)
		id, pid, tid := sc.SpanID(), p.SpanID(), sc.TraceID()
		n += int(id[0]) + int(pid[0]) + int(tid[0]) + s.StartTime().Nanosecond() + s.EndTime().Nanosecond()
		n += s.DroppedAttributes() + s.DroppedEvents() + s.DroppedLinks() + len(s.Links())
		for _, kv := range s.Attributes() {
			n += len(kv.Key) + int(kv.Value.Type())
		}
		for _, e := range s.Events() {
			n += len(e.Name) + len(e.Attributes)
		}
		n += len(s.InstrumentationScope().Name) + s.Resource().Len()
		runtime.KeepAlive(n) // or the compiler leaves it out
	}
}

// Run measures the goals, all of them or those of only, and what is measured together with them. It measures nothing
// when one is unknown.
func (s *Suite) Run(only ...string) error {
	type part struct {
		goals []string // measured together
		run   func()
	}
	parts := []part{
		{[]string{"P1", "P2"}, func() { s.middlewareGoals(heaps[:]) }},
		{[]string{"P3"}, s.off},
		{[]string{"P4", "P5"}, func() { s.exportGoals(heaps[:]) }},
		{[]string{"P6"}, s.writeGoal},
		{[]string{"P7", "P8"}, s.readGoals},
		{[]string{"P9"}, s.lossGoals},
		{[]string{"P10", "P11"}, s.serverGoals},
	}
	for _, goal := range only {
		if !slices.ContainsFunc(parts, func(p part) bool { return slices.Contains(p.goals, goal) }) {
			return fmt.Errorf("goal %q: want one of P1 to P11", goal)
		}
	}
	for _, p := range parts {
		asked := func(goal string) bool { return slices.Contains(p.goals, goal) }
		if len(only) == 0 || slices.ContainsFunc(only, asked) {
			p.run()
		}
	}
	return nil
}

// RunSteady measures what is the same on a busy machine: allocations, and
// whether off is off. No ratio of times is: on a machine with a load of twenty
// even P4 was seen at half its goal.
func (s *Suite) RunSteady() {
	s.middlewareGoals(heaps[:1])
	s.off()
	s.exportGoals(heaps[:1])
	s.Rows = slices.DeleteFunc(s.Rows, func(r Row) bool { return !r.Steady })
}

// heaps are the live heaps, in MB, with which the goals are measured.
var heaps = [...]int{64, 0} //nolint:gochecknoglobals // never changed
