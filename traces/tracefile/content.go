package tracefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
	magicBOM  = "\xef\xbb\xbf"

	magicUTF16LE = "\xff\xfe"
	magicUTF16BE = "\xfe\xff"

	// maxWrappings is how many compressions may be around each other.
	maxWrappings = 3
	// maxWindow bounds the memory of zstd. Its writers' defaults need 8 MiB.
	maxWindow = 64 << 20
)

// content finds out what the bytes are and reads them so.
func (f *file) content(r io.Reader) error { return f.unwrap(r, 0) }

func (f *file) unwrap(r io.Reader, wrappings int) error {
	br := bufio.NewReaderSize(r, 64<<10)
	if _, err := br.Peek(16); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head, _ := br.Peek(br.Buffered())
	switch has := strings.HasPrefix; {
	case len(head) == 0:
		return nil
	case wrappings < maxWrappings && has(string(head), magicGzip):
		z, err := gzip.NewReader(br)
		return f.compressed("gzip", z, err, wrappings)
	case wrappings < maxWrappings && has(string(head), magicZstd):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			defer z.Close()
		}
		return f.compressed("zstd", z, err, wrappings)
	case has(string(head), magicUTF16LE), has(string(head), magicUTF16BE):
		f.refused = "UTF-16 text, want UTF-8"
		return nil
	case isFramed(head, f.cfg.maxValue):
		return f.framed(br)
	case isProto(head):
		return f.proto(br)
	case has(string(head), magicBOM):
		_, _ = br.Discard(len(magicBOM)) // it is in the buffer
	}
	return f.json(br)
}

// compressed reads what is in a compressed stream, up to where it is torn.
func (f *file) compressed(name string, z io.Reader, err error, wrappings int) error {
	t := &tornReader{r: z, err: err}
	if err == nil {
		if err := f.unwrap(t, wrappings+1); err != nil {
			return err
		}
	}
	if t.err != nil {
		what := fmt.Sprintf("%s data that cannot be read further: %v", name, t.err)
		if f.refused == "" {
			f.refused = what
		}
		f.skips.add(place{offset: t.n}, what, 1)
	}
	return nil
}

// tornReader ends where the stream under it cannot be decoded, and keeps why.
type tornReader struct {
	r   io.Reader
	n   int64
	err error
}

func (t *tornReader) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, io.EOF
	}
	n, err := t.r.Read(p)
	t.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
		err = io.EOF
	}
	return n, err
}

// json reads text: by lines when the first one that is not blank is whole.
func (f *file) json(r io.Reader) error {
	head, err := firstLine(r, f.cfg.maxValue)
	if err != nil {
		return err
	}
	if len(head) > probeBytes && len(bytes.TrimSpace(head)) == 0 {
		f.refused = "white space"
		return nil
	}
	if f.isLine(head) {
		return f.lines(&blocks{r: r, rest: head, max: f.cfg.maxValue})
	}
	return f.split(&spot{text: head, r: r, line: 1})
}

// isLine says whether a file that begins so is read line by line: unless the
// first line is the beginning of an object or array that goes on.
func (f *file) isLine(head []byte) bool {
	var s otlpjson.Scanner
	s.Reset(head)
	if c := s.Peek(); c != '{' && c != '[' {
		return true
	}
	line := head[s.Offset():]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	} else if len(line) > f.cfg.maxValue || len(line) > probeBytes && isWhole(line) {
		return false
	}
	s.Reset(line)
	s.Skip()
	return !errors.Is(s.Err(), otlpjson.ErrTruncated)
}

// firstLine reads to the end of the first line that is not blank, and a bit
// on; at most limit bytes of it, or what shows that it is no document.
func firstLine(r io.Reader, limit int) ([]byte, error) {
	buf := make([]byte, 0, 64<<10)
	text := false // something that is not white space was seen
	probe := probeBytes
	for {
		start := len(buf)
		buf = withRoom(buf, 32<<10, limit)
		n, err := r.Read(buf[start:cap(buf)])
		buf = buf[:start+n]
		fresh := buf[start:]
		if !text {
			fresh = bytes.TrimLeft(fresh, " \t\r\n")
			text = len(fresh) > 0
		}
		if bytes.IndexByte(fresh, '\n') >= 0 || len(buf) > limit || errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
		if len(buf) > probe {
			if isWhole(buf) || hopeless(buf) {
				return buf, nil
			}
			probe = 2 * len(buf)
		}
	}
}
