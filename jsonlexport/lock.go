package jsonlexport

import (
	"errors"
	"io/fs"
	"os"
)

// errLocked says that another open file has the lock.
var errLocked = errors.New("locked")

// takeLock opens the lock file and locks it, without waiting. The lock belongs to
// the open file, so that it also holds against another exporter of this process,
// and ends with the process however that ends.
func takeLock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|openFlags, 0o600) //nolint:gosec // beside the caller's path
		if err != nil {
			if info, statErr := os.Lstat(path); statErr == nil {
				err = errors.Join(checkInfo(path, info), err)
			}
			return nil, err
		}
		held, err := lockOpened(path, f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if held {
			return f, nil
		}
		_ = f.Close() // was removed between opening and locking: the next one is new
	}
}

func lockOpened(path string, f *os.File) (held bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := checkInfo(path, info); err != nil {
		return false, err
	}
	if err := lockFile(f); err != nil {
		return false, err
	}
	return holds(path, f), nil
}

// holds reports whether path still is the file that f is, nil for none.
func holds(path string, f *os.File) bool {
	if f == nil {
		return false
	}
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(open, now)
}

// freeLock gives the lock up, and leaves the file. It is unlocked before it is
// closed: a child that is being started has a copy of the descriptor for a moment.
func freeLock(f *os.File) error { return errors.Join(unlockFile(f), f.Close()) }

// dropLock removes the lock file and gives the lock up. Windows does not remove
// an open file, so there it is tried again.
func dropLock(f *os.File) error {
	err := os.Remove(f.Name())
	freeErr := freeLock(f)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(f.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, freeErr)
}
