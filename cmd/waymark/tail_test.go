package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/testspans"
)

// following runs tail until its test ends.
type following struct {
	t      *testing.T
	out    chan string // chunks of output
	text   string
	stop   context.CancelFunc
	status chan int
	stderr bytes.Buffer
}

func follow(t *testing.T, args ...string) *following {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := &following{t: t, out: make(chan string, 100), stop: stop, status: make(chan int, 1)}
	r, w := io.Pipe()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				f.out <- string(buf[:n])
			}
			if err != nil {
				close(f.out)
				return
			}
		}
	}()
	go func() {
		f.status <- run(ctx, append([]string{"tail"}, args...), strings.NewReader(""), w, &f.stderr, env.Map{})
		_ = w.Close()
	}()
	return f
}

// until waits for text in the output.
func (f *following) until(text string) {
	f.t.Helper()
	limit := time.After(30 * time.Second)
	for !strings.Contains(f.text, text) {
		select {
		case s := <-f.out:
			f.text += s
		case <-limit:
			f.t.Fatalf("no %q in the output of tail:\n%s", text, f.text)
		}
	}
}

// end interrupts tail, which is a good end.
func (f *following) end() string {
	f.t.Helper()
	f.stop()
	for s := range f.out {
		f.text += s
	}
	if got := <-f.status; got != 0 {
		f.t.Errorf("tail returned %d: %s", got, &f.stderr)
	}
	return f.text
}

func shopLines(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := testspans.Write(&b, testspans.Shop()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func badLines(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := testspans.Write(&b, testspans.Bad()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTailWaitsAndFollows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	f := follow(t, "-all", "-where", "kind!=client", path)
	write(t, path, shopLines(t))
	f.until("POST /checkout")
	// The server starts again: the file is cleared and written anew.
	write(t, path, badLines(t))
	f.until("notes")
	text := f.end()
	if want := "10:00:00.180    75.00 ms  pay  POST /charge  [ERROR: card refused]  abcd0200000000000000000000000002\n"; !strings.Contains(text, want) {
		t.Errorf("tail printed\n%s\nwithout %q", text, want)
	}
	if strings.Contains(text, "SELECT") || strings.Contains(text, "\x1b") {
		t.Errorf("tail printed a client span or a control character:\n%q", text)
	}
	if f.stderr.Len() > 0 {
		t.Errorf("tail reported %q", &f.stderr)
	}
}

func TestTailTree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	f := follow(t, "-all", "-tree", path)
	f.until("cached=True")
	text := f.end()
	want := "└── GET /users/{id} (10.00 ms) {scope=example.com/web} [http.route='/users/{id}', http.response.status_code=200, user.id='u1']\n" +
		"    └── SELECT users (2.00 ms) {scope=example.com/web} [db.system='sqlite', rows=3]\n"
	if !strings.Contains(text, want) {
		t.Errorf("tail -tree printed\n%s\nwithout\n%s", text, want)
	}
}

// TestTailTreeWaitsForTheRest gives it the roots' lines first, as they may come
// in a file whose lines are of one scope each.
func TestTailTreeWaitsForTheRest(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	for _, root := range []bool{true, false} {
		for _, s := range testspans.Shop() {
			if !s.Parent.IsValid() != root {
				continue
			}
			if err := testspans.Write(&b, tracetest.SpanStubs{s}); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, b.Bytes())
	f := follow(t, "-all", "-tree", path)
	f.until("rows=3]\n") // by itself, not at the end
	text := f.end()
	want := "abcd0100000000000000000000000001  2026-01-31T10:00:00.000Z  web\n" +
		"└── GET /users/{id} (10.00 ms) {scope=example.com/web} [http.route='/users/{id}', http.response.status_code=200, user.id='u1']\n" +
		"    └── SELECT users (2.00 ms) {scope=example.com/web} [db.system='sqlite', rows=3]\n"
	if !strings.Contains(text, want) {
		t.Errorf("tail -tree printed\n%s\nwithout\n%s", text, want)
	}
}

func TestTailJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	write(t, path, shopLines(t))
	f := follow(t, "-all", "-json", "-where", "db.system=sqlite", "-where", "rows=3", path)
	f.until("\n")
	text := f.end()
	if want := `{"schema":"waymark.tail/v1","trace_id":"abcd0100000000000000000000000001","span_id":"0000000000000002","parent_id":"0000000000000001",`; !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 {
		t.Errorf("tail -json printed\n%s\nwant one line beginning %s", text, want)
	}
}
