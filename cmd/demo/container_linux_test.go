package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestContainer runs the demo as a container does: as process 1 of its own
// namespace, and where asked without a home or on a read-only disk. Each lack
// is one warning, the spans are counted, and each request is answered.
func TestContainer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("making namespaces and mounts takes root")
	}
	for name, tt := range map[string]struct {
		setUp    string // run by a shell before the demo takes its place
		vars     []string
		code     int
		warnings int
		account  string
	}{
		"process 1":      {"mount -t tmpfs none $DIR", []string{"XDG_STATE_HOME=$DIR"}, 0, 0, "file: 240 ended, 240 exported, 0 lost"},
		"read-only disk": {"mount -t tmpfs -o ro none $DIR", []string{"XDG_STATE_HOME=$DIR"}, 1, 1, "240 ended, 0 exported, 240 lost"},
		"no home":        {"true", nil, 1, 1, "240 ended, 0 exported, 240 lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := strings.ReplaceAll("mount --make-rprivate / && "+tt.setUp+` && test $$ = 1 && exec "$0" -self-load 120`, "$DIR", dir)
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", script, os.Args[0])
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), asDemo + "=1", "DEMO_TRACING=true"}
			for _, v := range tt.vars {
				cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "$DIR", dir))
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit status %d, %v; want %d", code, err, tt.code)
			}
			for _, want := range []string{"sent 120 requests, 120 were answered as the route promises", tt.account} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("stdout has no %q", want)
				}
			}
			if n := strings.Count(stderr.String(), "variable="); n != tt.warnings {
				t.Errorf("%d findings, want %d", n, tt.warnings)
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", &stdout, &stderr)
			}
		})
	}
}
