package jsonlexport

import (
	"fmt"
	"io"
	"time"
)

// sink is where lines go. It is called by who holds writing alone, but for path.
type sink interface {
	begin()                                // before the lines of one round
	write(line []byte, spans uint64) error // one whole line
	close() error
	path() string
}

// run is the background writer: it writes when a line is full, when the timer
// says that the oldest span has waited long enough, and when someone flushes.
// The timer runs only while something is buffered, so that an idle program is
// never woken up.
func (e *Exporter) run() {
	defer close(e.done)
	timer := time.NewTimer(e.cfg.flushInterval)
	timer.Stop()
	armed := false
	for {
		now := false
		select {
		case <-e.wake:
		case <-timer.C:
			armed, now = false, true
		}
		e.writing <- struct{}{}
		last, rearm := e.turn(now)
		<-e.writing
		if last {
			e.closeSink()
			return
		}
		if !armed && rearm {
			timer.Reset(e.cfg.flushInterval)
			armed = true
		}
	}
}

// turn writes what there is, if it is time. The caller holds writing. It says
// whether that was the last, and whether the timer has something to look after.
func (e *Exporter) turn(now bool) (last, rearm bool) {
	r := &e.round
	if e.next(r, now) {
		e.writeRound(r)
	}
	return r.last, r.rearm
}

// writeHere is a turn of the writer on the goroutine of an ExportSpans that waits
// for it as long as it takes: to wake another and be woken by it was a sixth of a
// batch (ADR 0020). While somebody else writes it leaves it to the writer.
func (e *Exporter) writeHere() {
	select {
	case e.writing <- struct{}{}:
	default:
		e.signal()
		return
	}
	defer func() { <-e.writing }()
	if last, rearm := e.turn(false); last || rearm {
		e.signal() // the timer and the end are the writer's
	}
}

// round is what one turn of the writer writes.
type round struct {
	lines   []*chunk
	flushes []*flush
	last    bool
	rearm   bool // something is buffered, or kept, that the timer has to look after
}

// next fills the round and says whether it is to be written now.
func (e *Exporter) next(r *round, now bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !now && !e.closed && len(e.flushes) == 0 && !e.buf.due() {
		r.rearm = e.buf.keeps()
		return false
	}
	r.lines = e.buf.take(r.lines[:0])
	r.flushes, e.flushes = e.flushes, nil
	r.last = e.closed
	return true
}

func (e *Exporter) writeRound(r *round) {
	if len(r.lines) > 0 {
		e.out.begin()
	}
	fullLine := false
	for i, c := range r.lines {
		r.lines[i] = nil
		fullLine = fullLine || len(c.buf) > e.buf.small
		if !e.write(c) {
			break
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !fullLine {
		e.buf.trim() // the burst is over
	}
	r.rearm = e.buf.keeps()
	for _, f := range r.flushes {
		if n := e.unwritten() - f.failed; n > 0 {
			f.err = fmt.Errorf("%d spans could not be written: %w", n, e.cause)
		}
		close(f.done)
	}
	r.flushes = nil
}

// write writes one line and accounts for it. It returns false when Shutdown has
// given up, and accounted for it, in the meantime.
func (e *Exporter) write(c *chunk) bool {
	err := e.out.write(c.buf, c.spans)
	waited := c.batch != nil
	if !e.account(c, err) {
		return false
	}
	if err != nil && !waited {
		e.report(kindWrite, err)
	}
	return true
}

func (e *Exporter) account(c *chunk, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.abandoned {
		return false
	}
	e.stats.Queued -= c.spans
	if err != nil {
		e.stats.Failed += c.spans
		e.cause = err
	} else {
		e.stats.Exported += c.spans
	}
	e.buf.release(c)
	if b := c.batch; b != nil {
		if err != nil {
			b.err = err
		}
		if b.lines--; b.lines == 0 {
			close(b.done)
		}
		c.batch, c.spans = nil, 0
		if cap(c.buf) <= 2*e.buf.line {
			e.full.Put(c)
		}
	}
	return true
}

// unwritten are the spans that could not be written. The caller holds mu.
func (e *Exporter) unwritten() uint64 { return e.stats.Failed - e.taken }

// gone accounts for what becomes of the file, and tells people.
func (e *Exporter) gone(g gone) {
	e.mu.Lock()
	if !e.abandoned {
		e.stats.Discarded += g.discarded
		e.stats.Exported -= g.lost
		e.stats.Failed += g.lost
		e.taken += g.lost
		if g.lost > 0 {
			e.cause = g.why
		}
	}
	e.mu.Unlock()
	switch {
	case g.why == nil:
	case g.lost > 0:
		e.report(kindLost, g.why)
	default:
		e.report(kindFile, g.why)
	}
}

func (e *Exporter) closeSink() {
	if err := e.out.close(); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.cause = err
	}
}

// writerSink is the sink of NewWriter.
type writerSink struct {
	w    io.Writer
	torn bool // the last line is not whole
}

func (*writerSink) begin()       {}
func (*writerSink) close() error { return nil }
func (*writerSink) path() string { return "" }

func (s *writerSink) write(line []byte, _ uint64) error {
	if s.torn {
		if _, err := guardedWrite(s.w, []byte{'\n'}); err != nil {
			return err
		}
		s.torn = false
	}
	n, err := guardedWrite(s.w, line)
	s.torn = err != nil && n > 0
	return err
}

// guardedWrite turns a panic of the caller's writer, which would end the
// program from our goroutine, into an error.
func guardedWrite(w io.Writer, p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write: panic: %v", r)
		}
	}()
	n, err = w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
