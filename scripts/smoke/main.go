// Smoke runs the built demo as a user would: it starts it, calls it with curl
// and a traceparent, stops it by signal, and looks for the call in the span
// file.
//
// Usage:
//
//	smoke DEMO-BINARY
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentID = "00f067aa0ba902b7"
	limit    = time.Minute
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: smoke DEMO-BINARY")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
	fmt.Println("smoke: the call is in the span file")
}

func run(ctx context.Context, demo string) error {
	state, err := os.MkdirTemp("", "smoke")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(state) }()
	cmd := exec.CommandContext(ctx, demo, "-app", "smoke", "-addr", "localhost:0")
	cmd.Env = append(os.Environ(), "SMOKE_TRACING=true", "XDG_STATE_HOME="+state)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = call(ctx, stdout)
	err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	if waitErr := cmd.Wait(); waitErr != nil {
		return errors.Join(err, fmt.Errorf("demo: %w", waitErr))
	}
	return errors.Join(err, look(filepath.Join(state, "smoke", "traces", "spans.jsonl")))
}

// call waits for the demo's address and calls it with curl.
func call(ctx context.Context, stdout io.Reader) error {
	url := regexp.MustCompile(`http://\S+`)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		base := url.FindString(lines.Text())
		if base == "" {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, stdout) }()
		out, err := exec.CommandContext(ctx, "curl", "-sS", "--fail", "-H", "traceparent: 00-"+traceID+"-"+parentID+"-01",
			strings.TrimSuffix(base, "/")+"/hello/smoke").CombinedOutput()
		if err != nil {
			return fmt.Errorf("curl: %w: %s", err, out)
		}
		if got := string(out); got != "hello, smoke\n" {
			return fmt.Errorf("the demo answered %q", got)
		}
		return nil
	}
	return errors.Join(lines.Err(), errors.New("the demo never said where it listens"))
}

// look reads the file as text, on purpose: what a user's grep would find.
func look(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, want := range []string{
		`"traceId":"` + traceID + `"`, `"parentSpanId":"` + parentID + `"`, `"name":"GET /hello/{name}"`,
		`{"key":"http.route","value":{"stringValue":"/hello/{name}"}}`,
	} {
		if !strings.Contains(string(data), want) {
			return fmt.Errorf("%s does not hold %s", path, want)
		}
	}
	return nil
}
