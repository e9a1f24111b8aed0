package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

const (
	serverRounds = 7
	warmUp       = time.Second
	serverSlice  = time.Second
)

// served is what one slice of load on one server gave.
type served struct {
	rps float64 // requests a second
	cpu float64 // nanoseconds of the server a request
	end Reading // the account and the memory
}

// underLoad starts a server, loads it, and stops it. The file is removed.
func underLoad(t Task, slice time.Duration) (served, error) {
	dir, err := os.MkdirTemp("", "waymark-bench-")
	if err != nil {
		return served{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	t.Do, t.Path = "serve", filepath.Join(dir, "spans.jsonl")
	c, err := start(t)
	if err != nil {
		return served{}, err
	}
	s, err := c.underLoad(slice)
	end, stopErr := c.stop()
	s.end.Account, s.end.Made, s.end.Peak = end.Account, end.Made, end.Peak
	if err == nil {
		err = stopErr
	}
	return s, err
}

func (c *child) underLoad(slice time.Duration) (s served, err error) {
	first, err := c.read()
	if err != nil {
		return s, err
	}
	s.end.Idle = first.Idle
	url := "http://" + first.Address + "/users/42?page=2&sort=name"
	if _, err = load(url, warmUp); err != nil {
		return s, err
	}
	before, err := c.ask()
	if err != nil {
		return s, err
	}
	if s.rps, err = load(url, slice); err != nil {
		return s, err
	}
	after, err := c.ask()
	if err != nil {
		return s, err
	}
	s.cpu = float64(after.CPU-before.CPU) / max(1, float64(after.Requests-before.Requests))
	return s, nil
}

// serverGoals are P10 and P11.
func (s *Suite) serverGoals() {
	pipelines := []string{PipelineNone, PipelineOurs, PipelineStdout}
	rps, cpu := map[string][]float64{}, map[string][]float64{}
	var added, kept, rivalKept []float64
	for range serverRounds {
		got := map[string]served{}
		for _, p := range pipelines {
			r, err := underLoad(Task{Pipeline: p, Spans: 1}, serverSlice)
			if err != nil {
				s.fail(fmt.Errorf("load on %s: %w", p, err))
				return
			}
			got[p] = r
			rps[p], cpu[p] = append(rps[p], r.rps), append(cpu[p], r.cpu)
		}
		none, ours, rival := got[PipelineNone], got[PipelineOurs], got[PipelineStdout]
		added = append(added, (ours.cpu-none.cpu)/(rival.cpu-none.cpu))
		kept = append(kept, ours.rps/none.rps)
		rivalKept = append(rivalKept, rival.rps/none.rps)
	}
	plus := func(p string) string {
		return "+" + nanos(measure.Median(cpu[p])-measure.Median(cpu[PipelineNone]))
	}
	s.add(
		Row{
			ID: "P10", What: "added server CPU a request, all sampled to the file" + loadLabel(), Value: measure.Median(added), Goal: atMost(0.32, 0.25, "×"),
			Ours: plus(PipelineOurs), Rival: "otelhttp + stdouttrace " + plus(PipelineStdout),
		},
		Row{
			ID: "P11", What: fmt.Sprintf("requests/s of untraced (%s/s)", rate(measure.Median(rps[PipelineNone]))) + loadLabel(), Value: measure.Median(kept), Goal: atLeast(0.55, 0.65, "×"),
			Ours:  rate(measure.Median(rps[PipelineOurs])) + "/s",
			Rival: fmt.Sprintf("otelhttp + stdouttrace %s/s, %s×", rate(measure.Median(rps[PipelineStdout])), number(measure.Median(rivalKept))),
		},
	)
}

// floodSpans is the number of P9.
const floodSpans = 600_000

// lossGoals are P9.
func (s *Suite) lossGoals() {
	s.lossRow("600,000 spans flat out", func(p string) (Reading, error) {
		return inFolder(Task{Do: "flood", Pipeline: p, Spans: floodSpans})
	})
	for _, n := range []int{1, 3, 10} {
		s.lossRow(fmt.Sprintf("%d spans a request over HTTP", n)+loadLabel(), func(p string) (Reading, error) {
			r, err := underLoad(Task{Pipeline: p, Spans: n}, serverSlice)
			return r.end, err
		})
	}
	s.lossRow("a disk that hangs 200 ms a second, 40,000 spans/s", func(p string) (Reading, error) {
		return inFolder(Task{Do: "paced", Pipeline: p, Spans: 160_000, Rate: 40_000, Stall: 200 * time.Millisecond})
	})
}

func inFolder(t Task) (Reading, error) {
	dir, err := os.MkdirTemp("", "waymark-bench-")
	if err != nil {
		return Reading{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	t.Path = filepath.Join(dir, "spans.jsonl")
	return once(t)
}

// lossRow compares what is lost, and says what memory it took not to.
func (s *Suite) lossRow(what string, run func(pipeline string) (Reading, error)) {
	lost := map[string]float64{}
	var ours Reading
	for _, p := range []string{PipelineOurs, PipelineStdout, PipelineFast} {
		r, err := run(p)
		if err != nil {
			// Our own Shutdown says so when spans were lost: then the account tells.
			s.fail(fmt.Errorf("%s: %s: %s", what, p, short(err)))
			if r.Made == 0 {
				return
			}
		}
		lost[p] = 100 * (float64(r.Made) - float64(r.Account.Exported)) / float64(r.Made)
		if p == PipelineOurs {
			ours = r
		}
	}
	s.add(
		Row{
			ID: "P9", What: "lost: " + what, Value: lost[PipelineOurs], Goal: atMost(0, none(), " %"),
			Ours:  fmt.Sprintf("%d of %d", ours.Made-ours.Account.Exported, ours.Made),
			Rival: fmt.Sprintf("batch processor + stdouttrace %s %%, + fast encoder %s %%", number(lost[PipelineStdout]), number(lost[PipelineFast])),
		},
		Row{
			ID: "P9", What: "memory above idle: " + what, Value: float64(ours.Peak-ours.Idle) / (1 << 20), Goal: atMost(50, 25, " MB"),
			Ours: number(float64(ours.Peak)/(1<<20)) + " MB at the peak", Rival: "idle " + number(float64(ours.Idle)/(1<<20)) + " MB",
		},
	)
}
