// Package spanfile is the grammar of span files' names: which files belong to
// one span file, what each of them is, and which process wrote it. The writer
// makes these names, and the readers find the files by them.
package spanfile

import (
	"path/filepath"
	"strconv"
	"strings"
)

// base is the name of the span file in an App's folder.
const base = "spans.jsonl"

// Names are the names of the files that belong to one span file. For spans.jsonl:
//
//	spans.jsonl                 what is written
//	spans.1.jsonl               the old part, when the size limit was met
//	spans.prev.jsonl            the previous run, spans.prev.1.jsonl its old part
//	spans.lock                  whoever has this locked owns all of the above
//	spans-<pid>-<n>.jsonl       of another process, which numbers its exporters from 1:
//	spans-<pid>-<n>.1.jsonl     an old part and a lock of its own, and no previous run
//	spans-<pid>-<n>.lock
//
// Equal Names are equal with ==.
type Names struct{ dir, stem, ext string }

// Of returns the names for the span file at path.
func Of(path string) Names {
	dir, name := filepath.Split(path)
	ext := filepath.Ext(name)
	return Names{dir: filepath.Clean(dir), stem: strings.TrimSuffix(name, ext), ext: ext}
}

// InFolder returns the names for the span file in an App's folder.
func InFolder(dir string) Names { return Of(filepath.Join(dir, base)) }

// Dir is the folder of all of the files.
func (n Names) Dir() string { return n.dir }

// Path is the file that is the part.
func (n Names) Path(p Part) string {
	ext := n.ext
	if p == Lock && ext != ".lock" {
		ext = "" // the mark is the extension
	}
	return filepath.Join(n.dir, n.stem+p.mark()+ext)
}

// Beside returns the names for the i-th exporter of process pid that does not own n.
func (n Names) Beside(pid, i int) Names {
	return Names{dir: n.dir, stem: n.stem + "-" + strconv.Itoa(pid) + "-" + strconv.Itoa(i), ext: n.ext}
}

// Part is what a file is to its span file.
type Part int

// The parts, in the order in which their spans ended.
const (
	PreviousOld Part = iota // the old part of the previous run
	Previous                // the previous run
	Old                     // the old part
	Data                    // what is written
	Lock                    // no spans
)

// mark is what a part has between the stem and the extension.
func (p Part) mark() string {
	return [...]string{PreviousOld: ".prev.1", Previous: ".prev", Old: ".1", Data: "", Lock: ".lock"}[p]
}

// File is a file that belongs to a span file.
type File struct {
	Names      // of the process that writes it
	Part  Part // which of them it is
	PID   int  // of the process; 0: the owner
	N     int  // the number of its exporter
}

// Path is the file.
func (f File) Path() string { return f.Names.Path(f.Part) }

// Find reports what the file with this name in the folder is, and whether it
// belongs to the span file at all.
func (n Names) Find(name string) (File, bool) {
	for p := PreviousOld; p <= Lock; p++ {
		if name == filepath.Base(n.Path(p)) {
			return File{Names: n, Part: p}, true
		}
	}
	rest, ok := strings.CutPrefix(name, n.stem+"-")
	if !ok {
		return File{}, false
	}
	pid, rest, ok := cutNumber(rest)
	if !ok || !strings.HasPrefix(rest, "-") {
		return File{}, false
	}
	i, _, ok := cutNumber(rest[1:])
	if !ok {
		return File{}, false
	}
	other := n.Beside(pid, i)
	for _, p := range []Part{Old, Data, Lock} {
		if name == filepath.Base(other.Path(p)) {
			return File{Names: other, Part: p, PID: pid, N: i}, true
		}
	}
	return File{}, false
}

func cutNumber(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}
