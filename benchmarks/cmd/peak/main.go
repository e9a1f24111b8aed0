// Command peak reads a span file and prints the most memory that it had
// resident, in bytes. It is a program of its own because the one that measures
// has all the rivals in it, which are 27 MB before anything is read.
//
//	peak FILE
package main

import (
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	r, err := tracefile.Open(path, tracefile.WithWorkers(2))
	if err != nil {
		return err
	}
	for _, err := range r.Spans() {
		if err != nil {
			return err
		}
	}
	peak, err := measure.PeakRSS()
	if err == nil {
		fmt.Println(peak)
	}
	return err
}
