package jsonlexport

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// names are the files that belong to one span file, derived from its path:
// for spans.jsonl
//
//	spans.jsonl         what is written
//	spans.1.jsonl       the old part, when the size limit was met
//	spans.prev.jsonl    the previous run, with WithKeepPrevious; spans.prev.1.jsonl its old part
//	spans.lock          whoever has this locked owns all of the above
//	spans-<pid>-<n>.…   the same for each other process or exporter
type names struct{ dir, stem, ext string }

func namesOf(path string) names {
	dir, base := filepath.Split(path)
	ext := filepath.Ext(base)
	return names{dir: dir, stem: strings.TrimSuffix(base, ext), ext: ext}
}

func (n names) join(suffix string) string { return filepath.Join(n.dir, n.stem+suffix) }

func (n names) data() string    { return n.join(n.ext) }
func (n names) old() string     { return n.join(".1" + n.ext) }
func (n names) prev() string    { return n.join(".prev" + n.ext) }
func (n names) prevOld() string { return n.join(".prev.1" + n.ext) }

func (n names) lock() string {
	if n.ext == ".lock" {
		return n.join(".lock.lock")
	}
	return n.join(".lock")
}

// parts are the files that clearing removes or overwrites.
func (n names) parts(keepPrevious bool) []string {
	parts := []string{n.data(), n.old()}
	if keepPrevious {
		parts = append(parts, n.prev(), n.prevOld())
	}
	return parts
}

// beside are the names for the i-th exporter of process pid that does not own n.
func (n names) beside(pid, i int) names {
	return names{dir: n.dir, stem: fmt.Sprintf("%s-%d-%d", n.stem, pid, i), ext: n.ext}
}

// besideOf tells whether a file in the folder is one that beside named, and of
// which pid and number.
func (n names) besideOf(base string) (other names, ok bool) {
	rest, ok := strings.CutPrefix(base, n.stem+"-")
	if !ok {
		return names{}, false
	}
	pid, rest, ok := cutNumber(rest)
	if !ok || !strings.HasPrefix(rest, "-") {
		return names{}, false
	}
	i, rest, ok := cutNumber(rest[1:])
	other = n.beside(pid, i)
	switch other.stem + rest {
	case filepath.Base(other.data()), filepath.Base(other.old()), filepath.Base(other.lock()):
		return other, ok && other.stem+rest == base
	}
	return names{}, false
}

func cutNumber(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}
