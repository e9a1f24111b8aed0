package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTablesNameRealTests holds the tables of tests to the tests that exist.
func TestTablesNameRealTests(t *testing.T) {
	t.Parallel()
	dirs := packageDirs(t, "../..")
	for _, path := range []string{"../../docs/behaviours.md", "../../ARCHITECTURE.md"} {
		testNames(t, path, dirs)
	}
}

func testNames(t *testing.T, path string, dirs map[string][]string) {
	t.Helper()
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?:\b([a-z0-9_]+)\.)?\b((?:Test|Fuzz|Benchmark)[A-Z]\w*|Example\w*)`)
	found := 0
	for line := range strings.Lines(string(table)) {
		pkg := ""
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			}
			found++
			if !defined(t, dirs[pkg], m[2]) {
				t.Errorf("%s: no test %s in package %q: %s", path, m[2], pkg, strings.TrimSpace(line))
			}
		}
	}
	if found == 0 {
		t.Errorf("%s names no test", path)
	}
}

// packageDirs maps a folder's name to the folders of that name that hold tests.
func packageDirs(t *testing.T, root string) map[string][]string {
	t.Helper()
	files := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(entry.Name(), "_test.go") {
			files[filepath.Dir(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string][]string{}
	for dir := range files {
		base := filepath.Base(dir)
		dirs[base] = append(dirs[base], dir)
	}
	return dirs
}

func defined(t *testing.T, dirs []string, test string) bool {
	t.Helper()
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(source), "func "+test+"(") {
				return true
			}
		}
	}
	return false
}
