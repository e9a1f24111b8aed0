package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/render"
)

// When progress is shown: on a terminal one line that changes, elsewhere a line
// now and then.
const (
	quietFor   = time.Second
	drawEvery  = 200 * time.Millisecond
	printEvery = 10 * time.Second
)

// progress says on stderr how far a command got, if it takes long. All that goes
// to stderr passes through it, so that no line is torn. The zero progress says
// nothing until [progress.say].
type progress struct {
	stderr io.Writer
	width  int // of stderr as a terminal; 0: it does not know
	line   bool

	mu    sync.Mutex
	text  func() string
	drawn bool
	stop  chan struct{} // nil: not running
	done  chan struct{}
	ended bool
}

func newProgress(stderr io.Writer, lookup func(string) (string, bool)) *progress {
	return &progress{stderr: stderr, line: terminal.IsTerminal(stderr), width: terminal.Width(stderr, lookup)}
}

// say sets what is shown from here on. Text is called by another goroutine, and
// what it returns is clean.
func (p *progress) say(text func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	if p.stop == nil && !p.ended {
		p.stop, p.done = make(chan struct{}), make(chan struct{})
		go p.run(p.stop, p.done)
	}
}

func (p *progress) run(stop, done chan struct{}) {
	defer close(done)
	next := quietFor
	if !p.line {
		next = printEvery
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(next):
		}
		p.show()
		if p.line {
			next = drawEvery
		}
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text()
	if !p.line {
		fmt.Fprintln(p.stderr, "waymark: "+text)
		return
	}
	if p.width > 0 {
		text = terminal.Shorten(text, p.width-1) // the last column would begin another line
	}
	fmt.Fprint(p.stderr, "\r\x1b[K"+text)
	p.drawn = true
}

// warn prints a line.
func (p *progress) warn(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintln(p.stderr, "waymark: "+render.FormatName(text))
}

func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.stderr, "\r\x1b[K")
		p.drawn = false
	}
}

// end takes the changing line away, for good.
func (p *progress) end() {
	p.mu.Lock()
	stop, done := p.stop, p.done
	p.stop, p.ended = nil, true
	p.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// beforeOutput ends the progress at the first write: where the output is seen, it
// says itself how far the command got, and the two would be among each other. A
// file is seen by nobody yet.
func (p *progress) beforeOutput(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return w
		}
	}
	return &lastWord{p, w}
}

type lastWord struct {
	progress *progress
	w        io.Writer
}

func (l *lastWord) Write(b []byte) (int, error) {
	l.progress.end()
	return l.w.Write(b)
}
