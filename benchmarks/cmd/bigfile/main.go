//go:build linux

// Command bigfile measures what waymark stats takes for a large span file, and for
// one of a tenth of that, beside programs that count the spans of the same files
// with encoding/json and with the Collector's pdata.
//
//	bigfile [-mb 300] [-check]
//
// The files are written by the exporter, as a program would. Each reader is a
// process of its own, run three times in turn; CPU time is the median, memory the
// largest. stats keeps hashes of the ids (ADR 0090), some 75 bytes a span at the
// peak; with -check the exit status is 1 when its memory grows by more than a tenth
// of what the file grows by.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
)

// The flags that make this program a child: bigfile -read json|pdata FILE and
// bigfile -write BYTES FILE. This process itself stays small: what it has had in
// memory would count as its children's.
const (
	readFlag  = "-read"
	writeFlag = "-write"
)

func main() {
	mb := flag.Int64("mb", 300, "size of the large file in MB")
	check := flag.Bool("check", false, "fail when the memory of stats grows by more than a tenth of the file")
	child, err := asChild(os.Args[1:])
	if !child {
		flag.Parse()
		err = run(context.Background(), *mb*1e6, *check, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigfile:", err)
		os.Exit(1)
	}
}

// asChild does what a child is started for.
func asChild(args []string) (child bool, err error) {
	if len(args) != 3 {
		return false, nil
	}
	switch args[0] {
	case readFlag:
		return true, read(args[1], args[2])
	case writeFlag:
		return true, write(args[1], args[2])
	}
	return false, nil
}

// read counts the spans of a file as a rival does.
func read(how, path string) error {
	f := suite.ReadJSON
	if how == "pdata" {
		f = suite.ReadPdata
	}
	n, err := f(path)
	if err == nil && n == 0 {
		err = errors.New("no spans")
	}
	return err
}

func write(size, path string) error {
	n, err := strconv.ParseInt(size, 10, 64)
	if err == nil {
		_, err = suite.SpanFile(path, n)
	}
	return err
}

const rounds = 3

// cost is what a process took.
type cost struct {
	cpu  []time.Duration // each round
	peak int64           // bytes, the largest
}

func (c *cost) median() time.Duration {
	slices.Sort(c.cpu)
	return c.cpu[len(c.cpu)/2]
}

// reader is one way to read a file.
type reader struct {
	name string
	args []string // the file comes after
}

func run(ctx context.Context, size int64, check bool, w io.Writer) error {
	dir, err := os.MkdirTemp("", "waymark-bigfile-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	readers, err := build(ctx, dir)
	if err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "file MB\treader\tCPU s\tof stats\tpeak MB\t")
	var peaks []int64 // of stats
	for _, bytes := range []int64{size / 10, size} {
		path := filepath.Join(dir, "spans.jsonl")
		written, costs, err := compare(ctx, path, bytes, readers)
		if err != nil {
			return err
		}
		for i, r := range readers {
			fmt.Fprintf(tw, "%.0f\t%s\t%.2f\t%.1f×\t%.1f\t\n", float64(written)/1e6, r.name, costs[i].median().Seconds(),
				float64(costs[i].median())/float64(costs[0].median()), float64(costs[i].peak)/1e6)
		}
		peaks = append(peaks, costs[0].peak)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if small, large := peaks[0], peaks[1]; check && large > small+size/10 {
		return fmt.Errorf("stats took %.1f MB for the large file and %.1f MB for the small one", float64(large)/1e6, float64(small)/1e6)
	}
	return nil
}

// build makes the readers; the first is waymark stats.
func build(ctx context.Context, dir string) ([]reader, error) {
	waymark := filepath.Join(dir, "waymark")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", waymark, "github.com/waymark-trace/waymark/cmd/waymark")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build waymark: %w\n%s", err, out)
	}
	self, err := os.Executable()
	return []reader{
		{"waymark stats", []string{waymark, "stats"}},
		{"pdata, counting", []string{self, readFlag, "pdata"}},
		{"encoding/json, counting", []string{self, readFlag, "json"}},
	}, err
}

// compare writes a file and has all read it in turn.
func compare(ctx context.Context, path string, bytes int64, readers []reader) (written int64, costs []cost, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	if err := new(cost).add(ctx, []string{self, writeFlag, strconv.FormatInt(bytes, 10), path}); err != nil {
		return 0, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, nil, err
	}
	costs = make([]cost, len(readers))
	for range rounds {
		for i, r := range readers {
			if err := costs[i].add(ctx, append(r.args, path)); err != nil {
				return 0, nil, fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return info.Size(), costs, nil
}

// add runs a reader once.
func (c *cost) add(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("no account of the process")
	}
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	c.peak = max(c.peak, usage.Maxrss*1024) // in KiB on Linux
	return nil
}
