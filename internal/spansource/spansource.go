// Package spansource finds the span files that a command was asked to read,
// or would be asked to read if it asked.
package spansource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/spanfile"
	"github.com/waymark-trace/waymark/internal/statepath"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// KeyApp is the variable that names the App when nothing else does.
const KeyApp = "WAYMARK_APP"

// Query is what a command was given.
type Query struct {
	Paths  []string // files and folders; "-" is Stdin
	App    string   // -app
	Stdin  io.Reader
	Lookup func(string) (string, bool) // the variables; never nil
	// Wait takes an App's files that are not there yet.
	Wait bool
	// Previous takes an App's previous run instead.
	Previous bool
	// File is where the App's variables say that its spans are; empty: they say
	// nothing.
	File func(app string) string
}

// Source is the files of a command, in order. It serves one goroutine.
type Source struct {
	paths  []string
	app    bool // the one path is an App's own file: with those of its processes
	stdin  io.Reader
	note   string
	report tracefile.Report
}

// ErrBoth says that files and an App were named.
var ErrBoth = errors.New("either files or -app, not both")

// Find decides what to read: the paths; without any the App's span files, its
// older part and those of its other processes; without an App that of
// WAYMARK_APP; else those of the App whose file in the state home was written
// last.
func Find(q Query) (*Source, error) {
	switch {
	case len(q.Paths) > 0 && q.App != "":
		return nil, ErrBoth
	case len(q.Paths) > 0:
		return &Source{paths: q.Paths, stdin: q.Stdin}, nil
	}
	app, why := q.App, "-app"
	if app == "" {
		app, _ = q.Lookup(KeyApp)
		app, why = strings.TrimSpace(app), KeyApp
	}
	if app != "" {
		return ofApp(app, why, q)
	}
	home, err := statepath.StateHome(q.Lookup)
	if err != nil {
		return nil, fmt.Errorf("no file was named, and there is no default: %w", err)
	}
	newest, err := statepath.Newest(home)
	if err != nil {
		return nil, fmt.Errorf("no file was named, and none is in the state home: %w", err)
	}
	dir := filepath.Dir(newest)
	if q.Previous {
		return previousOf(spanfile.InFolder(dir).Path(spanfile.Data), filepath.Base(filepath.Dir(dir)))
	}
	return &Source{paths: []string{dir}, note: fmt.Sprintf("reading %s (written last)", dir)}, nil
}

// ofApp takes the App's own file, or its folder.
func ofApp(app, why string, q Query) (*Source, error) {
	if q.File != nil {
		if file := q.File(app); file != "" && q.Previous {
			return previousOf(file, app)
		} else if file != "" {
			s := &Source{paths: []string{file}, app: true, note: fmt.Sprintf("reading %s (%s %s)", file, why, app)}
			return s, q.exists(s.Paths()[0], app)
		}
	}
	file, err := statepath.TracesFile(app, q.Lookup)
	if err != nil {
		return nil, err
	}
	if q.Previous {
		return previousOf(file, app)
	}
	dir := filepath.Dir(file)
	return &Source{paths: []string{dir}, note: fmt.Sprintf("reading %s (%s %s)", dir, why, app)}, q.exists(dir, app)
}

// previousOf is the files of the previous run beside a span file.
func previousOf(file, app string) (*Source, error) {
	names := spanfile.Of(file)
	s := &Source{}
	for _, path := range []string{names.Path(spanfile.PreviousOld), names.Path(spanfile.Previous)} {
		if _, err := os.Stat(path); err == nil {
			s.paths = append(s.paths, path)
		}
	}
	if len(s.paths) == 0 {
		return nil, fmt.Errorf("the App %q has no previous run: %s is not there (it is kept when <APP>_TRACES_KEEP is set)", app, names.Path(spanfile.Previous))
	}
	s.note = fmt.Sprintf("reading %s (the previous run of %s)", s.paths[len(s.paths)-1], app)
	return s, nil
}

func (q *Query) exists(path, app string) error {
	if q.Wait {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the App %q has no spans yet: %w", app, err)
	}
	return nil
}

// Note says what was taken when no file was named; else it is empty.
func (s *Source) Note() string { return s.note }

// Paths returns the files and folders; of an App's own file all that there are
// now. The slice may be the source's.
func (s *Source) Paths() []string {
	if s.app {
		if files, err := spanfile.Of(s.paths[0]).Spans(false); err == nil && len(files) > 0 {
			return files
		}
	}
	return s.paths
}

// Follow follows the last path, an App's own file with those of its processes.
func (s *Source) Follow(ctx context.Context, opts ...tracefile.Option) *tracefile.Reader {
	return tracefile.Follow(ctx, s.paths[len(s.paths)-1], s.options(opts)...)
}

func (s *Source) options(opts []tracefile.Option) []tracefile.Option {
	if s.app {
		opts = append(slices.Clip(opts), tracefile.WithProcesses())
	}
	return opts
}

// Again reports whether the spans can be read more than once: not those of
// standard input.
func (s *Source) Again() bool { return !slices.Contains(s.paths, "-") }

// Spans returns the spans of all files, as [tracefile.Reader.Spans] does for
// one; the end of the context ends them with its error. Each loop begins anew.
func (s *Source) Spans(ctx context.Context, opts ...tracefile.Option) iter.Seq2[*traces.Span, error] {
	return func(yield func(*traces.Span, error) bool) {
		s.report = tracefile.Report{}
		for _, path := range s.paths {
			r, err := s.open(path, opts)
			if err != nil {
				yield(nil, err)
				return
			}
			for span, err := range r.Spans() {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					span = nil
				}
				if !yield(span, err) || err != nil {
					s.add(r.Report())
					return
				}
			}
			s.add(r.Report())
		}
	}
}

func (s *Source) open(path string, opts []tracefile.Option) (*tracefile.Reader, error) {
	if path == "-" {
		return tracefile.NewReader(s.stdin, append(opts, tracefile.WithName("standard input"))...), nil
	}
	return tracefile.Open(path, s.options(opts)...)
}

// Report is the account of the last loop over Spans, of all files together.
func (s *Source) Report() tracefile.Report { return s.report }

func (s *Source) add(r tracefile.Report) {
	s.report.Files = append(s.report.Files, r.Files...)
	s.report.Spans += r.Spans
	s.report.Total += r.Total
	s.report.Skipped = append(s.report.Skipped, r.Skipped...)
}
