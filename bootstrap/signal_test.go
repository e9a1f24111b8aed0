//go:build unix

package bootstrap_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is the child that serves.
type server struct {
	*child
	lines *bufio.Scanner
	url   string
}

func startServer(t *testing.T, vars ...string) *server {
	t.Helper()
	c := newChild(t, "serve", vars...)
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	s := &server{child: c, lines: bufio.NewScanner(stdout)}
	s.url = "http://" + s.line(t)
	return s
}

func (s *server) line(t *testing.T) string {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatalf("the server is gone: %v\n%s", s.cmd.Wait(), &s.out)
	}
	return s.lines.Text()
}

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// get sends a request and waits until it is inside.
func (s *server) get(t *testing.T, path string) <-chan string {
	t.Helper()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get(s.url + path)
		if err != nil {
			answer <- "error"
			return
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			answer <- "broken"
			return
		}
		answer <- string(body)
	}()
	if got := s.line(t); got != "inside" {
		t.Fatalf("the server says %q", got)
	}
	return answer
}

// end returns what Serve returned and the report.
func (s *server) end(t *testing.T) (served, report string) {
	t.Helper()
	served, report = s.line(t), s.line(t)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("exit: %v\n%s", err, &s.out)
	}
	return served, report
}

func TestSignalEndsInOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			slow := s.get(t, "/slow")
			s.signal(t, sig)
			served, report := s.end(t)
			if got := <-slow; got != "slow" {
				t.Errorf("the request in flight got %q", got)
			}
			if served != `served: "<nil>"` {
				t.Errorf("%s\n%s", served, &s.out)
			}
			if !strings.Contains(report, "1 ended, 1 exported, 0 lost") {
				t.Errorf("%s", report)
			}
			if !strings.Contains(s.out.String(), `"msg":"tracing stopped"`) {
				t.Errorf("no account in the log: %s", &s.out)
			}
		})
	}
}

func TestSignalEndsStreams(t *testing.T) {
	t.Parallel()
	s := startServer(t, "TIMEOUT=8s")
	stream := s.get(t, "/stream")
	s.signal(t, syscall.SIGTERM)
	served, report := s.end(t)
	if got := <-stream; !strings.HasSuffix(got, "data: end\n\n") {
		t.Errorf("the stream got %q", got)
	}
	if served != `served: "<nil>"` || !strings.Contains(report, "1 ended, 1 exported, 0 lost") {
		t.Errorf("%s\n%s\n%s", served, report, &s.out)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, vars := range map[string][]string{
		"a request that does not end":  {"TIMEOUT=10m"},
		"a listener that does not end": {"TIMEOUT=10m", "HANGING_LISTENER=true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secondSignal(t, startServer(t, vars...))
		})
	}
}

func secondSignal(t *testing.T, s *server) {
	t.Helper()
	stuck := s.get(t, "/stuck")
	s.signal(t, os.Interrupt)
	// The first signal is at work when the server takes no more connections.
	for {
		resp, err := http.Get(s.url + "/fast")
		if err != nil {
			break
		}
		_ = resp.Body.Close()
		time.Sleep(time.Millisecond)
	}
	time.Sleep(600 * time.Millisecond) // sooner it would be the first one again
	s.signal(t, os.Interrupt)
	served, report := s.end(t)
	if !strings.Contains(served, "second signal") {
		t.Errorf("%s\n%s", served, &s.out)
	}
	if !strings.Contains(report, "1 still open") {
		t.Errorf("%s", report)
	}
	if got := <-stuck; got != "error" {
		t.Errorf("the request got %q", got)
	}
}
