package tracefile

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/waymark-trace/waymark/traces"
)

// refuseAfter is how much of a file is looked through for a first span document.
const refuseAfter = 1 << 20

// file is one file being read.
type file struct {
	cfg    config
	name   string
	shared *shared
	yield  func(*traces.Span, error) bool

	regular bool // not a pipe: a read does not wait for a writer
	format  Format
	spans   int64
	known   int64  // documents of spans
	refused string // the first thing that was none
	skips   skips
}

// read reads the file from its beginning to its end.
func (f *file) read(src source) error {
	rc, err := src.open()
	if err != nil {
		return err
	}
	if file, ok := rc.(*os.File); ok {
		info, err := file.Stat()
		f.regular = err == nil && info.Mode().IsRegular()
	}
	err = f.content(rc)
	if e := rc.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = f.verdict()
	}
	return err
}

// verdict refuses a file in which there was something, but no spans' document.
func (f *file) verdict() error {
	if f.known == 0 && f.refused != "" {
		return &NotSpansError{File: f.name, Saw: f.refused}
	}
	return nil
}

// decoder makes a decoder for the file.
func (f *file) decoder() *decoder {
	d := &decoder{shared: f.shared, fields: f.cfg.fields, max: f.cfg.maxValue, batch: &batch{}}
	d.s.Mismatch = d.mismatch
	return d
}

// handOut hands out what was read, and clears it. line and offset are where the
// batch's own count began.
func (f *file) handOut(b *batch, line, offset int64) error {
	f.known += b.known
	if f.format == "" {
		f.format = b.format
	}
	if f.refused == "" {
		f.refused = b.refused
	}
	f.skips.merge(&b.skips, line, offset)
	b.skips.reset()
	b.known, b.refused = 0, ""
	for _, sp := range b.out {
		f.spans++
		if !f.yield(sp, nil) {
			return errStopped
		}
	}
	clear(b.out)
	b.out = b.out[:0]
	late := b.late || offset > refuseAfter
	b.late = false
	if f.known == 0 && late {
		return f.verdict()
	}
	return nil
}

// lines reads a file of lines with as many workers as were asked for, up to where
// it is none.
func (f *file) lines(k *blocks) error {
	read := f.oneByOne
	if f.cfg.workers > 1 {
		read = f.parallel
	}
	opened, err := read(k)
	if err != nil || opened == nil {
		return err
	}
	return f.split(opened)
}

// oneByOne decodes blocks of lines in this goroutine.
func (f *file) oneByOne(k *blocks) (opened *spot, err error) {
	d := f.decoder()
	line := int64(0)
	var buf []byte
	for {
		b, err := k.next(buf)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		lines := d.block(b)
		if err := f.handOut(d.batch, line, b.offset); err != nil {
			return nil, err
		}
		line += lines
		if d.opens > 0 {
			opened = b.from(d.opens-1, line)
			opened.r = io.MultiReader(bytes.NewReader(k.rest), k.r)
			return opened, nil
		}
		if cap(b.data) <= 4*probeBytes {
			buf = b.data
		}
	}
}
