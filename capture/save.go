package capture

import (
	"fmt"
	"os"
	"path/filepath"
)

// SaveChrome writes the Chrome trace to a file: in one step, over one that is
// there, making missing folders. Both are the user's alone.
func (r *Result) SaveChrome(path string) error {
	if err := save(path, r.ChromeJSON()); err != nil {
		return fmt.Errorf("capture: save: %w", err)
	}
	return nil
}

func save(path string, data []byte) error {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}
