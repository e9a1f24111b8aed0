package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// account is a destination's line of the server's report.
type account struct {
	Name, Target                                            string
	Started, Ended, Open                                    uint64
	Queued, Exported, Failed, Uncertain, Dropped, Discarded uint64
}

type report struct{ Destinations []account }

// of is the account of the destination.
func (r report) of(t *testing.T, name string) account {
	t.Helper()
	i := slices.IndexFunc(r.Destinations, func(a account) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("no destination %q in the report: %+v", name, r)
	}
	return r.Destinations[i]
}

// balanced fails unless each span that ended is in one place.
func (a account) balanced(t *testing.T) {
	t.Helper()
	if sum := a.Queued + a.Exported + a.Failed + a.Dropped; sum != a.Ended || a.Started != a.Ended+a.Open || a.Uncertain > a.Failed {
		t.Errorf("the account does not add up: %+v", a)
	}
}

// tracedServer is a running e2eserver.
type tracedServer struct {
	*process

	URL         string
	Enabled     bool
	Destination string
	Error       string

	files string // the folder of its span files
}

// ending is what the server says last.
type ending struct {
	Report   report
	Error    string
	Shutdown time.Duration `json:"shutdown_nanos"`
}

// startServer starts a server with tracing on and the variables, and nothing
// else in its environment.
func startServer(t *testing.T, vars map[string]string, args ...string) *tracedServer {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "XDG_STATE_HOME": dir, "E2E_TRACING": "true", "OTEL_BSP_SCHEDULE_DELAY": "100"}
	maps.Copy(env, vars)
	cmd := exec.Command(serverPath, args...)
	cmd.Env = []string{} // not nil, which would be the environment of the test
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	s := &tracedServer{process: startProcess(t, "server", cmd), files: filepath.Join(dir, "e2e", "traces")}
	if err := json.Unmarshal([]byte(s.line(t)), s); err != nil {
		t.Fatal(err)
	}
	if !s.Enabled || s.Error != "" {
		t.Fatalf("tracing is not on: %q\n%s", s.Error, s.log)
	}
	return s
}

// get calls the route, which must answer 200, and returns the body.
func (s *tracedServer) get(t *testing.T, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("the server does not answer: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v: %s", path, resp.Status, err, body)
	}
	return string(body)
}

// greet calls the fast route n times: 2n spans.
func (s *tracedServer) greet(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if got, want := s.get(t, fmt.Sprintf("/hello/%d", i)), fmt.Sprintf("hello, %d\n", i); got != want {
			t.Fatalf("answer %q, want %q", got, want)
		}
	}
}

// otlp is the account so far.
func (s *tracedServer) otlp(t *testing.T) account {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(s.get(t, "/report")), &r); err != nil {
		t.Fatal(err)
	}
	return r.of(t, "otlp")
}

// stop orders the server to stop, and returns what it says at the end.
func (s *tracedServer) stop(t *testing.T) ending {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	var e ending
	if err := json.Unmarshal([]byte(s.line(t)), &e); err != nil {
		t.Fatal(err)
	}
	s.wait(t)
	if s.err != nil {
		t.Errorf("the server ended with %v", s.err)
	}
	for _, a := range e.Report.Destinations {
		a.balanced(t)
		if a.Queued != 0 || a.Open != 0 {
			t.Errorf("something is left after the end: %+v", a)
		}
	}
	return e
}

// spans are what the server has written to its files.
func (s *tracedServer) spans(t *testing.T) spanSet {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.files, "spans*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return readSpans(t, paths...)
}

// quiet fails when the server's log or its last words have the secret.
func (s *tracedServer) quiet(t *testing.T, secret string, e ending) {
	t.Helper()
	if strings.Contains(s.log.String()+e.Error, secret) {
		t.Errorf("the secret %q is in the log: %s", secret, s.log)
	}
}
