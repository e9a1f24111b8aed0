package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTenLines holds README's ten lines and bootstrap's example together.
func TestTenLines(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../bootstrap/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md has no Go code")
	}
	source := squeeze(string(example))
	if got := squeeze(string(block[1])); !strings.Contains(source, got) {
		t.Errorf("README's code is not in bootstrap/example_test.go:\n%s", block[1])
	}
}

// squeeze folds white space, so that indentation does not count.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
