package tracefile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/internal/spanfile"
)

// filesAt returns the files that are read for a path, oldest part first.
func filesAt(path string, cfg config) ([]string, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		files, err := spanfile.InFolder(path).Spans(cfg.previous)
		if err != nil || len(files) > 0 {
			return files, err
		}
		return anyFiles(path)
	}
	if cfg.processes {
		if files, err := spanfile.Of(path).Spans(cfg.previous); err == nil && len(files) > 0 {
			return files, nil
		}
	}
	return []string{path}, err
}

// anyFiles returns the regular files of a folder by name, but for hidden ones
// and locks.
func anyFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files, nil
}
