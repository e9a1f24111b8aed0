package jsonlexport_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// The test binary runs itself as another process: childKey names what to do.
const (
	childKey  = "JSONLEXPORT_TEST_CHILD"
	childPath = "JSONLEXPORT_TEST_PATH"
)

func childNamed(name string) func() int {
	switch name {
	case "hold":
		return childHolds
	case "endless":
		return childEndsSpans
	case "burst":
		return childBursts
	case "":
		return nil
	default:
		return systemChildren[name]
	}
}

// childHolds opens the file, writes one span, says which path it has, and goes
// when stdin ends.
func childHolds() int {
	e, err := jsonlexport.New(os.Getenv(childPath))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	end(e, "child")
	if err := e.ForceFlush(background()); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(e.Path())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := e.Shutdown(background()); err != nil {
		return 1
	}
	return 0
}

// childEndsSpans ends spans until it is killed, and says after each batch how
// many have ended and when.
func childEndsSpans() int {
	e, err := jsonlexport.New(os.Getenv(childPath))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	s := stub("endless").Snapshot()
	for n := 0; ; n += 10 {
		fmt.Println(n, time.Now().UnixNano())
		for range 10 {
			e.OnEnd(s)
		}
		time.Sleep(time.Millisecond)
	}
}

const burst = 3000

// childBursts ends a number of spans as fast as it can.
func childBursts() int {
	e, err := jsonlexport.New(os.Getenv(childPath))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	s := stub(fmt.Sprint("of ", os.Getpid())).Snapshot()
	for range burst {
		e.OnEnd(s)
	}
	err = e.Shutdown(background())
	fmt.Println(e.Stats().Exported, e.Path())
	if err != nil {
		return 1
	}
	return 0
}

type child struct {
	*exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, what, path string) *child {
	t.Helper()
	cmd := exec.CommandContext(soon(t), os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"="+what, childPath+"="+path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &child{Cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child said nothing: %v", c.lines.Err())
	}
	return c.lines.Text()
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
}

func TestAnotherProcessWritesBesideIt(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	ours := mustNew(t, path)
	end(ours, "ours")
	flush(t, ours)

	c := startChild(t, "hold", path)
	beside := c.line(t)
	want := filepath.Join(filepath.Dir(path), fmt.Sprintf("spans-%d-1.jsonl", c.Process.Pid))
	if beside != want {
		t.Fatalf("the child writes %q, want %q", beside, want)
	}
	if got := spanNames(t, path); len(got) != 1 || got[0] != "ours" {
		t.Errorf("our file has %q, want our span", got)
	}
	if got := spanNames(t, beside); len(got) != 1 || got[0] != "child" {
		t.Errorf("the child's file has %q, want its span", got)
	}
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
	if _, err := os.Stat(strings.TrimSuffix(beside, ".jsonl") + ".lock"); !os.IsNotExist(err) {
		t.Errorf("the lock beside ours is left after a clean end: %v", err)
	}
	if got := spansIn(t, beside); got != 1 {
		t.Errorf("%d spans left by the child, want 1", got)
	}
}

// Children that inherit the path and write while their parent does: each has a
// file of its own, nothing is lost and no line is torn.
func TestChildrenWriteAtTheSameTime(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	ours := mustNew(t, path)
	children := make([]*child, 4)
	for i := range children {
		children[i] = startChild(t, "burst", path)
	}
	s := stub("ours").Snapshot()
	for range burst {
		ours.OnEnd(s)
	}
	files := make([]string, len(children))
	for i, c := range children { // before files are read, which takes longer than they may live
		written, beside, _ := strings.Cut(c.line(t), " ")
		if err := c.Wait(); err != nil || written != strconv.Itoa(burst) {
			t.Errorf("child %d exported %s spans, and ended with %v", i, written, err)
		}
		files[i] = beside
	}
	for i, c := range children {
		beside := files[i]
		if got := spansIn(t, beside); got != burst {
			t.Errorf("%d whole spans in %s, want %d", got, beside, burst)
		}
		for _, name := range spanNames(t, beside) {
			if want := fmt.Sprint("of ", c.Process.Pid); name != want {
				t.Fatalf("%s has a span %q", beside, name)
			}
		}
	}
	if err := ours.Shutdown(soon(t)); err != nil {
		t.Error(err)
	}
	if got := spansIn(t, path); got != burst {
		t.Errorf("%d whole spans in our file, want %d", got, burst)
	}
}

// The owner clears what a killed process left, and leaves a living one alone.
func TestOwnerClearsWhatTheDeadLeft(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	first := mustNew(t, path)
	dead, living := startChild(t, "hold", path), startChild(t, "hold", path)
	deadFile, livingFile := dead.line(t), living.line(t)
	dead.kill(t)
	if _, err := os.Stat(deadFile); err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(filepath.Dir(path), "spans-1-1.jsonl")
	writeFile(t, stranger, "not spans\n")
	orphan := filepath.Join(filepath.Dir(path), "spans-1-2.1.jsonl")
	writeFile(t, orphan, `{"resourceSpans":[]}`+"\n")
	if err := first.Shutdown(soon(t)); err != nil {
		t.Fatal(err)
	}
	mustNew(t, path)
	for _, gone := range []string{deadFile, strings.TrimSuffix(deadFile, ".jsonl") + ".lock", orphan} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", gone, err)
		}
	}
	if got := spansIn(t, livingFile); got != 1 {
		t.Errorf("the living process's file has %d spans, want 1", got)
	}
	if got := readFile(t, stranger); got != "not spans\n" {
		t.Errorf("a file that is not ours was touched: %q", got)
	}
}

// A killed owner leaves a file that the next one clears, whatever its pid.
func TestOwnerIsKilled(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	c := startChild(t, "hold", path)
	if got := c.line(t); got != path {
		t.Fatalf("the child writes %q, want %q", got, path)
	}
	c.kill(t)
	if got := spansIn(t, path); got != 1 {
		t.Errorf("%d spans after the kill, want 1", got)
	}
	e := mustNew(t, path)
	if e.Path() != path {
		t.Errorf("Path() = %q, want %q", e.Path(), path)
	}
	if got := readFile(t, path); got != "" {
		t.Errorf("the file was not cleared: %.100q", got)
	}
}

// kill -9 loses no more than what ended in the last 200 ms, and what the writer
// and this machine need to come to it.
func TestKillLosesOnlyTheLastMoment(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	c := startChild(t, "endless", path)
	type progress struct {
		spans uint64
		at    time.Time
	}
	var seen []progress
	for len(seen) == 0 || time.Since(seen[0].at) < 3*time.Second || seen[len(seen)-1].spans < 100 {
		spans, nanos, _ := strings.Cut(c.line(t), " ")
		n, err := strconv.ParseUint(spans, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at, err := strconv.ParseInt(nanos, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, progress{n, time.Unix(0, at)})
	}
	killed := time.Now()
	c.kill(t)
	data := readFile(t, path)
	whole := data[:strings.LastIndexByte(data, '\n')+1]
	var written uint64
	for _, traces := range decodeLines(t, []byte(whole)) {
		written += uint64(traces.SpanCount())
	}
	// The machine that runs the tests may be slow to run the child's writer;
	// what is older than this has no excuse.
	const slack = 2 * time.Second
	var due uint64
	for _, p := range seen {
		if killed.Sub(p.at) > jsonlexport.DefaultFlushInterval+slack {
			due = p.spans
		}
	}
	if written < due {
		t.Errorf("%d spans in the file, want at least the %d that ended more than 200 ms before the kill", written, due)
	}
	if due == 0 {
		t.Fatal("no span was old enough to be expected")
	}
}
