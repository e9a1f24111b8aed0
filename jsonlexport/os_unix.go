//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jsonlexport

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from following a link that was put there after the
// check, and from waiting for the other end of a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func lockFile(f *os.File) error   { return flock(f, "lock", syscall.LOCK_EX|syscall.LOCK_NB) }
func unlockFile(f *os.File) error { return flock(f, "unlock", syscall.LOCK_UN) }

func flock(f *os.File, op string, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case err != nil:
			return &fs.PathError{Op: op, Path: f.Name(), Err: err}
		default:
			return nil
		}
	}
}

func sameUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

// deleted reports whether no name is left of an open file.
func deleted(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}
