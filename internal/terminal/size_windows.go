package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// columns asks the console for its width; ok reports whether f is one.
func columns(f *os.File) (n int, ok bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	_ = conn.Control(func(fd uintptr) { // a file that is closed is no console
		var info windows.ConsoleScreenBufferInfo
		if windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info) == nil {
			n, ok = int(info.Window.Right-info.Window.Left)+1, true
		}
	})
	return n, ok
}
