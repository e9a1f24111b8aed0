//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns asks the terminal for its width; ok reports whether f is one.
func columns(f *os.File) (n int, ok bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	_ = conn.Control(func(fd uintptr) { // a file that is closed is no terminal
		size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		if err == nil {
			n, ok = int(size.Col), true
		}
	})
	return n, ok
}
