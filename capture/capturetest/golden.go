package capturetest

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
)

// Golden compares the spans so far with the tree in testdata/name, as
// [Trace.Tree] draws it, or with durations by [WithDurations]. All of it counts.
//
// The file is written instead when the test binary's -update flag is set, or the
// variable UPDATE is not empty. Many test packages define the flag themselves,
// and a flag that is defined twice panics, so this package defines it only where
// it is asked to: see [UpdateFlag].
func (tr *Trace) Golden(name string) {
	tr.tb.Helper()
	lines := tr.linesOf(tr.Result().Set())
	got := drawLines(lines, tr.cfg.durations)
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join("testdata", name)
	}
	if updating() {
		if err := writeGolden(path, got+"\n"); err != nil {
			tr.tb.Errorf("capturetest: write the golden file: %v", err)
		}
		return
	}
	data, err := os.ReadFile(path) //nolint:gosec // the test names it
	if errors.Is(err, fs.ErrNotExist) {
		tr.tb.Errorf("no golden file %s: run the test with UPDATE=1, or with -update, to write it; the spans are:\n%s", path, indent(got))
		return
	}
	if err != nil {
		tr.tb.Errorf("capturetest: read the golden file: %v", err)
		return
	}
	want, err := parseTree(string(data))
	if err != nil {
		tr.tb.Errorf("golden file %s: %v", path, err)
		return
	}
	diff, same := compare(len(want), len(lines), func(i, j int) bool {
		return want[i].depth == lines[j].depth && want[i].text == lines[j].text(tr.cfg.durations)
	})
	if !same {
		tr.tb.Errorf("the spans are not as in %s\ndifference (-want +got):\n%s\n"+
			"run the test with UPDATE=1, or with -update, to take them over",
			path, indent(drawDiff(diff, want, lines, tr.cfg.durations)))
	}
}

// UpdateFlag defines the flag -update for [Trace.Golden], unless there is one. Call
// it where a package variable is made, before flags are parsed:
//
//	var _ = capturetest.UpdateFlag()
func UpdateFlag() bool {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite golden files")
	}
	return true
}

func updating() bool {
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		return true
	}
	return os.Getenv("UPDATE") != "" //nolint:forbidigo // a test helper is told so by make update
}

func writeGolden(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // a source file like any other
}
