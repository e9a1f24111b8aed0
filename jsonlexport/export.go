package jsonlexport

import (
	"context"
	"errors"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// batch is one call of ExportSpans that waits for its lines. The exporter's
// mutex guards it until done is closed.
type batch struct {
	lines int // not yet written
	err   error
	done  chan struct{}
}

// flush is one call of ForceFlush that waits for the writer.
type flush struct {
	failed uint64 // how many could not be written when it began
	err    error  // set before done is closed
	done   chan struct{}
}

// ExportSpans writes the spans, all of them whether sampled or not, and returns
// when they are written, with the error of writing them. When ctx ends first it
// returns ctx's error; the spans stay queued and are counted as what becomes of
// them. With a ctx that never ends, such as a syncer's, it writes itself, unless
// somebody else is writing, and is held up as long as the disk is. Spans for
// which the buffers have no room are dropped, which is an error too. After
// [Exporter.Shutdown] the error wraps [ErrClosed].
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	sc := e.scratch()
	lines, encodeErr := e.lines(sc, spans)
	b := &batch{done: make(chan struct{})}
	queued, dropErr := e.submit(b, lines)
	e.putScratch(sc)
	switch {
	case !queued:
	case ctx.Done() == nil:
		e.writeHere()
	default:
		e.signal()
	}
	if err := e.wait(ctx, b.done); err != nil {
		return fmt.Errorf("jsonlexport: export: %w", err)
	}
	if err := errors.Join(encodeErr, dropErr, b.err); err != nil {
		return fmt.Errorf("jsonlexport: export: %w", err)
	}
	return nil
}

// wait returns nil when done is closed, else why it does not wait longer.
func (e *Exporter) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-e.gaveUp:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lines encodes the spans into lines of their own, those of one resource and
// scope together. Spans that cannot be encoded are counted here.
func (e *Exporter) lines(sc *scratch, spans []sdktrace.ReadOnlySpan) (lines []*chunk, err error) {
	l := lining{e: e, sc: sc, all: len(spans), lines: sc.lines[:0]}
	for len(spans) > 0 {
		done, encodeErr := l.add(spans)
		spans = spans[done:]
		if encodeErr != nil {
			err = encodeErr
			l.failed++
			spans = spans[1:]
		}
	}
	l.finish()
	if l.failed > 0 {
		e.unencodable(l.failed)
	}
	sc.lines = l.lines
	return l.lines, err
}

// lining is the lines of one call of ExportSpans in the making.
type lining struct {
	e      *Exporter
	sc     *scratch
	all    int // spans of the call
	lines  []*chunk
	failed uint64

	// Of the span before: the next one mostly goes to the same line. The lines
	// of the other groups are in open.
	group *group
	chunk *chunk
	open  map[*group]*chunk
}

// turn makes g the group of the next span.
func (l *lining) turn(g *group) {
	if l.chunk != nil {
		if l.open == nil {
			l.open = map[*group]*chunk{}
		}
		l.open[l.group] = l.chunk
	}
	l.group, l.chunk = g, l.open[g]
}

// finish ends the last line of each group.
func (l *lining) finish() {
	if l.open == nil { // one group, as nearly always
		if l.chunk != nil {
			l.chunk.buf = l.group.finish(l.chunk.buf)
		}
		return
	}
	l.turn(nil)
	for g, c := range l.open {
		c.buf = g.finish(c.buf)
	}
}

// directRoom is what a line has to have left for a span to be encoded in place.
// Where it has less, a span is encoded in the scratch, so that no line grows past
// its capacity, which would copy all of it.
const directRoom = 8 << 10

// add encodes spans until one panics, and returns how many it has done.
func (l *lining) add(spans []sdktrace.ReadOnlySpan) (done int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("encode span: panic: %v", r)
		}
	}()
	for ; done < len(spans); done++ {
		s := spans[done]
		if s == nil {
			continue
		}
		scope := s.InstrumentationScope()
		g := l.e.group(l.sc, s.Resource(), &scope)
		if g != l.group {
			l.turn(g)
		}
		if c := l.chunk; c != nil && cap(c.buf)-len(c.buf) >= directRoom && len(c.buf)+directRoom <= l.e.buf.line {
			start := len(c.buf)
			c.buf = l.e.enc.AppendSpan(&l.sc.keys, c.buf, s)
			if len(c.buf)+len(g.end) <= l.e.buf.line {
				c.spans++
				continue
			}
			// A large one: the room of the line was not enough.
			l.sc.buf = append(l.sc.buf[:0], c.buf[start:]...)
			c.buf = c.buf[:start]
			l.append(l.sc.buf)
			continue
		}
		l.sc.buf = l.e.enc.AppendSpan(&l.sc.keys, l.sc.buf[:0], s)
		l.append(l.sc.buf)
	}
	return done, nil
}

// append adds an encoded span to the line, or to a new one when that is full.
func (l *lining) append(span []byte) {
	c := l.chunk
	if c == nil || len(c.buf)+len(span)+len(l.group.end) > l.e.buf.line {
		if c != nil {
			c.buf = l.group.finish(c.buf)
		}
		c = l.e.chunk(l.group, len(span)*(l.all+2))
		l.lines = append(l.lines, c)
		l.chunk = c
	}
	c.buf = append(c.buf, span...)
	c.spans++
}

// chunk returns the beginning of a line. Those of earlier calls are used again:
// growing one to 512 KiB anew costs more than the encoding. When the garbage
// collector has taken them, one of about the size is made at once.
func (e *Exporter) chunk(g *group, size int) *chunk {
	c, ok := e.full.Get().(*chunk)
	if !ok {
		c = &chunk{buf: make([]byte, 0, len(g.end)+min(size, e.buf.line))}
	}
	c.buf = append(c.buf[:0], otlpjson.LineStart...)
	return c
}

// submit queues the lines for the writer and returns whether there are any, and
// why some were dropped. The batch is done when all that were queued are written.
func (e *Exporter) submit(b *batch, lines []*chunk) (queued bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range lines {
		e.stats.Ended += c.spans
		c.batch = b
		switch {
		case e.closed:
			e.stats.Dropped += c.spans
			err = ErrClosed
		case e.buf.add(c):
			e.stats.Queued += c.spans
			b.lines++
		default:
			e.stats.Dropped += c.spans
			err = fmt.Errorf("buffers hold %d bytes and are full, spans are dropped", e.buf.limit)
		}
	}
	if b.lines == 0 {
		close(b.done)
	}
	return b.lines > 0, err
}

// ForceFlush writes what is buffered and returns when it is written, with the
// error of writing it, or with ctx's error when that ends first.
func (e *Exporter) ForceFlush(ctx context.Context) error {
	f := &flush{done: make(chan struct{})}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	f.failed = e.unwritten()
	e.flushes = append(e.flushes, f)
	e.mu.Unlock()
	e.signal()
	err := e.wait(ctx, f.done)
	if err == nil {
		err = f.err
	}
	if err != nil {
		return fmt.Errorf("jsonlexport: flush: %w", err)
	}
	return nil
}

// Shutdown writes what is buffered, closes the file and ends the goroutine.
// When ctx ends first, what is not written by then is counted as failed, though
// the line being written may still arrive. The error says how many spans were
// lost since New, and why. Every call returns what the first one did.
func (e *Exporter) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	if !first {
		select {
		case <-e.finished:
			return e.result
		case <-ctx.Done():
			return fmt.Errorf("jsonlexport: shutdown: %w", ctx.Err())
		}
	}
	e.signal()
	e.result = e.finish(ctx)
	close(e.finished)
	return e.result
}

func (e *Exporter) finish(ctx context.Context) error {
	var err error
	select {
	case <-e.done:
	case <-ctx.Done():
		err = ctx.Err()
		e.abandon()
	}
	e.mu.Lock()
	s, cause := e.stats, e.cause
	e.mu.Unlock()
	err = errors.Join(err, cause)
	if lost := s.Failed + s.Dropped; lost > 0 {
		if err == nil {
			err = errors.New("the buffers were full")
		}
		err = fmt.Errorf("%d of %d spans lost, %d failed and %d dropped: %w", lost, s.Ended, s.Failed, s.Dropped, err)
	}
	if err != nil {
		return fmt.Errorf("jsonlexport: shutdown: %w", err)
	}
	return nil
}

// abandon gives up on what is queued, because the disk hangs.
func (e *Exporter) abandon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.abandoned = true
	e.stats.Failed += e.stats.Queued
	e.stats.Queued = 0
	e.buf.drop()
	close(e.gaveUp)
}
