package main

import (
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/internal/terminal"
)

// progress shows how far a command got: on a terminal one line that changes,
// elsewhere a line now and then.
type progress struct {
	call  *call
	every time.Duration
	line  bool
	next  time.Time
	drawn bool
}

func newProgress(c *call) *progress {
	p := &progress{call: c, every: 10 * time.Second, line: terminal.IsTerminal(c.stderr)}
	if p.line {
		p.every = 200 * time.Millisecond
	}
	p.next = time.Now().Add(p.every)
	return p
}

// show prints the text when it is time to.
func (p *progress) show(text func() string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	if !p.line {
		p.call.warn("%s", text())
		return
	}
	fmt.Fprintf(p.call.stderr, "\r\x1b[K%s", terminal.Cut(text(), 79))
	p.drawn = true
}

// end takes the changing line away.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.call.stderr, "\r\x1b[K")
	}
}
