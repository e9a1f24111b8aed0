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
	dec   *decoder
	lines int64
	done  chan struct{}
}

// parallel decodes blocks of lines in several goroutines and hands them out in
// order. At most workers+1 blocks are in memory at a time, however slow the
// loop over the spans is.
func (f *file) parallel(k *blocks) error {
	n := f.cfg.workers
	free := make(chan *job, n+1)
	for range n + 1 {
		free <- &job{dec: f.decoder(), done: make(chan struct{}, 1)}
	}
	work, order, stop := make(chan *job), make(chan *job, n+1), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(work)
		feed(k, free, work, order, stop)
	})
	for range n {
		wg.Go(func() {
			for j := range work {
				j.lines = j.dec.block(j.block)
				j.done <- struct{}{}
			}
		})
	}
	defer wg.Wait()
	defer close(stop)
	for line := int64(0); ; {
		j := <-order
		if errors.Is(j.err, io.EOF) {
			return nil
		}
		if j.err != nil {
			return j.err
		}
		<-j.done
		if err := f.take(j.dec, line, j.block.offset); err != nil {
			return err
		}
		line += j.lines
		free <- j
	}
}

// feed cuts the file into blocks until its end, an error, or stop.
func feed(k *blocks, free, work, order chan *job, stop <-chan struct{}) {
	for {
		var j *job
		select {
		case j = <-free:
		case <-stop:
			return
		}
		j.block, j.err = k.next(j.buf)
		if j.err == nil && !j.block.tooBig {
			j.buf = j.block.data
		}
		order <- j // never blocks: there are no more jobs than places
		if j.err != nil {
			return
		}
		select {
		case work <- j:
		case <-stop:
			return
		}
	}
}
