// Package measure times cases against each other: in one process, there and back
// (A B B A …), so that what else the machine does, and who comes after whom,
// meets all of them alike.
package measure

import (
	"runtime"
	"slices"
	"time"
)

// Case is one thing to be measured. Run does it n times; Begin and End, when
// set, come around each slice and are not measured.
type Case struct {
	Name       string
	Begin, End func()
	Run        func(n int)
}

// Sample is what one operation took in one slice.
type Sample struct {
	Wall   float64 // nanoseconds
	CPU    float64 // nanoseconds of all threads of the process, the kernel's included
	Allocs float64
	Bytes  float64
}

// Series is all slices of one case.
type Series struct {
	Name    string
	Samples []Sample
}

// Metric picks a number from a sample.
type Metric func(Sample) float64

// Wall is the wall's time.
func Wall(s Sample) float64 { return s.Wall }

// CPU is the CPU's time.
func CPU(s Sample) float64 { return s.CPU }

// Allocs is the number of allocations.
func Allocs(s Sample) float64 { return s.Allocs }

// Bytes is what was allocated.
func Bytes(s Sample) float64 { return s.Bytes }

// Alternate runs the cases in turn, rounds times each, in slices of about the
// given length. What finds how many operations fill one is not counted, nor is
// the third of a slice that runs before each. Every other round goes backwards:
// the same code was 0.03 quicker after a slower case than after a quicker one
// (README.md).
func Alternate(rounds int, slice time.Duration, cases ...Case) []Series {
	series := make([]Series, len(cases))
	counts := make([]int, len(cases))
	for i, c := range cases {
		series[i].Name = c.Name
		counts[i] = calibrate(c, slice)
	}
	for round := range rounds {
		for i := range cases {
			if round%2 == 1 {
				i = len(cases) - 1 - i
			}
			series[i].Samples = append(series[i].Samples, run(cases[i], counts[i]))
		}
	}
	return series
}

// calibrate finds how many operations fill a slice, by CPU time: the wall also
// has what other processes take.
func calibrate(c Case, slice time.Duration) int {
	for n := 1; ; {
		s := run(c, n)
		took := min(s.Wall, max(s.CPU, s.Wall/8)) * float64(n)
		if took >= float64(slice)/4 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(slice)/took))
		}
		n = max(2*n, min(100*n, int(float64(n)*float64(slice)/2/max(took, 1))))
	}
}

// Times runs the case n times, for what does not depend on the clock.
func Times(c Case, n int) Sample { return run(c, n) }

func run(c Case, n int) Sample {
	if c.Begin != nil {
		c.Begin()
	}
	runtime.GC() // the garbage of the case before is not this one's
	// While other cases ran, the heap's free pages went back to the system. To get them again is the price of taking
	// turns, and would be paid by who allocates most: pdata took twice its time in slices of 60 ms.
	if n >= 3 {
		c.Run(n / 3)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := ProcessCPU(), time.Now()
	c.Run(n)
	wall := time.Since(start)
	cpu = ProcessCPU() - cpu
	runtime.ReadMemStats(&after)
	if c.End != nil {
		c.End()
	}
	per := 1 / float64(n)
	return Sample{
		Wall:   float64(wall) * per,
		CPU:    float64(cpu) * per,
		Allocs: float64(after.Mallocs-before.Mallocs) * per,
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) * per,
	}
}

// Median is the median of a metric.
func (s Series) Median(m Metric) float64 {
	values := make([]float64, len(s.Samples))
	for i, x := range s.Samples {
		values[i] = m(x)
	}
	return Median(values)
}

// Mean is the mean of all slices.
func (s Series) Mean() Sample {
	var m Sample
	for _, x := range s.Samples {
		m.Wall += x.Wall
		m.CPU += x.CPU
		m.Allocs += x.Allocs
		m.Bytes += x.Bytes
	}
	n := float64(len(s.Samples))
	return Sample{Wall: m.Wall / n, CPU: m.CPU / n, Allocs: m.Allocs / n, Bytes: m.Bytes / n}
}

// Ratio is the median of a's metric over b's, round by round: neighbors in time
// have had the same weather.
func Ratio(a, b Series, m Metric) float64 {
	return rounds(a, b, func(a, b Sample) float64 { return m(a) / m(b) })
}

// Difference is the median of a's metric less b's, round by round.
func Difference(a, b Series, m Metric) float64 {
	return rounds(a, b, func(a, b Sample) float64 { return m(a) - m(b) })
}

func rounds(a, b Series, f func(a, b Sample) float64) float64 {
	values := make([]float64, min(len(a.Samples), len(b.Samples)))
	for i := range values {
		values[i] = f(a.Samples[i], b.Samples[i])
	}
	return Median(values)
}

// Median returns the middle of values, which it leaves alone.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// Heap returns live memory of the given size in KB-sized pieces, as a server
// with a cache has it. Without any, the collector runs after each 4 MB, and
// what allocates looks worse than it is in a server.
func Heap(bytes int) [][]byte {
	heap := make([][]byte, bytes/1024)
	for i := range heap {
		heap[i] = make([]byte, 1024)
	}
	return heap
}
