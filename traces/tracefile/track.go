package tracefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// track follows one path through the files that it names one after the other.
// Each stays open until it is read to its end, whatever its name is by then.
type track struct {
	file

	path, oldPath string
	oldFirst      bool // begin with the old part
	fromEnd       bool // begin at the end of the first file
	begun         bool

	open *os.File // nil: none is there
	old  *os.File // the part before it, already read or not wanted; nil: none
	raw  *recorder
	in   *blocks
	line int64
	buf  []byte
	dec  *decoder
}

// recorder reads a file and keeps how it begins, to notice that it was written
// anew.
type recorder struct {
	f    *os.File
	pos  int64
	head []byte
}

const tornLine = "torn line"

// headBytes is how much of a file's beginning is compared. OTLP lines differ
// within it: the times and ids of the first span are there.
const headBytes = 4 << 10

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	if r.pos == int64(len(r.head)) && n > 0 {
		r.head = append(r.head, p[:min(n, headBytes-len(r.head))]...)
	}
	r.pos += int64(n)
	return n, err
}

// rewritten says whether the file is shorter than what was read, or begins with
// something else.
func (r *recorder) rewritten() (bool, error) {
	info, err := r.f.Stat()
	if err != nil || info.Size() < r.pos {
		return err == nil, err
	}
	now := make([]byte, len(r.head))
	n, err := r.f.ReadAt(now, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return !bytes.Equal(now[:n], r.head), nil
}

// look reads what there is now.
func (t *track) look(ctx context.Context) error {
	if t.open == nil {
		if err := t.begin(); err != nil || t.open == nil {
			return err
		}
	}
	for {
		if err := t.drain(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if moved, err := t.moved(); err != nil || !moved {
			return err
		}
		// What was written between the last read and the renaming.
		if err := t.drain(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		t.torn()
		if err := t.next(); err != nil || t.open == nil {
			return err
		}
	}
}

// begin opens the first file.
func (t *track) begin() (err error) {
	if t.begun {
		return t.next()
	}
	if t.old, err = openThere(t.oldPath); err != nil {
		return err
	}
	t.begun = true
	if t.oldFirst && !t.fromEnd && t.old != nil {
		t.start(t.old)
		t.old = nil
		return nil
	}
	open, err := openThere(t.path)
	if err != nil || open == nil {
		return err
	}
	t.start(open)
	if t.fromEnd {
		return t.skipToEnd()
	}
	return nil
}

// skipToEnd goes past the lines that are there.
func (t *track) skipToEnd() error {
	at, err := lastLineEnd(t.open)
	if err != nil {
		return err
	}
	t.raw.head = make([]byte, min(at, headBytes))
	if _, err := t.open.ReadAt(t.raw.head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t.raw.pos, t.in.offset = at, at
	_, err = t.open.Seek(at, io.SeekStart)
	return err
}

// openThere opens a file if it is there. Opening a pipe would wait for its writer.
func openThere(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path) //nolint:gosec // the caller's file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file is no error
	}
	return f, err
}

func (t *track) start(f *os.File) {
	t.open, t.raw, t.line = f, &recorder{f: f}, 0
	t.in = &blocks{r: t.raw, max: t.cfg.maxValue, whole: true}
}

// lastLineEnd is the offset after the last newline of a file.
func lastLineEnd(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		at := max(0, end-int64(len(buf)))
		n, err := f.ReadAt(buf[:end-at], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := lastNewline(buf[:n]); i >= 0 {
			return at + int64(i) + 1, nil
		}
		end = at
	}
	return 0, nil
}

// drain hands out the spans of all lines that are complete. Whether they are
// still of the file that was begun is looked at after they were read: what was
// written anew begins with its beginning, so by then that shows.
func (t *track) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		rest, offset := t.hasRest(), t.in.offset
		b, err := t.in.next(t.buf)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		switch again, err := t.raw.rewritten(); {
		case err != nil:
			return err
		case again:
			if rest { // what is in it now may be the new file's
				t.skips.add(place{line: t.line + 1, offset: offset}, tornLine, 1)
			}
			if _, err := t.open.Seek(0, io.SeekStart); err != nil {
				return err
			}
			t.start(t.open)
			continue
		case end:
			t.in.eof = false
			return nil
		}
		lines := t.dec.block(b)
		if err := t.handOut(t.dec.batch, t.line, b.offset); err != nil {
			return err
		}
		t.line += lines
		if cap(b.data) <= 4*probeBytes {
			t.buf = b.data
		}
	}
	return nil
}

// moved says whether the path names another file now. When it names none, its
// writer may still have it open.
func (t *track) moved() (bool, error) {
	now, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same, err := isFile(t.open, now)
	return !same, err
}

// isFile says whether f is the file that info is of. Files are compared while
// they are open: the number of one that is deleted is given to the next.
func isFile(f *os.File, info os.FileInfo) (bool, error) {
	opened, err := f.Stat()
	return err == nil && os.SameFile(opened, info), err
}

// next goes on to the file that came after the one that was read to its end: the
// one that its path names now or, when that was rotated again meanwhile, first the
// old part. The old part is opened last, so that a rotation between is not missed.
func (t *track) next() error {
	open, err := openThere(t.path)
	if err != nil {
		return err
	}
	old, err := openThere(t.oldPath)
	if err != nil {
		return errors.Join(err, closeAll(open))
	}
	unseen, err := t.unseen(old)
	if err != nil {
		return errors.Join(err, closeAll(open, old))
	}
	t.close()
	if unseen {
		_ = closeAll(open)
		t.skips.add(place{}, "rotated more than once between two looks: spans may be missing", 1)
		t.start(old)
		return nil
	}
	t.old = old
	if open != nil {
		t.start(open)
	}
	return nil
}

// unseen says whether the old part is neither the file that was just read nor the
// old part of before.
func (t *track) unseen(old *os.File) (bool, error) {
	if old == nil {
		return false, nil
	}
	info, err := old.Stat()
	if err != nil {
		return false, err
	}
	for _, known := range []*os.File{t.open, t.old} {
		if known == nil {
			continue
		}
		if same, err := isFile(known, info); err != nil || same {
			return false, err
		}
	}
	return true, nil
}

// torn notes a line that was begun and never ended.
func (t *track) torn() {
	if t.hasRest() {
		t.skips.add(place{line: t.line + 1, offset: t.in.offset}, tornLine, 1)
	}
}

func (t *track) hasRest() bool { return t.in != nil && len(bytes.TrimSpace(t.in.rest)) > 0 }

func (t *track) close() {
	_ = closeAll(t.open, t.old) // they were only read
	t.open, t.old = nil, nil
}

func closeAll(files ...*os.File) (err error) {
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
