// Command size measures what importing Waymark costs a program: the size of its binary, with and without symbols, and the
// processor time of compiling it with nothing in the cache. It is started in the folder benchmarks, and takes a few
// minutes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// program is one of the servers in the folders beside, as it is built.
type program struct {
	name, tags string
	what       string
	rival      int     // the number of the one that it is held against; 0: none
	more       float64 // MB that it may be larger than the rival, stripped
}

var programs = []program{
	{name: "bare", what: "net/http alone"},
	{name: "otelhttpstdout", what: "otelhttp, stdouttrace"},
	{name: "otelhttp", what: "otelhttp, otlptracehttp"},
	{name: "waymark", tags: "waymark_nootlp", what: "Waymark, waymark_nootlp", rival: 1, more: 1.5},
	{name: "waymark", what: "Waymark", rival: 2, more: 1},
}

// cost is what a program takes.
type cost struct {
	binary, stripped float64 // MB
	cpu              time.Duration
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run() error {
	fmt.Println("Each server is compiled with an empty cache.")
	fmt.Printf("%-26s%12s%12s%14s  %s\n", "", "binary MB", "stripped", "compile CPU", "goal, stripped")
	costs := make([]cost, 0, len(programs))
	missed := 0
	for _, p := range programs {
		c, err := p.build(context.Background())
		if err != nil {
			return err
		}
		costs = append(costs, c)
		goal := ""
		if p.rival > 0 {
			limit := costs[p.rival].stripped + p.more
			goal = fmt.Sprintf("at most %.2f: ", limit)
			if c.stripped > limit {
				goal += "missed"
				missed++
			} else {
				goal += "holds"
			}
		}
		fmt.Printf("%-26s%12.2f%12.2f%14s  %s\n", p.what, c.binary, c.stripped, c.cpu.Round(100*time.Millisecond), goal)
	}
	if missed > 0 {
		return fmt.Errorf("%d goals are missed", missed)
	}
	return nil
}

// build compiles the program twice: with an empty cache, and without symbols.
func (p program) build(ctx context.Context) (cost, error) {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var c cost
	if c.binary, c.cpu, err = p.compile(ctx, dir, "whole"); err != nil {
		return cost{}, err
	}
	c.stripped, _, err = p.compile(ctx, dir, "stripped", "-ldflags=-s -w")
	return c, err
}

func (p program) compile(ctx context.Context, dir, name string, flags ...string) (mb float64, cpu time.Duration, err error) {
	out := filepath.Join(dir, name)
	args := append([]string{"build", "-trimpath", "-tags", p.tags, "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/size/"+p.name)...)
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", p.what, err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		return 0, 0, err
	}
	return float64(info.Size()) / 1e6, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
