package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/env"
)

const erase = "\r\x1b[K"

// screen is where the goroutine of a progress writes. A bubble's clock orders
// nothing, so that what it writes needs a lock.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// taken takes what was written up to now. In a bubble, all that can be written
// has been.
func taken(s *screen) string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	s.text.Reset()
	return text
}

func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b screen
		p := newProgress(&b, env.Map{}.Lookup)
		p.line, p.width = true, 12
		time.Sleep(time.Hour)
		if got := taken(&b); got != "" {
			t.Errorf("before there is anything to say: %q", got)
		}
		p.say(func() string { return "1 span read" })
		time.Sleep(999 * time.Millisecond)
		if got := taken(&b); got != "" {
			t.Errorf("within a second: %q", got)
		}
		time.Sleep(time.Millisecond)
		if got := taken(&b); got != erase+"1 span read" {
			t.Errorf("after a second: %q", got)
		}
		p.say(func() string { return "日本語です and more" })
		time.Sleep(200 * time.Millisecond)
		if got := taken(&b); got != erase+"日本語です…" {
			t.Errorf("0.2 s later, on 12 columns: %q", got)
		}
		p.warn("trouble\x07")
		if got := taken(&b); got != erase+"waymark: trouble\\x07\n" {
			t.Errorf("a warning: %q", got)
		}
		p.warn("more")
		if got := taken(&b); got != "waymark: more\n" {
			t.Errorf("a warning after one: %q", got)
		}
		time.Sleep(200 * time.Millisecond)
		taken(&b)
		p.end()
		if got := taken(&b); got != erase {
			t.Errorf("at the end: %q", got)
		}
		p.say(func() string { return "late" })
		time.Sleep(time.Hour)
		p.end()
		if got := taken(&b); got != "" {
			t.Errorf("after the end: %q", got)
		}
	})
}

func TestProgressElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b screen
		p := newProgress(&b, env.Map{}.Lookup)
		p.say(func() string { return "1 span read" })
		time.Sleep(9 * time.Second)
		if got := taken(&b); got != "" {
			t.Errorf("within ten seconds: %q", got)
		}
		time.Sleep(12 * time.Second)
		if got := taken(&b); got != "waymark: 1 span read\nwaymark: 1 span read\n" {
			t.Errorf("after 21 seconds: %q", got)
		}
		p.end()
		if got := taken(&b); got != "" {
			t.Errorf("at the end: %q", got)
		}
	})
}

// TestProgressEndsWithTheOutput, unless that goes to a file.
func TestProgressEndsWithTheOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var err screen
		p := newProgress(&err, env.Map{}.Lookup)
		p.line = true
		p.say(func() string { return "working" })
		w := p.beforeOutput(&out)
		time.Sleep(time.Second)
		if got := taken(&err); got != erase+"working" {
			t.Errorf("before the output: %q", got)
		}
		if _, e := w.Write([]byte("result")); e != nil || out.String() != "result" {
			t.Errorf("written: %q, %v", &out, e)
		}
		time.Sleep(time.Minute)
		if got := taken(&err); got != erase {
			t.Errorf("after the output: %q", got)
		}
	})
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if p := newProgress(&bytes.Buffer{}, env.Map{}.Lookup); p.beforeOutput(f) != f {
		t.Error("output to a file ends the progress")
	}
}

// slowInput begins after a pause.
type slowInput struct {
	io.Reader
	pause time.Duration
}

func (s *slowInput) Read(b []byte) (int, error) {
	time.Sleep(s.pause)
	s.pause = 0
	return s.Reader.Read(b)
}

// TestEveryVerbShowsProgress while it reads what comes slowly.
func TestEveryVerbShowsProgress(t *testing.T) {
	t.Parallel()
	lines := string(shopLines(t))
	for _, args := range [][]string{
		{"tree"},
		{"tree", "-json"},
		{"list"},
		{"list", "-spans"},
		{"stats"},
		{"convert", "-to", "csv"},
		{"html"},
		{"check"},
		{"send", "-endpoint", "http://127.0.0.1:1", "-retry-for", "1ns"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stdout bytes.Buffer
			var stderr screen
			in := &slowInput{strings.NewReader(lines), 15 * time.Second}
			run(t.Context(), append(args, "-"), in, &stdout, &stderr, env.Map{})
			if got := taken(&stderr); !strings.HasPrefix(got, "waymark: 0 spans read\n") && !strings.HasPrefix(got, "waymark: nothing sent yet\n") {
				t.Errorf("%q: stderr %q", args, got)
			}
		})
	}
}
