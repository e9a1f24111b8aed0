package jsonlexport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotOurs is in the error of [New] when the path, or a file beside it that
// would be cleared too, is something that is never cleared or written: a
// non-empty file whose first line is not OTLP/JSON, a symbolic link, a FIFO, a
// device, a folder, a file of another user. The error says which.
var ErrNotOurs = errors.New("not a span file of ours")

func notOurs(path, reason string) error {
	return fmt.Errorf("%w: %s: %s; it is left alone", ErrNotOurs, path, reason)
}

// checkPath returns nil when nothing is at path or what is there may be cleared.
func checkPath(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := checkInfo(path, info); err != nil || info.Size() == 0 {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0) //nolint:gosec // the path is the caller's to choose
	if err != nil {
		return err
	}
	return errors.Join(checkOpen(path, f), f.Close())
}

// checkInfo looks at what kind of file it is, and whose.
func checkInfo(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
	case mode&fs.ModeSymlink != 0:
		return notOurs(path, "it is a symbolic link")
	case mode.IsDir():
		return notOurs(path, "it is a folder")
	case mode&fs.ModeNamedPipe != 0:
		return notOurs(path, "it is a FIFO")
	case mode&fs.ModeDevice != 0:
		return notOurs(path, "it is a device")
	default:
		return notOurs(path, "it is not a regular file")
	}
	if !sameUser(info) {
		return notOurs(path, "it belongs to another user")
	}
	return nil
}

// checkOpen looks at the open file itself, which nobody can swap any more.
func checkOpen(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkInfo(path, info); err != nil {
		return err
	}
	head, err := headOf(f)
	if err == nil && len(head) > 0 && !startsOTLP(head) {
		return notOurs(path, "its first line is not OTLP/JSON")
	}
	return err
}

// headOf returns how a file begins: enough to know the format, and to know the
// file again, for the ids of the first span are in it.
func headOf(f *os.File) ([]byte, error) {
	head := make([]byte, 256)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:n], nil
}

// startsOTLP says whether a file begins with a TracesData object. Only the
// beginning counts: a line that the end of a process cut short is still ours.
func startsOTLP(head []byte) bool {
	for i, token := range []string{"{", `"resourceSpans"`, ":", "["} {
		var ok bool
		if i > 0 {
			head = bytes.TrimLeft(head, " \t\r\n")
		}
		if head, ok = bytes.CutPrefix(head, []byte(token)); !ok {
			return false
		}
	}
	return true
}
