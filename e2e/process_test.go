package e2e_test

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a child that ends at the latest with its test.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // of its standard output
	log   *buffer     // its standard error

	done chan struct{} // closed when it has ended
	err  error         // of Wait, then
}

// startProcess starts cmd. The child ends when its standard input closes.
func startProcess(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{name: name, cmd: cmd, lines: make(chan string, 1000), log: &buffer{}, done: make(chan struct{})}
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	cmd.Stderr = p.log
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	go func() {
		defer close(p.done)
		scanner := bufio.NewScanner(stdout)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
		close(p.lines)
		p.err = cmd.Wait()
	}()
	t.Cleanup(func() {
		p.end(t)
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, p.log.tail(8<<10))
		}
	})
	return p
}

// line is the next line of the standard output.
func (p *process) line(t *testing.T) string {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			t.Fatalf("%s ended: %v", p.name, p.log.tail(8<<10))
		}
		return line
	case <-time.After(patience):
		t.Fatalf("%s: no line within %v", p.name, patience)
	}
	return ""
}

// signal sends sig.
func (p *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Errorf("%s: %v: %v", p.name, sig, err)
	}
}

// wait waits for the end of the process.
func (p *process) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%s did not end within %v", p.name, patience)
	}
}

// end asks the process to end, and kills it when it does not.
func (p *process) end(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // a stopped process would not hear
	_ = p.stdin.Close()
	select {
	case <-p.done:
		return
	case <-time.After(20 * time.Second):
		t.Errorf("%s did not end when its input closed", p.name)
	}
	p.kill(t)
}

// kill ends the process at once.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	p.wait(t)
}

// buffer collects what a process writes.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// tail is the end of it, from the start of a line.
func (b *buffer) tail(size int) string {
	s := b.String()
	if len(s) <= size {
		return s
	}
	_, s, _ = strings.Cut(s[len(s)-size:], "\n")
	return "…\n" + s
}
