package tracefile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// partName is what the files of an App's folder are called: the present one,
// the old part, and those of other processes.
var partName = regexp.MustCompile(`^spans(-\d+-\d+)?(\.1|\.prev|\.prev\.1)?\.jsonl$`)

// parts returns the paths of the span files in a folder, oldest part first.
func parts(dir string, previous bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var app, all []string
	for _, e := range entries {
		name := e.Name()
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if partName.MatchString(name) {
			if previous || !strings.Contains(name, ".prev") {
				app = append(app, name)
			}
		} else if !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".lock") {
			all = append(all, name)
		}
	}
	if len(app) > 0 {
		all = app
		slices.SortFunc(all, comparePart)
	}
	for i := range all {
		all[i] = filepath.Join(dir, all[i])
	}
	return all, nil
}

// comparePart sorts an App's files: by process, and in it the previous run
// first and the old part before the present one.
func comparePart(a, b string) int {
	return strings.Compare(partKey(a), partKey(b))
}

func partKey(name string) string {
	m := partName.FindStringSubmatch(name)
	order := map[string]string{".prev.1": "0", ".prev": "1", ".1": "2", "": "3"}
	return m[1] + " " + order[m[2]]
}
