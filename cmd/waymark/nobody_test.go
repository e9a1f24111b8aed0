package main

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/env"
)

// timedLines keeps what is written, and when the first of it was.
type timedLines struct {
	bytes.Buffer
	began time.Time
	first time.Duration
}

func (l *timedLines) Write(b []byte) (int, error) {
	if l.Len() == 0 {
		l.first = time.Since(l.began)
	}
	return l.Buffer.Write(b)
}

// TestSendToNobody holds send to saying at once that nobody answers, and once,
// while it goes on trying.
func TestSendToNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + listener.Addr().String()
	_ = listener.Close() // nobody has the port from here on
	synctest.Test(t, func(t *testing.T) {
		stderr := &timedLines{began: time.Now()}
		var stdout bytes.Buffer
		args := []string{"send", "-endpoint", endpoint, "-retry-for", "30s", path}
		if got := run(t.Context(), args, nil, &stdout, stderr, env.Map{}); got != 1 {
			t.Errorf("status %d, want 1", got)
		}
		if stderr.first > 100*time.Millisecond {
			t.Errorf("the first word came after %v: %s", stderr.first, stderr)
		}
		lines := strings.Split(stderr.String(), "\n")
		if !strings.Contains(lines[0], "connection refused; trying again for 30s") || strings.Count(stderr.String(), "trying again") != 1 {
			t.Errorf("stderr\n%s\nwant what is wrong in the first line, and once", stderr)
		}
		if took := time.Since(stderr.began); took < 10*time.Second || took > time.Minute {
			t.Errorf("it was tried for %v, want about 30s", took)
		}
		if !strings.HasPrefix(stdout.String(), "sent 0 spans to ") {
			t.Errorf("stdout %q", &stdout)
		}
	})
}
