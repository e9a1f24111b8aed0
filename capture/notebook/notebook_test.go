//go:build linux || darwin

package notebook

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/traces"
)

// MIMEType and DisplayData are what GoNB's kernel decodes.
type MIMEType string

type DisplayData struct {
	Data      map[MIMEType]any
	Metadata  map[string]any
	DisplayID string
}

// cells are programs of a notebook: each runs in a process of its own.
var cells = map[string]func(){
	"passes": func() { Cell(work) },
	"fails": func() {
		Cell(func(ctx context.Context) error { _ = work(ctx); return errors.New("the cell's error") })
	},
	"panics": func() { Cell(func(ctx context.Context) error { _ = work(ctx); panic("the cell's panic") }) },
	"shows twice": func() {
		Cell(work, capture.Name("first"))
		Cell(work, capture.Name("second"))
	},
	"exits at once": func() { Cell(work); os.Exit(3) }, //nolint:revive // the main of a cell
}

func work(ctx context.Context) error {
	_, err := capture.Run(ctx, "not this one", func(context.Context) error { return nil })
	return err
}

func TestMain(m *testing.M) {
	if cell := cells[os.Getenv("NOTEBOOK_CELL")]; cell != nil {
		cell()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run runs a cell the way GoNB does, and returns what the kernel was sent. Like
// GoNB it stops reading when the program has ended.
func run(t *testing.T, cell string) (shown []string, stdout, stderr string, err error) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "gonb_pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan []string, 1)
	ended := make(chan struct{})
	go func() {
		reader, err := os.Open(pipe)
		if err != nil {
			got <- []string{err.Error()}
			return
		}
		defer func() { _ = reader.Close() }()
		go func() { <-ended; _ = reader.SetReadDeadline(time.Now()) }()
		var all []string
		for decoder := gob.NewDecoder(reader); ; {
			var data DisplayData
			if err := decoder.Decode(&data); err != nil {
				got <- all
				return
			}
			html, ok := data.Data["text/html"].(string)
			if !ok {
				html = "no HTML"
			}
			all = append(all, html)
		}
	}()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "NOTEBOOK_CELL="+cell, "GONB_PIPE="+pipe)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	close(ended)
	// A program that never opened the pipe has not let the reader in.
	if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = w.Close()
	}
	return <-got, out.String(), errs.String(), err
}

func TestCellInNotebook(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		shown  []string
		stderr string
		exit   int
	}{
		"passes":        {[]string{"└── cell ("}, "", 0},
		"fails":         {[]string{"[ERROR]"}, "the cell&#39;s error", 2},
		"panics":        {[]string{"[ERROR]"}, "the cell's panic", 2},
		"shows twice":   {[]string{"└── first (", "└── second ("}, "", 0},
		"exits at once": {[]string{"└── cell ("}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown, stdout, stderr, err := run(t, name)
			exit := 0
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
				exit = failed.ExitCode()
			}
			if exit != want.exit || !strings.Contains(stderr, strings.ReplaceAll(want.stderr, "&#39;", "'")) {
				t.Errorf("exit %d, want %d; stderr %q", exit, want.exit, stderr)
			}
			if len(shown) != len(want.shown) || stdout != "" {
				t.Fatalf("shown %q, stdout %q", shown, stdout)
			}
			for i, part := range want.shown {
				for _, part := range []string{part, `class="waymark-flame"`, `class="waymark-trace"`, "download="} {
					if !strings.Contains(shown[i], part) {
						t.Errorf("no %q in %s", part, shown[i])
					}
				}
			}
		})
	}
}

// Outside of a notebook a cell prints its tree, and fails all the same.
func TestCellOutside(t *testing.T) {
	t.Parallel()
	for name, exit := range map[string]int{"passes": 0, "fails": 2, "panics": 2} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "NOTEBOOK_CELL="+name, "GONB_PIPE=")
		out, err := cmd.Output()
		got := 0
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			got = failed.ExitCode()
		}
		if got != exit || !strings.HasPrefix(string(out), "└── cell (") {
			t.Errorf("%s: exit %d, stdout %q", name, got, out)
		}
	}
}

func result(t *testing.T) *capture.Result {
	t.Helper()
	tp := sdktrace.NewTracerProvider()
	res, err := capture.Run(t.Context(), "cell", func(ctx context.Context) error {
		_, s := tp.Tracer("shop").Start(ctx, "inside")
		s.End()
		return nil
	}, capture.WithTracerProvider(tp))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A notebook that cannot be reached costs the tree nothing.
func TestShowFallsBack(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, pipe := range map[string]string{"missing": file + "x", "no pipe": file, "a folder": filepath.Dir(file)} {
		var out strings.Builder
		err := show(result(t), pipe, &out, defaultLimits())
		if err == nil || !strings.HasPrefix(err.Error(), "notebook: show: ") || !strings.Contains(err.Error(), pipe) {
			t.Errorf("%s: error %v", name, err)
		}
		if !strings.HasPrefix(out.String(), "└── cell (") {
			t.Errorf("%s: printed %q", name, out.String())
		}
		if data, err := os.ReadFile(file); err != nil || len(data) > 0 {
			t.Errorf("%s: the file was written", name)
		}
	}
	var out strings.Builder
	if err := show(capture.NewResult(nil), "", &out, defaultLimits()); err != nil || out.String() != "(no spans)\n(there are no spans in it)\n" {
		t.Errorf("empty: %v, %q", err, out.String())
	}
}

// A kernel that is not there, goes away, or sleeps costs a bounded time, and not
// the tree.
func TestKernelThatFails(t *testing.T) {
	t.Parallel()
	big := make([]*traces.Span, 3000)
	for i := range big {
		big[i] = &traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{byte(i), byte(i >> 8), 1}, Name: "s", StartUnixNano: 1, EndUnixNano: 2}
	}
	for name, kernel := range map[string]func(pipe string) *os.File{
		"none": func(string) *os.File { return nil },
		"goes away": func(pipe string) *os.File {
			f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
			}
			go func() { _, _ = f.Read(make([]byte, 100)); _ = f.Close() }()
			return nil
		},
		"sleeps": func(pipe string) *os.File {
			f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
			}
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			if f := kernel(pipe); f != nil {
				defer func() { _ = f.Close() }()
			}
			var out strings.Builder
			err := show(capture.NewResult(big), pipe, &out, limits{time.Millisecond, time.Millisecond, time.Millisecond})
			if err == nil || !strings.HasPrefix(err.Error(), "notebook: show: ") || !strings.HasPrefix(out.String(), "├── s (") {
				t.Errorf("error %v, printed %.30q", err, out.String())
			}
		})
	}
}

// A program may use GoNB's own package beside: two encoders, one decoder.
func TestBesideGoNB(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	theirs, ours := gob.NewEncoder(&stream), gob.NewEncoder(&stream)
	for range 2 {
		if err := theirs.Encode(DisplayData{Data: map[MIMEType]any{"text/html": "theirs"}, Metadata: map[string]any{"k": 1}}); err != nil {
			t.Fatal(err)
		}
		if err := ours.Encode(displayData{map[mimeType]any{"text/html": "ours"}}); err != nil {
			t.Fatal(err)
		}
	}
	decoder := gob.NewDecoder(&stream)
	for i, want := range []string{"theirs", "ours", "theirs", "ours"} {
		var data DisplayData
		if err := decoder.Decode(&data); err != nil || data.Data["text/html"] != want {
			t.Fatalf("message %d: %v, %v", i, data, err)
		}
	}
}

func TestFlame(t *testing.T) {
	t.Parallel()
	span := func(id, parent byte, name string, start, end uint64) *traces.Span {
		return &traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{id}, ParentID: traces.SpanID{parent}, Name: name, StartUnixNano: start, EndUnixNano: end}
	}
	failed := span(4, 1, "failed", 160, 170)
	failed.Status.Code = traces.StatusError
	var b strings.Builder
	flame(&b, traces.NewSet([]*traces.Span{
		span(1, 0, `<script>alert("x")</script>`, 100, 200),
		span(2, 1, "a", 110, 150),
		span(3, 1, "beside a", 120, 160),
		failed,
		span(5, 2, "open", 115, 0),
		span(6, 1, "no times", 0, 0),
	}))
	html := b.String()
	for _, want := range []string{
		"left:0.0000%;width:100.0000%;min-width:1px;top:0px",
		"left:10.0000%;width:40.0000%;min-width:1px;top:18px", // a
		"&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;",
		"#ff8a80", "(open)", "height:72px", "shows 5 of 6 spans",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	if strings.Contains(html, "<script") {
		t.Errorf("markup in %s", html)
	}
	b.Reset()
	flame(&b, traces.NewSet(nil))
	if b.Len() > 0 {
		t.Errorf("empty: %s", b.String())
	}
}
