package spanfile

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// Files returns the regular files in the folder that belong to the span file, in
// the order in which to read them: those of the owner, then those of the other
// processes by their numbers; of each the parts in their order. A missing folder
// is an error that wraps [io/fs.ErrNotExist].
func (n Names) Files() ([]File, error) {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		f, ok := n.Find(e.Name())
		if !ok {
			continue
		}
		if info, err := os.Stat(filepath.Join(n.dir, e.Name())); err == nil && info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.N, b.N), cmp.Compare(a.Part, b.Part))
	})
	return files, nil
}

// Spans returns the paths of the files with spans, of the previous run only if
// previous is set, in the order of [Names.Files].
func (n Names) Spans(previous bool) ([]string, error) {
	files, err := n.Files()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		if f.Part == Old || f.Part == Data || previous && f.Part != Lock {
			paths = append(paths, f.Path())
		}
	}
	return paths, nil
}
