// Package wholefile writes a file that is seen whole or not at all.
package wholefile

import (
	"io"
	"os"
	"path/filepath"
)

// Write lets write fill the file at path, whose folder is made when it is
// missing. What was there is replaced in one step, and stays when write fails.
// The file is for its owner alone: what is in spans is nobody else's business.
func Write(path string, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".waymark-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when all went well
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
