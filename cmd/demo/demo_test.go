package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// asDemo makes the test binary the demo itself, for tests that need a process.
const asDemo = "WAYMARK_TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
	}
	os.Exit(m.Run())
}

// demo runs the demo in the test's process; the variables are all it sees.
func demo(t *testing.T, vars env.Map, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), args, &out, &errOut, vars)
	return code, out.String(), errOut.String()
}

func TestSelfLoad(t *testing.T) {
	for _, app := range []string{"demo", "marimo"} {
		state := t.TempDir()
		vars := env.Map{strings.ToUpper(app) + "_TRACING": "true", "XDG_STATE_HOME": state}
		code, stdout, stderr := demo(t, vars, "-app", app, "-self-load", "120")
		if code != 0 {
			t.Fatalf("%s: exit status %d\n%s%s", app, code, stdout, stderr)
		}
		file := filepath.Join(state, app, "traces", "spans.jsonl")
		// 20 of the 120 are checkouts, which call /price/{id}.
		for _, want := range []string{
			"sent 120 requests, 120 were answered as the route promises; the server counted 140",
			file + " holds 240 spans, 140 of them server spans",
			"└── GET /checkout/{id} (", "    │   └── GET /price/{id} (", " 0 lost",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: stdout has no %q:\n%s", app, want, stdout)
			}
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the file is %v, %v; want the owner's alone", app, info.Mode(), err)
		}
	}
}

func TestSelfLoadOff(t *testing.T) {
	state := t.TempDir()
	code, stdout, stderr := demo(t, env.Map{"XDG_STATE_HOME": state}, "-self-load", "12")
	if code != 0 || !strings.Contains(stdout, "tracing is off: set DEMO_TRACING=true") {
		t.Errorf("exit status %d\n%s%s", code, stdout, stderr)
	}
	if entries, err := os.ReadDir(state); err != nil || len(entries) > 0 {
		t.Errorf("the state folder holds %v, %v; want nothing", entries, err)
	}
}

func TestExplain(t *testing.T) {
	code, stdout, stderr := demo(t, env.Map{
		"MARIMO_TRACING": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317", "OTEL_BSP_MAX_QUEUE_SIZE": "-5",
	}, "-app", "marimo", "-explain")
	if code != 0 || stderr != "" {
		t.Errorf("exit status %d, stderr %q", code, stderr)
	}
	for _, want := range []string{"MARIMO_TRACING", "http://localhost:4317", "OTEL_BSP_MAX_QUEUE_SIZE", `"-5"`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the plan does not say %q:\n%s", want, stdout)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args         []string
		code         int
		stdout, line string
	}{
		{[]string{"-h"}, 0, usage, ""},
		{[]string{"-nope"}, 2, "", "demo: flag provided but not defined: -nope\n"},
		{[]string{"x"}, 2, "", "demo: unexpected argument \"x\"\n"},
		{[]string{"-self-load", "-1"}, 2, "", "demo: -self-load -1: want a number of requests\n"},
	} {
		code, stdout, stderr := demo(t, env.Map{}, tt.args...)
		if code != tt.code || stdout != tt.stdout || stderr != tt.line {
			t.Errorf("demo %q = %d, %q, %q; want %d, %q, %q", tt.args, code, stdout, stderr, tt.code, tt.stdout, tt.line)
		}
	}
}

func TestPortInUse(t *testing.T) {
	code, _, stderr := demo(t, env.Map{}, "-addr", "localhost:-1")
	if code != 1 || !strings.Contains(stderr, "demo: listen tcp") {
		t.Errorf("exit status %d, stderr %q", code, stderr)
	}
}

func TestProfileDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "profiles")
	code, stdout, stderr := demo(t, env.Map{}, "-profile-dir", dir, "-self-load", "60")
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, stdout, stderr)
	}
	for _, kind := range []string{"cpu.pprof", "heap.pprof", "allocs.pprof", "goroutine.pprof", "fgprof.pprof", "profiles.json"} {
		if found, err := filepath.Glob(filepath.Join(dir, "demo-*."+kind)); err != nil || len(found) != 1 {
			t.Errorf("%s: found %v, %v; want one\n%s", kind, found, err, stderr)
		}
	}
}

// TestDiskFills limits the size of the files that the process may write, which
// is a disk that fills half way: each request is answered all the same, and the
// account says what is missing.
func TestDiskFills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell with ulimit")
	}
	t.Parallel()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", `ulimit -f 200 && exec "$0" -self-load 1200`, os.Args[0])
	cmd.Env = append(os.Environ(), asDemo+"=1", "DEMO_TRACING=true", "XDG_STATE_HOME="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := cmd.ProcessState.ExitCode(); exit != 1 {
		t.Errorf("exit status %d, %v; want 1, for spans were lost\n%s", exit, err, &stderr)
	}
	if want := "sent 1200 requests, 1200 were answered as the route promises"; !strings.Contains(stdout.String(), want) {
		t.Errorf("stdout has no %q:\n%s", want, &stdout)
	}
	account := regexp.MustCompile(`file: (\d+) ended, (\d+) exported, (\d+) lost`).FindStringSubmatch(stdout.String())
	if account == nil {
		t.Fatalf("no account in\n%s", &stdout)
	}
	var ended, exported, lost uint64
	if _, err := fmt.Sscan(strings.Join(account[1:], " "), &ended, &exported, &lost); err != nil {
		t.Fatal(err)
	}
	if ended != 2400 || exported+lost != ended || lost == 0 || exported == 0 {
		t.Errorf("%d ended, %d exported, %d lost; want 2400 = exported + lost, and some of both", ended, exported, lost)
	}
	holds := regexp.MustCompile(`holds (\d+) spans`).FindStringSubmatch(stdout.String())
	if holds == nil || holds[1] != strconv.FormatUint(exported, 10) {
		t.Errorf("the file holds %v spans, exported were %d", holds, exported)
	}
}

// bootstrap takes the executable's name then; so must what the demo says.
func TestABlankAppIsTheExecutablesName(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-app", " ", "-self-load", "1"}, &stdout, &stderr, env.Map{}); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	if app := bootstrap.Explain(bootstrap.Config{Lookup: env.Map{}}).App; !strings.Contains(stdout.String(), "set "+env.Prefix(app)+"_TRACING=true") {
		t.Errorf("the switch of %q is not named:\n%s", app, &stdout)
	}
}
