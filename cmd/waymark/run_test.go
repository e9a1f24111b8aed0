package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
)

// TestHostileText holds every verb to printing no control character of a span.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;owned\x07\x9b31m\u202e\r\n"
	stubs := testspans.Bad()
	for i := range stubs {
		stubs[i].Name += evil
		stubs[i].Status.Description = evil
		stubs[i].InstrumentationScope.Name = evil
	}
	stubs = append(stubs, testspans.Stubs(testspans.Span{Trace: 9, ID: 1, Name: evil, Service: evil, Error: evil})...)
	var lines bytes.Buffer
	if err := testspans.Write(&lines, stubs); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, append(lines.Bytes(), "{\"\\u001b[31m\":1}\n"...))
	for _, args := range [][]string{
		{"tree", "-n", "0", "-events", "-all"},
		{"tree", "-json"},
		{"list"},
		{"list", "-json"},
		{"list", "-spans"},
		{"stats"},
		{"stats", "-json"},
		{"check"},
		{"check", "-json"},
		{"convert", "-to", "zipkin"},
		{"list", "-where", "name=" + evil + "x"},
		{"list", evil},
		{evil},
	} {
		var stdout, stderr bytes.Buffer
		if len(args) > 1 || args[0] != evil {
			args = append(args, path)
		}
		run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, env.Map{})
		for name, out := range map[string]string{"stdout": stdout.String(), "stderr": stderr.String()} {
			bad := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || r == '\u202e') }
			if name == "stdout" && slices.Contains(args, "-json") {
				bad = unicode.IsControl // JSON is for programs; a direction mark is text there
				out = strings.TrimSuffix(out, "\n")
			}
			if args[0] == "convert" && name == "stdout" {
				continue // the format's own rules
			}
			if at := strings.IndexFunc(strings.ToValidUTF8(out, "\x00"), bad); at >= 0 {
				t.Errorf("%q: %s holds %q", args, name, out[max(at-30, 0):min(at+10, len(out))])
			}
		}
	}
}

// closedPipe is what stdout is after head has ended.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestClosedStdoutEndsQuietly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	for _, args := range [][]string{
		{"tree"},
		{"tree", "-json"},
		{"list"},
		{"list", "-spans"},
		{"stats"},
		{"html"},
		{"convert", "-to", "csv"},
		{"convert", "-to", "chrome"},
		{"tail", "-all"},
		{"tail", "-all", "-json"},
	} {
		var stderr bytes.Buffer
		got := run(t.Context(), append(args, path), strings.NewReader(""), closedPipe{}, &stderr, env.Map{})
		if got != 0 || stderr.Len() > 0 {
			t.Errorf("%q with a closed stdout: status %d, stderr %q", args, got, &stderr)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out.json")
	for _, args := range [][]string{{"list"}, {"convert", "-to", "otlp-json", "-o", out}, {"send", "-endpoint", "http://127.0.0.1:1"}} {
		var stdout, stderr bytes.Buffer
		got := run(ctx, append(args, path), strings.NewReader(""), &stdout, &stderr, env.Map{})
		if got != 1 || stderr.String() != "waymark: interrupted\n" {
			t.Errorf("%q when interrupted: status %d, stderr %q", args, got, &stderr)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); err != nil || len(left) > 0 {
		t.Errorf("an interrupted convert left %q, %v", left, err)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	for cond, want := range map[string]int{
		`name="SELECT users"`:            1,
		"service=web":                    5,
		"service!=web":                   1,
		"service.name=pay":               1, // of the resource
		"has:host.name":                  6,
		"kind=SERVER":                    4,
		"status=error":                   2,
		"status!=Error":                  4,
		"scope=example.com/pay":          1,
		"http.response.status_code=200":  2,
		"http.response.status_code!=200": 4,
		"cached=true":                    1,
		"has:user.id":                    3,
		"user.id=":                       0,
		"nothing":                        0,
		"nothing!=x":                     6,
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), []string{"list", "-spans", "-where", cond, path}, nil, &stdout, &stderr, env.Map{}); got != 0 {
			t.Errorf("-where %q: status %d: %s", cond, got, &stderr)
		}
		if got := strings.Count(stdout.String(), "\n") - 1; got != want {
			t.Errorf("-where %q: %d spans, want %d:\n%s", cond, got, want, &stdout)
		}
	}
}
