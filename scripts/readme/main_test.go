package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
)

// README's program compiles, and its lines are those of bootstrap's example.
func TestProgram(t *testing.T) {
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
	_, body, ok := strings.Cut(string(block[1]), "func main() {")
	if !ok {
		t.Fatalf("README's code has no main:\n%s", block[1])
	}
	body = strings.TrimSuffix(strings.TrimSpace(body), "}")
	if !strings.Contains(squeeze(string(example)), squeeze(body)) {
		t.Errorf("README's code is not in bootstrap/example_test.go:\n%s", body)
	}
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", path).CombinedOutput(); err != nil {
		t.Errorf("README's code: %v\n%s", err, out)
	}
}

// The variables that README shows are some of those that are read.
func TestFewVariables(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, v := range env.Variables("shop") {
		known[v.Name] = true
	}
	for _, name := range usual {
		if !known[name] {
			t.Errorf("%s is not in the table of variables", name)
		}
	}
	if short, whole := len(few()), len(known); short >= whole || short <= len(usual) {
		t.Errorf("README shows %d of %d variables", short, whole)
	}
}

// squeeze folds white space, so that indentation does not count.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
