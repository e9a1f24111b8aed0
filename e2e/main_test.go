// Package e2e_test runs a traced server against a real Collector, a real
// Jaeger and a client in another language, each a process of its own.
package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// patience bounds every wait for something that must come; it is long because
// it is met only when something is broken.
const patience = 90 * time.Second

// Where the programs are, once TestMain has built them.
var (
	binaries     string
	serverPath   string
	collectPath  string
	buildTimeout = 20 * time.Minute
)

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (int, error) {
	var err error
	if binaries, err = os.MkdirTemp("", "waymark-e2e-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(binaries) }()
	// The server is built in its own module, with the versions that it pins.
	if serverPath, err = build("..", "./scripts/e2eserver"); err != nil {
		return 0, err
	}
	if collectPath, err = build(".", "./cmd/collector"); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// build makes the program pkg of the module in dir.
func build(dir, pkg string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	path := filepath.Join(binaries, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s in %s: %w\n%s", pkg, dir, err, out)
	}
	return path, nil
}

// eventually waits until done is true; state says how far it is.
func eventually(t *testing.T, what string, done func() (ok bool, state string)) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, state := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %s", what, patience, state)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
