// Command bench measures Waymark beside its rivals and prints a table of the
// goals, then what stands beside them.
//
//	bench [-only P1,P7] [-time auto|wall|cpu] [-doc FILE] [-check] [-slowdown N]
//
// It exits with 0 whether goals hold or not; with -check it looks at the steady
// ones alone, and exits with 1 when one is missed by more than a quarter.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
)

// tolerance is how far past a goal a steady row may be on a noisy machine.
const tolerance = 1.25

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if task, ok := suite.IsChild(args); ok {
		if err := suite.RunChild(task, stdin, stdout); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		return 0
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "of P1 to P11, measure these goals (P1,P7) and what is measured with them, and no tables; P10 and P11 need wrk (scripts/setup wrk)")
	clock := flags.String("time", "auto", "what time is: wall, cpu, or auto: cpu when the machine is busy")
	doc := flags.String("doc", "", "also write a Markdown document to this file")
	check := flags.Bool("check", false, "measure what is the same on a busy machine (allocations, off), in seconds, and fail when a goal is missed by more than a quarter")
	slowdown := flags.Int("slowdown", 1, "do our side's work this many times, to see a check fail")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if !slices.Contains([]string{"auto", "wall", "cpu"}, *clock) {
		fmt.Fprintf(stderr, "bench: -time %q: want wall, cpu or auto\n", *clock)
		return 2
	}
	cpu := *clock == "cpu" || *check || *clock == "auto" && busy()
	s := suite.New(cpu)
	s.Slowdown = *slowdown
	s.Log = stderr
	if *check {
		return runCheck(s, stdout)
	}
	var wanted []string
	if *only != "" {
		wanted = strings.Split(*only, ",")
	}
	if err := s.Run(wanted...); err != nil {
		fmt.Fprintln(stderr, "bench: -only:", err)
		return 2
	}
	var tables []suite.Table
	if *only == "" {
		tables = s.Tables()
	}
	report(s, tables, stdout)
	if *doc != "" {
		if err := document(s, tables, *doc); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
	}
	return 0
}

func runCheck(s *suite.Suite, stdout io.Writer) int {
	s.Rounds, s.Slice, s.Log = 3, 20*time.Millisecond, io.Discard // allocations need no more
	s.RunSteady()
	s.WriteGoals(stdout)
	missed := s.Missed(tolerance)
	for _, r := range missed {
		fmt.Fprintf(stdout, "missed by more than a quarter: %s\n", r)
	}
	if len(missed) > 0 || len(s.Errors) > 0 {
		return 1
	}
	fmt.Fprintln(stdout, "The goals that are the same on a busy machine hold; times are for make bench.")
	return 0
}

func report(s *suite.Suite, tables []suite.Table, w io.Writer) {
	s.WriteMachine(w)
	s.WriteGoals(w)
	for _, t := range tables {
		t.Write(w)
	}
}

// document writes the same with a heading that says where it comes from.
func document(s *suite.Suite, tables []suite.Table, path string) error {
	var b strings.Builder
	b.WriteString("<!-- written by make bench-doc -->\n# Benchmarks\n\n" + preface)
	report(s, tables, &b)
	b.WriteString(conclusions)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// busy says whether others have the machine too.
func busy() bool {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	one, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(one, 64)
	return err == nil && load > float64(runtime.NumCPU())
}
