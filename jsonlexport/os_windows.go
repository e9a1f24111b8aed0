package jsonlexport

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openFlags = 0

func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}

// unlockFile is left to closing the file, of which no child has a copy.
func unlockFile(*os.File) error { return nil }

// sameUser is left to the access rights of Windows, which keep one user out of
// the profile folder of another.
func sameUser(fs.FileInfo) bool { return true }

// deleted is never so: an open file keeps its name.
func deleted(fs.FileInfo) bool { return false }
