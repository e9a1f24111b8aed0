// Package testpty gives tests a terminal.
package testpty

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo terminal. What is written to Tty is what a program prints.
type Terminal struct {
	Tty    *os.File
	master *os.File
	mu     sync.Mutex
	text   strings.Builder
	done   chan struct{}
}

// Test is what is needed of a [testing.T].
type Test interface {
	Helper()
	Fatal(...any)
	Skip(...any)
	Cleanup(func())
}

// Open makes a terminal of so many columns, which ends with the test. A system
// without pseudo terminals skips it.
func Open(t Test, columns uint16) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("the system gives no pseudo terminal: ", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("the system gives no pseudo terminal: ", err)
	}
	p := &Terminal{Tty: tty, master: master, done: make(chan struct{})}
	go p.read()
	t.Cleanup(func() { _, _ = p.End(), p.master.Close() })
	return p
}

func (p *Terminal) read() {
	defer close(p.done)
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.text.Write(buf[:n])
		p.mu.Unlock()
		if err != nil { // EIO, when the last program has closed its end
			return
		}
	}
}

// Text is what was printed up to now, with "\n" at the ends of lines.
func (p *Terminal) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.text.String(), "\r\n", "\n")
}

// End closes the terminal and returns all that was printed.
func (p *Terminal) End() string {
	_ = p.Tty.Close()
	<-p.done
	return p.Text()
}
