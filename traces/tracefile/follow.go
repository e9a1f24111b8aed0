package tracefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// Follow reads a file of lines and goes on with what is added to it, until ctx
// ends, which is no error. The path may be an App's folder, for its
// spans.jsonl. A line counts once its newline is there. A file that does not
// exist yet is waited for; one that is truncated, replaced or rotated away is
// read to its end, and then the new one from its beginning. What happens
// between two looks at the file is not seen: of a file that is rotated twice
// in that time, the middle one.
//
// Like other readers, it serves one goroutine; the loop over Spans waits.
func Follow(ctx context.Context, path string, opts ...Option) *Reader {
	r := &Reader{cfg: newConfig(opts)}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "spans.jsonl")
	}
	r.follow = func(yield func(*traces.Span, error) bool) {
		f := &follower{path: path, poll: r.cfg.poll, end: r.cfg.fromEnd}
		f.file = file{cfg: r.cfg, name: path, shared: newShared(), yield: yield}
		r.report, r.current = Report{}, &f.file
		err := f.run(ctx)
		f.close()
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, fmt.Errorf("tracefile: %w", err))
		}
	}
	return r
}

// follower follows one path through the files that it names one after the other.
type follower struct {
	file

	path string
	poll time.Duration
	end  bool // begin at the end of the first file

	open *os.File // nil: none is there
	head []byte   // how it begins, to notice that it was written anew
	in   *blocks
	line int64
	buf  []byte
	dec  *decoder
}

// headBytes is how much of a file's beginning is compared at each look. OTLP
// lines differ within it: the times and ids of the first span are there.
const headBytes = 1 << 10

func (f *follower) run(ctx context.Context) error {
	f.dec = f.decoder()
	for {
		if err := f.look(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(f.poll):
		}
	}
}

// look reads what there is now. Whether it is still the same file is looked at
// first: one that was written anew does not go on where the old one ended.
func (f *follower) look() error {
	for {
		if err := f.ensure(); err != nil || f.open == nil {
			return err
		}
		changed, err := f.changed()
		if err != nil {
			return err
		}
		if !changed {
			return f.drain()
		}
	}
}

// ensure opens the file when it is not open.
func (f *follower) ensure() error {
	if f.open != nil {
		return nil
	}
	open, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.end = false // what is written from now on is new
		return nil
	}
	if err != nil {
		return err
	}
	f.open = open
	f.begin(0)
	if f.end {
		f.end = false
		at, err := lastLineEnd(open)
		if err != nil {
			return err
		}
		if _, err := open.Seek(at, io.SeekStart); err != nil {
			return err
		}
		f.in.offset = at
		f.head = make([]byte, min(at, headBytes))
		if _, err := open.ReadAt(f.head, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

func (f *follower) begin(offset int64) {
	f.in = &blocks{r: f.open, max: f.cfg.maxValue, whole: true, offset: offset}
	f.line, f.head = 0, nil
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
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		end = at
	}
	return 0, nil
}

// drain hands out the spans of all lines that are complete.
func (f *follower) drain() error {
	for {
		b, err := f.in.next(f.buf)
		if errors.Is(err, io.EOF) {
			f.in.eof = false
			return nil
		}
		if err != nil {
			return err
		}
		if n := len(f.head); b.offset == int64(n) && n < headBytes {
			f.head = append(f.head, b.data[:min(len(b.data), headBytes-n)]...)
		}
		lines := f.dec.block(b)
		if err := f.take(f.dec, f.line, b.offset); err != nil {
			return err
		}
		f.line += lines
		if !b.tooBig {
			f.buf = b.data
		}
	}
}

// changed says whether the path names another file now, or the same one
// written anew. Then the next file is ready to be read.
func (f *follower) changed() (bool, error) {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // its writer may still have it open
	}
	if err != nil {
		return false, err
	}
	opened, err := f.open.Stat()
	if err != nil {
		return false, err
	}
	if !os.SameFile(now, opened) {
		// what was written between the last read and the renaming
		if err := f.drain(); err != nil {
			return false, err
		}
		f.torn()
		f.close()
		return true, nil
	}
	again, err := f.rewritten(now.Size())
	if err != nil || !again {
		return false, err
	}
	f.torn()
	_, err = f.open.Seek(0, io.SeekStart)
	f.begin(0)
	return true, err
}

// rewritten says whether the file is shorter than what was read, or begins
// with something else.
func (f *follower) rewritten(size int64) (bool, error) {
	if size < f.in.offset+int64(len(f.in.rest)) {
		return true, nil
	}
	buf := make([]byte, len(f.head))
	if _, err := f.open.ReadAt(buf, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return !bytes.Equal(buf, f.head), nil
}

// torn notes a line that was begun and never ended.
func (f *follower) torn() {
	if n := len(bytes.TrimSpace(f.in.rest)); n > 0 {
		f.skips.add(f.line+1, f.in.offset, "torn line", 1)
	}
}

func (f *follower) close() {
	if f.open != nil {
		_ = f.open.Close() // it was only read
		f.open = nil
	}
}
