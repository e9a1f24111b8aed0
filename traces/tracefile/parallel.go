package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	for at := 0; at < len(b.data); {
		end := len(b.data)
		if i := bytes.IndexByte(b.data[at:], '\n'); i >= 0 {
			end = at + i
		}
		lines++
		d.line, d.at = lines, int64(at)
		if text := b.data[at:end]; len(text) > d.max {
			d.tooLong()
		} else if len(text) > 0 {
			if fault := d.texts(text); fault != "" {
				d.skip("line passed over: " + fault)
			}
		}
		at = end + 1
	}
	return lines
}

func (d *decoder) tooLong() {
	what := fmt.Sprintf("line over the limit of %d bytes", d.max)
	d.refuse(what)
	d.skip(what)
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
// order. At most workers+2 blocks are in memory at a time, however slow the
// loop over the spans is.
//
// Where reading does not wait for anybody, the goroutine of the loop is one of
// the workers: it decodes while it has nothing to hand out. With a goroutine
// more than there are cores, it was the one that waited for its turn, and all
// others for it.
func (f *file) parallel(k *blocks) error {
	n := f.cfg.workers
	c := &crew{k: k, free: make(chan *job, n+2), order: make(chan *job, n+2), stop: make(chan struct{})}
	for range n + 2 {
		c.free <- &job{done: make(chan struct{}, 1)}
	}
	if f.regular {
		n--
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { c.work(f.decoder()) })
	}
	defer wg.Wait()
	defer close(c.stop)
	var own *decoder
	if f.regular {
		own = f.decoder()
	}
	for line := int64(0); ; {
		j := await(c, c.order, own)
		if errors.Is(j.err, io.EOF) {
			return nil
		}
		if j.err != nil {
			return j.err
		}
		await(c, j.done, own)
		if err := f.handOut(&j.batch, line, j.block.offset); err != nil {
			return err
		}
		line += j.lines
		c.free <- j
	}
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
	if j.err == nil && !j.block.tooBig {
		j.buf = j.block.data
	}
	c.end = j.err != nil
	c.order <- j // never blocks: there are no more jobs than places
	return !c.end
}
