// Readme writes the table of variables into README.md, between its two marks.
//
// Usage:
//
//	readme README.md
package main

//go:generate go run . ../../README.md

import (
	"bytes"
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/env"
)

const (
	begin = "<!-- variables: begin (make generate) -->\n"
	end   = "<!-- variables: end -->\n"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readme README.md")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

func rewrite(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(old, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: want the marks %q and %q", path, begin, end)
	}
	fresh := bytes.Join([][]byte{head, []byte(begin), []byte(env.Table("shop")), []byte(end), tail}, nil)
	if bytes.Equal(fresh, old) {
		return nil
	}
	return os.WriteFile(path, fresh, 0o644)
}
