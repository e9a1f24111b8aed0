package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
)

func main() {
	if task, ok := suite.IsChild(os.Args[1:]); ok {
		if err := suite.RunChild(task, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	only := flag.String("only", "", "")
	cpu := flag.Bool("cpu", false, "")
	flag.Parse()
	s := suite.New(*cpu)
	s.Log = os.Stderr
	s.Run(func(id string) bool { return *only == "" || strings.Contains(","+*only+",", ","+id+",") })
	fmt.Println(s.Errors)
}
