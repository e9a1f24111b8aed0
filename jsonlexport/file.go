package jsonlexport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// file is the sink of New: the span file, its old part, and the claim on both.
type file struct {
	claim
	cfg    config
	want   names       // what New was asked for
	notify func(error) // told what happens to the file from outside
	shown  atomic.Pointer[string]

	f        *os.File  // nil while there is none to write to
	err      error     // why f is nil
	size     int64     // the end of the last whole line
	spans    uint64    // in f
	oldSpans uint64    // in the old part
	swept    time.Time // when the files of other processes were counted
	torn     bool      // behind size stands a line that is not whole and could not be cut off
}

// openFile claims and clears the span file. Nothing is touched before all that
// would be cleared is known to be ours.
func openFile(path string, cfg config, notify func(error)) (*file, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	want := namesOf(path)
	if err := checkAll(want.parts(cfg.keepPrevious)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(want.dir, 0o700); err != nil {
		return nil, err
	}
	c, err := claimNames(want, cfg.logger)
	if err != nil {
		return nil, err
	}
	f := &file{claim: c, cfg: cfg, want: want, notify: notify}
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
		f.swept = time.Now()
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
	f.f, f.err, f.size, f.spans, f.torn = opened, nil, info.Size(), 0, false
	return nil
}

func (f *file) path() string { return *f.shown.Load() }

// begin looks, before the lines of a round, whether the file is still where it
// was. A file that was deleted is made anew; spans would go nowhere otherwise.
func (f *file) begin() {
	f.sweep()
	if f.f == nil {
		f.reopen()
		return
	}
	now, err := os.Lstat(f.data())
	open, openErr := f.f.Stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.notify(fmt.Errorf("%s was deleted while it was being written, it is made anew", f.data()))
	case err != nil || openErr != nil:
		return // the folder cannot be looked at; the open file still takes what is written
	case os.SameFile(now, open):
		f.size = open.Size() // less than before when someone emptied it
		return
	default:
		f.notify(fmt.Errorf("%s was replaced while it was being written", f.data()))
	}
	f.shut(nil)
	f.reopen()
}

// sweep bounds what children leave that a program starts all its life.
func (f *file) sweep() {
	if !f.owner || time.Since(f.swept) < sweepInterval {
		return
	}
	f.swept = time.Now()
	if n := f.clearLeftovers(maxLeftovers); n > 0 {
		f.notify(fmt.Errorf("the files of %d processes that have ended were removed beside %s, %d are kept", n, f.data(), maxLeftovers))
	}
}

// shut closes the file; why says what to answer until it is open again.
func (f *file) shut(why error) {
	if f.f != nil {
		_ = f.f.Close() // each write has returned its own error
		f.f = nil
	}
	f.err = why
}

// reopen makes or takes up the file again, without clearing. When the folder is
// gone with the lock file in it, another process may have become the owner.
func (f *file) reopen() {
	if f.err = os.MkdirAll(f.dir, 0o700); f.err != nil {
		return
	}
	if !holds(f.held.Name(), f.held) {
		c, err := claimNames(f.want, f.cfg.logger)
		if err != nil {
			f.err = err
			return
		}
		_ = f.held.Close()
		f.claim = c
	}
	f.err = f.open()
}

// write appends one line by one write.
func (f *file) write(line []byte, spans uint64) (discarded uint64, err error) {
	if f.f != nil && f.size > 0 && f.size+int64(len(line)) > f.cfg.maxFileBytes {
		if discarded, err = f.rotate(); err != nil {
			return discarded, err
		}
	}
	if f.f == nil {
		return discarded, f.err
	}
	if err := f.heal(); err != nil {
		return discarded, err
	}
	n, err := f.f.Write(line)
	if err != nil {
		if n > 0 {
			f.torn = f.f.Truncate(f.size) != nil
		}
		return discarded, err
	}
	f.size += int64(n)
	f.spans += spans
	return discarded, nil
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
// new one. It returns the spans that went with the one before.
func (f *file) rotate() (discarded uint64, err error) {
	if err := checkPath(f.old()); err != nil {
		return 0, fmt.Errorf("rotate: %w", err)
	}
	spans := f.spans
	f.shut(nil) // Windows does not rename an open file
	if err := os.Rename(f.data(), f.old()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("rotate: %w", err)
		f.reopen()
		f.spans = spans
		return 0, err
	}
	discarded, f.oldSpans = f.oldSpans, spans
	f.reopen()
	return discarded, nil
}

// close gives up file and lock. An exporter beside the owner that wrote nothing
// leaves nothing.
func (f *file) close() error {
	var err error
	if f.f != nil {
		err = f.f.Close()
	}
	if !f.owner && f.size == 0 && filepath.Base(f.data()) != filepath.Base(f.want.data()) {
		err = errors.Join(err, remove(f.data()))
	}
	return errors.Join(err, f.release())
}
