// Readme writes the tables of variables between their marks: Waymark's own and
// the usual ones of OpenTelemetry into README.md, all of them into
// docs/variables.md.
//
// Usage:
//
//	readme README.md docs/variables.md
package main

//go:generate go run . ../../README.md ../../docs/variables.md

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/env"
)

const (
	app   = "shop"
	begin = "<!-- variables: begin (make generate) -->\n"
	end   = "<!-- variables: end -->\n"
)

// usual are the variables of OpenTelemetry that people set.
var usual = []string{
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_TRACES_EXPORTER",
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: readme README.md docs/variables.md")
		os.Exit(2)
	}
	err := rewrite(os.Args[1], table(few()))
	if err == nil {
		err = rewrite(os.Args[2], env.Table(app))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

// few are the App's own variables and the usual ones, in that order.
func few() []env.Variable {
	all := env.Variables(app)
	var short []env.Variable
	for _, v := range all {
		if strings.HasPrefix(v.Name, env.Prefix(app)) {
			short = append(short, v)
		}
	}
	for _, name := range usual {
		if i := slices.IndexFunc(all, func(v env.Variable) bool { return v.Name == name }); i >= 0 {
			short = append(short, all[i])
		}
	}
	return short
}

func table(variables []env.Variable) string {
	var b strings.Builder
	b.WriteString("| variable | default | what it does |\n|---|---|---|\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Default, v.Doc)
	}
	return b.String()
}

// rewrite puts fresh between the marks of a file.
func rewrite(path, fresh string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(old, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: want the marks %q and %q", path, begin, end)
	}
	whole := bytes.Join([][]byte{head, []byte(begin), []byte(fresh), []byte(end), tail}, nil)
	if bytes.Equal(whole, old) {
		return nil
	}
	return os.WriteFile(path, whole, 0o644)
}
