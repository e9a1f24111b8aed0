package tracefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/waymark-trace/waymark/internal/spanfile"
	"github.com/waymark-trace/waymark/traces"
)

// Follow reads a file of lines and goes on with what is added to it, until ctx
// ends, which is no error. A line counts once its newline is there. A file that
// does not exist yet is waited for; one that is truncated, replaced or rotated
// away is read to its end, and then the new one from its beginning.
//
// The path may be an App's folder, whether or not it is there yet: then
// spans.jsonl is followed and the files of the App's other processes that are
// there or appear, and the old parts are read first unless [WithFromEnd] is set.
// With [WithProcesses] it is the same for the path of a file.
//
// A file that is rotated twice between two looks has its first part beside it,
// spans.1.jsonl, which is read then. What was rotated away before that is gone
// from the disk: the report says that spans may be missing.
//
// Like other readers, it serves one goroutine; the loop over Spans waits.
func Follow(ctx context.Context, path string, opts ...Option) *Reader {
	r := &Reader{cfg: newConfig(opts)}
	r.follow = func(yield func(*traces.Span, error) bool) {
		f := &following{reader: r, path: path, shared: newShared(), yield: yield, first: true}
		r.report, r.current = Report{}, nil
		err := f.run(ctx)
		f.account(nil)
		f.close()
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, fmt.Errorf("tracefile: %w", err))
		}
	}
	return r
}

// following follows one path, or the files of the folder that it names.
type following struct {
	reader *Reader
	path   string
	shared *shared
	yield  func(*traces.Span, error) bool

	tracks []*track
	all    bool   // also of other processes
	folder bool   // the path is one
	first  bool   // nothing has been looked at yet
	done   Report // of tracks that were let go of
}

// quickest is the part of the poll interval that is waited after something came:
// what is rotated often is looked at often.
const quickest = 32

func (f *following) run(ctx context.Context) error {
	poll := f.reader.cfg.poll
	for wait := poll; ; wait = min(2*wait, poll) {
		before := f.spans()
		if err := f.look(ctx); err != nil {
			return err
		}
		if f.spans() > before {
			wait = max(poll/quickest, 1)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func (f *following) close() {
	for _, t := range f.tracks {
		t.close()
	}
}

func (f *following) spans() (n int64) {
	for _, t := range f.tracks {
		n += t.spans
	}
	return n
}

// look reads what there is now in all files.
func (f *following) look(ctx context.Context) error {
	if err := f.find(); err != nil {
		return err
	}
	f.first = false
	for _, t := range f.tracks {
		if err := t.look(ctx); err != nil {
			return err
		}
	}
	if f.all {
		f.forget()
	}
	return nil
}

// find makes tracks of the files that are to be followed.
func (f *following) find() error {
	if !f.all && len(f.tracks) > 0 && f.tracks[0].open != nil {
		return nil // it was a file
	}
	if info, err := os.Stat(f.path); err == nil && info.IsDir() != f.folder {
		f.close()
		f.folder, f.tracks = info.IsDir(), nil
	}
	names := spanfile.Of(f.path)
	if f.folder {
		names = spanfile.InFolder(f.path)
	}
	f.all = f.folder || f.reader.cfg.processes
	f.add(names)
	if !f.all {
		return nil
	}
	files, err := names.Files()
	if errors.Is(err, os.ErrNotExist) {
		return nil // its writer makes it anew
	}
	for _, file := range files {
		if file.Part == spanfile.Data {
			f.add(file.Names)
		}
	}
	return err
}

// add makes a track of a process's file unless there is one.
func (f *following) add(names spanfile.Names) {
	path := names.Path(spanfile.Data)
	for _, t := range f.tracks {
		if t.path == path {
			return
		}
	}
	t := &track{
		path: path, oldPath: names.Path(spanfile.Old),
		oldFirst: f.all, fromEnd: f.first && f.reader.cfg.fromEnd,
	}
	t.file = file{cfg: f.reader.cfg, name: path, shared: f.shared}
	t.yield = func(sp *traces.Span, err error) bool {
		f.account(&t.file)
		return f.yield(sp, err)
	}
	t.dec = t.decoder()
	t.dec.lines = true
	f.tracks = append(f.tracks, t)
	f.account(&t.file)
}

// account makes the reader's report that of all files; current is the one that
// the next spans are from.
func (f *following) account(current *file) {
	if f.reader.current == current && current != nil {
		return
	}
	report := f.done
	for _, t := range f.tracks {
		if &t.file != current {
			report = report.with(&t.file)
		}
	}
	f.reader.report, f.reader.current = report, current
}

// forget lets go of the files of processes that have ended and are cleared.
func (f *following) forget() {
	kept := f.tracks[:1] // spans.jsonl comes again
	for _, t := range f.tracks[1:] {
		if _, err := os.Stat(t.path); !errors.Is(err, os.ErrNotExist) {
			kept = append(kept, t)
			continue
		}
		t.torn()
		t.close()
		if t.spans+t.skips.total > 0 {
			f.done = f.done.with(&t.file)
		}
	}
	if len(kept) < len(f.tracks) {
		f.tracks = kept
		f.account(nil)
	}
}
