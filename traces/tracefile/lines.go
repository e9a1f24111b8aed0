package tracefile

import (
	"bytes"
	"errors"
	"io"
)

// A file of lines is decoded in blocks of about blockBytes, so that the text, and
// the spans made of it, stay in a core's cache: a read into memory that is in it
// is twice as quick. A line that is not whole by then is completed in pieces,
// so that at most about a piece of the next has to be moved to the next block.
const (
	blockBytes = 256 << 10
	pieceBytes = 64 << 10
)

// block is a run of whole lines, or what stands for them when a line is too long.
type block struct {
	data   []byte
	offset int64 // in the file
	tooBig bool  // data is only the beginning of a line over the limit
	cut    bool  // data is only the beginning of a line that cannot be read
	size   int64 // in the file
}

// blocks cuts a stream into runs of whole lines.
type blocks struct {
	r      io.Reader
	max    int
	rest   []byte // read, not yet given out; in the memory of the last block
	offset int64  // of rest
	whole  bool   // give out only lines that end in a newline
	passed bool   // what comes up to the next newline is of a line given out before
	eof    bool
}

// next returns the next block in buf's memory, or in larger one; io.EOF at the
// end. A last line without a newline is a line, unless whole is set: then it
// stays in rest. What a pipe has delivered so far is not held back.
func (k *blocks) next(buf []byte) (block, error) {
	if k.passed && len(k.rest) == 0 {
		return k.pass(buf[:0])
	}
	// buf may be the memory that rest is in: append moves it down then.
	if k.offset == 0 && cap(buf) == 0 {
		buf = k.rest // what has been read to see what the file is
	} else {
		buf = append(buf[:0], k.rest...)
	}
	k.rest = nil
	short := true // also at the start: rest may hold lines
	end := 0      // of the last whole line
	probe := probeBytes
	for scanned := 0; ; {
		if short || k.eof || len(buf) >= blockBytes {
			if i := lastNewline(buf[scanned:]); i >= 0 {
				end = scanned + i + 1
			}
			scanned = len(buf)
			if end > 0 && (short || k.eof || len(buf)-end <= pieceBytes || len(buf) >= min(2*blockBytes, k.max)) {
				return k.cut(buf, end), nil
			}
		}
		switch {
		case len(buf) > k.max:
			return k.tooLong(buf), nil
		case end == 0 && len(buf) > probe:
			if hopeless(buf) {
				return k.hopeless(buf), nil
			}
			probe = 2 * len(buf)
		case k.eof && len(buf) > 0 && !k.whole:
			return k.cut(buf, len(buf)), nil
		case k.eof:
			k.rest = buf
			return block{}, io.EOF
		}
		var err error
		if short, err = k.fill(&buf); err != nil {
			k.rest = buf
			return block{}, err
		}
	}
}

// cut gives out the first n bytes and keeps the others.
func (k *blocks) cut(buf []byte, n int) block {
	b := block{data: buf[:n], offset: k.offset}
	k.rest = buf[n:]
	k.offset += int64(n)
	return b
}

// lastNewline is bytes.LastIndexByte for text of long lines: that function goes
// byte by byte, which cost a tenth of the time of reading a file.
func lastNewline(b []byte) int {
	const tail = 4 << 10
	from := max(0, len(b)-tail)
	if i := bytes.LastIndexByte(b[from:], '\n'); i >= 0 || from == 0 {
		if i >= 0 {
			i += from
		}
		return i
	}
	last := -1
	for b = b[:from]; ; {
		i := bytes.IndexByte(b[last+1:], '\n')
		if i < 0 {
			return last
		}
		last += i + 1
	}
}

// fill reads once into buf, and says whether there was less than was asked for.
func (k *blocks) fill(buf *[]byte) (short bool, err error) {
	b := *buf
	want := max(blockBytes-len(b), pieceBytes)
	b = withRoom(b, want, k.max)
	n, err := k.r.Read(b[len(b) : len(b)+want])
	*buf = b[:len(b)+n]
	if errors.Is(err, io.EOF) {
		k.eof = true
		err = nil
	}
	return n < want, err
}

// tooLong gives out the beginning of a line that has outgrown the limit.
func (k *blocks) tooLong(buf []byte) block {
	b := block{data: bytes.Clone(buf[:min(len(buf), 64)]), offset: k.offset, tooBig: true, size: int64(len(buf))}
	k.passed = true
	k.offset += b.size
	return b
}

// hopeless gives out the beginning of a line that cannot be read, whatever comes.
func (k *blocks) hopeless(buf []byte) block {
	b := block{data: buf, offset: k.offset, cut: true, size: int64(len(buf))}
	k.passed = true
	k.offset += b.size
	return b
}

// pass goes past some of the rest of a line whose beginning was given out. It
// comes back often, so that a reader can stop in the middle of an endless line.
func (k *blocks) pass(buf []byte) (block, error) {
	if _, err := k.fill(&buf); err != nil {
		return block{}, err
	}
	n := len(buf)
	if n == 0 && k.eof {
		return block{}, io.EOF
	}
	if i := bytes.IndexByte(buf, '\n'); i >= 0 {
		n, k.passed = i+1, false
	}
	b := block{data: buf[:0], offset: k.offset, size: int64(n)}
	k.rest = buf[n:]
	k.offset += b.size
	return b, nil
}
