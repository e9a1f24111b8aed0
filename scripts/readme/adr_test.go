package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	mostRecords     = 34
	mostRecordLines = 60
)

// A decision record has a number of its own and stays short, and there are few of them.
func TestRecordsAreShortAndFew(t *testing.T) {
	t.Parallel()
	records := recordFiles(t)
	if len(records) > mostRecords {
		t.Errorf("docs/adr has %d records, want at most %d: merge those that are one decision", len(records), mostRecords)
	}
	for number, path := range records {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > mostRecordLines {
			t.Errorf("%s has %d lines, want at most %d", path, n, mostRecordLines)
		}
		if title := regexp.MustCompile(`^# 0*(\d+)[.:]? `).FindSubmatch(text); title == nil || string(title[1]) != strconv.Itoa(number) {
			t.Errorf("%s: the title does not begin with its number", path)
		}
	}
}

// A record that code or a document refers to exists.
func TestRecordsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	records := recordFiles(t)
	name := regexp.MustCompile(`\b(?:ADRs? |docs/adr/)(\d{1,4})\b`)
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == ".bin" || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.Contains(".go .md .yml .sh .js .ts", filepath.Ext(entry.Name())) && entry.Name() != "Makefile":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range name.FindAllSubmatch(text, -1) {
			found++
			number, err := strconv.Atoi(string(m[1]))
			if err != nil || records[number] == "" {
				t.Errorf("%s: there is no record %s in docs/adr", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no file names a record")
	}
}

// recordFiles maps the numbers of the records to their paths.
func recordFiles(t *testing.T) map[int]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	records := map[int]string{}
	for _, path := range paths {
		digits, _, _ := strings.Cut(filepath.Base(path), "-")
		number, err := strconv.Atoi(digits)
		if err != nil {
			t.Errorf("%s: want a number first", path)
		}
		if other, twice := records[number]; twice {
			t.Errorf("%s and %s have one number", path, other)
		}
		records[number] = path
	}
	return records
}
