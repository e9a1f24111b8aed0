package jsonlexport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/internal/spanfile"
)

// file is the sink of New: the span file, its old part, and the claim on both.
type file struct {
	claim
	cfg   config
	want  names      // what New was asked for
	tell  func(gone) // told what becomes of the file and of what was written
	shown atomic.Pointer[string]

	f     *os.File // nil while there is none to write to
	err   error    // why f is nil
	size  int64    // the end of the last whole line
	spans uint64   // that we have written to it
	head  []byte   // how it began when the first of these was written
	torn  bool     // behind size stands a line that is not whole and could not be cut off

	oldInfo  fs.FileInfo // of the old part that we made
	oldSpans uint64      // in it

	swept time.Time // the last look at what each minute has
}

// gone is what became of spans that had been written, and of the file.
type gone struct {
	discarded, lost uint64
	why             error // nil: nothing to tell people
}

// openFile claims and clears the span file. Nothing is touched before all that
// would be cleared is known to be ours.
func openFile(path string, cfg config, tell func(gone)) (*file, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	want := names{spanfile.Of(path)}
	if err := checkAll(want.parts(cfg.keepPrevious)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(want.Dir(), 0o700); err != nil {
		return nil, err
	}
	c, err := claimNames(want, cfg.logger)
	if err != nil {
		return nil, err
	}
	f := &file{claim: c, cfg: cfg, want: want, tell: tell, swept: time.Now()}
	if err := f.start(); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return f, nil
}

func (f *file) start() error {
	// Again, now that nobody but us may write: an owner that ended meanwhile
	// may have moved its parts.
	if err := checkAll(f.parts(f.cfg.keepPrevious && f.owner)); err != nil {
		return err
	}
	if f.owner {
		f.clearLeftovers(0)
	}
	if err := f.clear(f.cfg.keepPrevious); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	if err := f.f.Truncate(0); err != nil {
		return errors.Join(err, f.f.Close())
	}
	f.size = 0
	return nil
}

// open opens the file for appending, if it is ours or not there.
func (f *file) open() error {
	path := f.data()
	f.shown.Store(&path)
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|openFlags, 0o600) //nolint:gosec // the caller's path
	if err != nil {
		if info, statErr := os.Lstat(path); statErr == nil {
			err = errors.Join(checkInfo(path, info), err)
		}
		return err
	}
	info, err := opened.Stat()
	if err == nil {
		err = checkOpen(path, opened)
	}
	if err == nil && info.Mode().Perm() != 0o600 {
		err = opened.Chmod(0o600)
	}
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	f.f, f.size, f.torn = opened, info.Size(), false
	return nil
}

func (f *file) path() string { return *f.shown.Load() }

// shut closes the file; why says what to answer until it is open again.
func (f *file) shut(why error) {
	if f.f != nil {
		_ = f.f.Close() // each write has returned its own error
		f.f = nil
	}
	f.err = why
}

// reopen makes the file anew, or takes up what is there without clearing it.
func (f *file) reopen() { f.err = f.open() }

// write appends one line by one write.
func (f *file) write(line []byte, spans uint64) error {
	if f.f != nil && f.size > 0 && f.size+int64(len(line)) > f.cfg.maxFileBytes {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	if f.f == nil {
		return f.err
	}
	if err := f.heal(); err != nil {
		return err
	}
	n, err := f.f.Write(line)
	if err != nil {
		if n > 0 {
			f.torn = f.f.Truncate(f.size) != nil
		}
		return err
	}
	if f.spans == 0 {
		f.head, _ = headOf(f.f) // nil: not known
	}
	f.size += int64(n)
	f.spans += spans
	return nil
}

// heal ends a torn line, so that a reader skips that one alone.
func (f *file) heal() error {
	if !f.torn {
		return nil
	}
	if f.f.Truncate(f.size) == nil {
		f.torn = false
		return nil
	}
	if _, err := f.f.Write([]byte{'\n'}); err != nil {
		return err
	}
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	f.size, f.torn = info.Size(), false
	return nil
}

// rotate makes the file the old part, in place of the one before, and begins a
// new one. The spans that go with the one before are discarded.
func (f *file) rotate() error {
	if err := checkPath(f.old()); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	info, _ := f.f.Stat() // nil: unknown, so that a loss is assumed when the lock is lost
	f.shut(nil)           // Windows does not rename an open file
	if err := os.Rename(f.data(), f.old()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.reopen()
		return fmt.Errorf("rotate: %w", err)
	}
	f.tell(gone{discarded: f.oldSpans})
	f.oldInfo, f.oldSpans, f.spans = info, f.spans, 0
	f.reopen()
	return nil
}

// close gives up file and lock. An exporter beside the owner that wrote nothing
// leaves nothing.
func (f *file) close() error {
	if !holds(f.lock(), f.held) {
		_ = f.retake() // to know whose the file is, and what became of it
	}
	nothing := f.f != nil && f.size == 0 && f.held != nil && !f.owner
	var err error
	if f.f != nil {
		err = f.f.Close()
	}
	if nothing {
		err = errors.Join(err, remove(f.data()))
	}
	return errors.Join(err, f.release())
}
