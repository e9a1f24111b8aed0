// Lintproof proves that each architecture rule of .golangci.yml holds: it puts
// every file of the folder breaks/ where its first line says, into a copy of
// the module, and fails unless the linters refuse each of them.
//
// Usage:
//
//	lintproof GOLANGCI-LINT
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

// architecture is the group of linters whose rules are proved.
const architecture = "depguard,forbidigo,gochecknoglobals,gochecknoinits,gomoddirectives"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lintproof GOLANGCI-LINT")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "lintproof:", err)
		os.Exit(1)
	}
}

// A breach is one file that breaks a rule.
type breach struct {
	name string         // the file below breaks/
	path string         // where it goes in the module
	want *regexp.Regexp // what the linter must say of it; nil: the others import it
	body []byte
}

func run(ctx context.Context, linter string) error {
	linter, err := filepath.Abs(linter)
	if err != nil {
		return err
	}
	breaches, err := load("scripts/lintproof/breaks")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lintproof")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := copyModule(ctx, dir); err != nil {
		return err
	}
	for _, b := range breaches {
		if err := b.plant(dir); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, linter, "run", "--enable-only", architecture, "--output.text.colors=false",
		"--output.text.print-issued-lines=false", "--allow-parallel-runners", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	return judge(breaches, string(out))
}

// judge fails when a breach was not refused, or when something else was.
func judge(breaches []breach, out string) error {
	var errs []error
	proved := 0
	for _, b := range breaches {
		if b.want == nil {
			continue
		}
		proved++
		found := false
		for line := range strings.Lines(out) {
			found = found || strings.HasPrefix(line, b.path+":") && b.want.MatchString(line)
		}
		if !found {
			errs = append(errs, fmt.Errorf("%s: nothing refused it as %q", b.name, b.want))
		}
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, errors.New("the linters said:\n"+out))...)
	}
	fmt.Printf("lintproof: %d rules proved\n", proved)
	return nil
}

// plant writes the breach to its place; go.mod is appended to.
func (b breach) plant(dir string) error {
	path := filepath.Join(dir, b.path)
	if b.path == "go.mod" {
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(old, b.body...), 0o600)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, b.body, 0o600)
}

// load reads the breaches. The first two lines of each are "// path: …" and
// "// want: …".
func load(dir string) ([]breach, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var breaches []breach
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		path, rest, ok1 := bytes.Cut(data, []byte("\n"))
		want, body, ok2 := bytes.Cut(rest, []byte("\n"))
		if !ok1 || !ok2 || !bytes.HasPrefix(path, []byte("// path: ")) || !bytes.HasPrefix(want, []byte("// want: ")) {
			return nil, fmt.Errorf("%s: want lines \"// path: …\" and \"// want: …\" first", e.Name())
		}
		b := breach{name: e.Name(), path: string(path[len("// path: "):]), body: body}
		if text := string(want[len("// want: "):]); text != "nothing" {
			if b.want, err = regexp.Compile(text); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
		}
		breaches = append(breaches, b)
	}
	return breaches, nil
}

// copyModule copies what git knows of the module, and what it would take.
func copyModule(ctx context.Context, dir string) error {
	out, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if strings.HasPrefix(name, "e2e/") || strings.HasPrefix(name, "benchmarks/") {
			continue // modules of their own
		}
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
