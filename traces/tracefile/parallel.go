package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// block decodes the lines of a block and returns how many there are. Places in
// skips are relative to the block.
func (d *decoder) block(b block) (lines int64) {
	if b.tooBig {
		d.line, d.at = 1, 0
		d.tooLong()
		return 1
	}
	if b.cut {
		d.line, d.at = 1, 0
		d.late = true
		fault := d.texts(b.data)
		if fault == "" { // brackets alone, or white space
			fault = d.foreign(b.data)
		}
		d.skip("line passed over: " + fault)
		return 1
	}
	for at := 0; at < len(b.data); {
		end := len(b.data)
		if i := bytes.IndexByte(b.data[at:], '\n'); i >= 0 {
			end = at + i
		}
		lines++
		d.line, d.at, d.faults.number = lines, int64(at), 0
		text := b.data[at:end]
		if len(text) > 0 && text[0] == 0 { // a crash left them in place of what was written
			text = bytes.TrimLeft(text, "\x00")
			d.skip("NUL bytes")
		}
		switch {
		case len(text) > d.max:
			d.tooLong()
		case !d.lines && opens(text):
			d.opens = at + 1
			return lines - 1
		case len(text) > 0:
			if fault := d.texts(text); fault != "" {
				d.skip("line passed over: " + fault)
			}
		}
		at = end + 1
	}
	return lines
}

// opens says whether a line is the first of a value that goes on in the next: of
// brackets alone. A line that was torn is rarely so short.
func opens(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && len(line) <= 4 && line[len(line)-1] == '{' && len(bytes.Trim(line, "[{")) == 0
}

func (d *decoder) tooLong() {
	what := fmt.Sprintf("line over the limit of %d bytes", d.max)
	d.refuse(what)
	d.skip(what)
	d.late = d.max >= refuseAfter // else what comes may still show what the file is
}

// job is a block on its way through a worker.
type job struct {
	block block
	buf   []byte // the memory of block
	err   error  // the end of the file, or why it cannot be read
	batch batch
	lines int64
	done  chan struct{}
}

// crew is several goroutines that decode one file. Each of them reads its next
// block itself, one at a time: what a core has read is in its cache, and no
// block has to wait for somebody to hand it over.
type crew struct {
	free  chan *job
	order chan *job // in the order of the file
	stop  chan struct{}

	mu  sync.Mutex
	k   *blocks
	end bool // of k
}

// parallel decodes blocks of lines in several goroutines and hands them out in
// order. At most workers+4 blocks are in memory at a time, however slow the
// loop over the spans is.
//
// Where reading does not wait for anybody, the goroutine of the loop is one of
// the workers: it decodes while it has nothing to hand out. With a goroutine
// more than there are cores, it was the one that waited for its turn, and all
// others for it.
func (f *file) parallel(k *blocks) (opened *spot, err error) {
	n := f.cfg.workers
	c := &crew{k: k, free: make(chan *job, n+4), order: make(chan *job, n+4), stop: make(chan struct{})}
	for range n + 4 {
		c.free <- &job{done: make(chan struct{}, 1)}
	}
	if f.regular {
		n--
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { c.work(f.decoder()) })
	}
	defer func() {
		close(c.stop)
		wg.Wait()
		if opened != nil {
			opened.r = c.rest()
		}
	}()
	var own *decoder
	if f.regular {
		own = f.decoder()
	}
	for line := int64(0); ; {
		j := await(c, c.order, own)
		if errors.Is(j.err, io.EOF) {
			return nil, nil
		}
		if j.err != nil {
			return nil, j.err
		}
		await(c, j.done, own)
		if err := f.handOut(&j.batch, line, j.block.offset); err != nil {
			return nil, err
		}
		line += j.lines
		if at := j.batch.opens; at > 0 {
			return j.block.from(at-1, line), nil
		}
		c.free <- j
	}
}

// rest is what comes after the last block that was received, when nobody works.
func (c *crew) rest() io.Reader {
	var list []io.Reader
	for {
		select {
		case j := <-c.order:
			list = append(list, bytes.NewReader(j.block.data))
		default:
			return io.MultiReader(append(list, bytes.NewReader(c.k.rest), c.k.r)...)
		}
	}
}

// from is the place at an offset in the block, after so many lines.
func (b *block) from(at int, lines int64) *spot {
	return &spot{text: slices.Clip(b.data[at:]), line: lines + 1, offset: b.offset + int64(at)}
}

// await receives from ch, and decodes blocks with d, if it is not nil, until
// there is something in it.
func await[T any](c *crew, ch <-chan T, d *decoder) T {
	for help := d != nil; help; {
		select {
		case v := <-ch:
			return v
		default:
			help = c.help(d)
		}
	}
	return <-ch
}

// help decodes a block, when there is memory for one.
func (c *crew) help(d *decoder) bool {
	select {
	case j := <-c.free:
		return c.decode(d, j)
	default:
		return false
	}
}

// work decodes blocks until the file's end, an error, or stop.
func (c *crew) work(d *decoder) {
	for {
		select {
		case <-c.stop:
			return
		case j := <-c.free:
			if !c.decode(d, j) {
				return
			}
		}
	}
}

// decode reads the next block and decodes it, unless there is none.
func (c *crew) decode(d *decoder, j *job) bool {
	if !c.read(j) {
		return false
	}
	d.batch = &j.batch
	j.lines = d.block(j.block)
	j.done <- struct{}{}
	return true
}

// read puts the next block into j, and j into the order.
func (c *crew) read(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end {
		return false
	}
	j.block, j.err = c.k.next(j.buf)
	if j.err == nil && cap(j.block.data) <= 4*probeBytes {
		j.buf = j.block.data
	}
	c.end = j.err != nil
	c.order <- j // never blocks: there are no more jobs than places
	return !c.end
}
