package jsonlexport

import (
	"fmt"
	"io"
	"time"
)

// sink is where lines go. It is called by the background goroutine alone, but
// for path.
type sink interface {
	begin()                                                        // before the lines of one round
	write(line []byte, spans uint64) (discarded uint64, err error) // one whole line
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
	var r round
	for {
		now := false
		select {
		case <-e.wake:
		case <-timer.C:
			armed, now = false, true
		}
		if e.next(&r, now) {
			e.writeRound(&r)
		}
		if r.last {
			e.closeSink()
			return
		}
		if !armed && r.rearm {
			timer.Reset(e.cfg.flushInterval)
			armed = true
		}
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
		r.rearm = !e.buf.empty()
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
	r.rearm = !e.buf.empty() || len(e.buf.spare) > 0
	for _, f := range r.flushes {
		if n := e.stats.Failed - f.failed; n > 0 {
			f.err = fmt.Errorf("%d spans could not be written: %w", n, e.cause)
		}
		close(f.done)
	}
	r.flushes = nil
}

// write writes one line and accounts for it. It returns false when Shutdown has
// given up, and accounted for it, in the meantime.
func (e *Exporter) write(c *chunk) bool {
	discarded, err := e.out.write(c.buf, c.spans)
	waited := c.batch != nil
	if !e.account(c, discarded, err) {
		return false
	}
	if err != nil && !waited {
		e.report(kindWrite, err)
	}
	return true
}

func (e *Exporter) account(c *chunk, discarded uint64, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.abandoned {
		return false
	}
	e.stats.Queued -= c.spans
	e.stats.Discarded += discarded
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

func (s *writerSink) write(line []byte, _ uint64) (uint64, error) {
	if s.torn {
		if _, err := guardedWrite(s.w, []byte{'\n'}); err != nil {
			return 0, err
		}
		s.torn = false
	}
	n, err := guardedWrite(s.w, line)
	s.torn = err != nil && n > 0
	return 0, err
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
