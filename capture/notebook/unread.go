//go:build linux || darwin

package notebook

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes of a pipe the other end has not read.
func unread(f *os.File) int {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	err = conn.Control(func(fd uintptr) {
		if got, err := unix.IoctlGetInt(int(fd), fionread); err == nil {
			n = got
		}
	})
	if err != nil {
		return 0
	}
	return n
}
