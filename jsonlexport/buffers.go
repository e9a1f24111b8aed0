package jsonlexport

import (
	"math"
	"math/bits"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

const (
	lineBytes   = 512 << 10 // what a line aims at; the Collector stops at 1 MiB
	smallBytes  = 64 << 10  // a chunk grows by doubling up to here, then to a whole line
	minBytes    = 4 << 10
	maxSpare    = 4   // whole-line chunks kept for the next lines
	maxGroups   = 256 // resources and scopes whose lines are kept open
	dueFraction = 4   // a buffer this full is written without waiting for the timer
)

// groupKey is what a line has in common: one resource and one scope. Resources
// are told apart by pointer, which a provider has one of.
type groupKey struct {
	res                   *resource.Resource
	name, version, schema string
	attributes            attribute.Distinct
}

func keyOf(res *resource.Resource, s *instrumentation.Scope) groupKey {
	return groupKey{res: res, name: s.Name, version: s.Version, schema: s.SchemaURL, attributes: s.Attributes.Equivalent()}
}

// group is the buffer of one resource and scope. Key and end never change;
// the rest belongs to the buffers.
type group struct {
	key  groupKey
	end  []byte // of each line, after the list of spans
	open *chunk
	hint int  // the size of the last line
	gone bool // no longer in the buffers: look it up again
}

// chunk is one line in the making, or one that waits to be written.
type chunk struct {
	buf   []byte
	spans uint64
	batch *batch // whose ExportSpans waits for it, or nil
}

// buffers holds what has been encoded and not yet written. Its owner's mutex
// guards it.
type buffers struct {
	limit  int // bound of used
	line   int // what a line aims at
	small  int
	used   int // capacity of all chunks, whether open, ready, being written or spare
	opened int // bytes in open chunks
	spare  []*chunk
	groups map[groupKey]*group
	ready  []*chunk // sealed, in the order they are to be written
}

func newBuffers(limit int64, maxFile int64) *buffers {
	line := int(max(1, min(lineBytes, limit/4, maxFile/4)))
	return &buffers{limit: int(min(limit, math.MaxInt)), line: line, small: min(smallBytes, line), groups: map[groupKey]*group{}}
}

func (b *buffers) empty() bool { return b.opened == 0 && len(b.ready) == 0 }

// keeps says whether there is something to write, or to give back when the burst
// is over.
func (b *buffers) keeps() bool { return !b.empty() || len(b.spare) > 0 }

// due says whether to write now rather than at the next tick.
func (b *buffers) due() bool { return len(b.ready) > 0 || b.opened > b.limit/dueFraction }

// insert makes the group known, unless another goroutine was first.
func (b *buffers) insert(g *group) *group {
	if have := b.groups[g.key]; have != nil {
		return have
	}
	if len(b.groups) >= maxGroups {
		b.forget()
	}
	g.gone = false
	b.groups[g.key] = g
	return g
}

// forget drops every group, so that a program which keeps making scopes or
// resources does not make us grow.
func (b *buffers) forget() {
	b.sealAll()
	for _, g := range b.groups {
		g.gone = true
	}
	clear(b.groups)
}

// append adds a span to the group's line and says whether there was room.
func (b *buffers) append(g *group, span []byte) bool {
	need := len(span) + len(g.end)
	if g.open != nil && len(g.open.buf)+need > b.line {
		b.seal(g)
	}
	c := g.open
	if c == nil {
		c = &chunk{}
		first := len(otlpjson.LineStart) + need
		if !b.grow(c, max(first, g.hint)) && !b.grow(c, first) {
			return false
		}
		c.buf = append(c.buf, otlpjson.LineStart...)
		g.open = c
		b.opened += len(c.buf)
	} else if !b.grow(c, need) {
		return false
	}
	c.buf = append(c.buf, span...)
	c.spans++
	b.opened += len(span)
	return true
}

// grow makes room for need more bytes, if the bound allows it.
func (b *buffers) grow(c *chunk, need int) bool {
	want := len(c.buf) + need
	if want <= cap(c.buf) {
		return true
	}
	size := b.class(want)
	var buf []byte
	if n := len(b.spare); n > 0 && size == b.line {
		buf = b.spare[n-1].buf[:0]
		b.spare[n-1] = nil
		b.spare = b.spare[:n-1]
		b.used -= cap(c.buf)
	} else {
		if b.used+size-cap(c.buf) > b.limit {
			b.trim()
			size = want
		}
		if b.used+size-cap(c.buf) > b.limit {
			return false
		}
		buf = make([]byte, 0, size)
		b.used += size - cap(c.buf)
	}
	c.buf = append(buf, c.buf...)
	return true
}

// class is the capacity given to a chunk that has to hold n bytes.
func (b *buffers) class(n int) int {
	switch {
	case n <= minBytes && minBytes <= b.small:
		return minBytes
	case n <= b.small:
		return min(1<<bits.Len(uint(n-1)), b.small)
	case n <= b.line:
		return b.line
	default:
		return n
	}
}

// finish ends a line of the group.
func (g *group) finish(line []byte) []byte {
	return append(otlpjson.CloseList(line), g.end...)
}

// seal makes the group's open chunk a line that is ready.
func (b *buffers) seal(g *group) {
	c := g.open
	b.opened -= len(c.buf)
	c.buf = g.finish(c.buf)
	g.open, g.hint = nil, len(c.buf)
	b.ready = append(b.ready, c)
}

func (b *buffers) sealAll() {
	for _, g := range b.groups {
		if g.open != nil {
			b.seal(g)
		}
	}
}

// add takes a finished line of ExportSpans, if the bound allows it.
func (b *buffers) add(c *chunk) bool {
	if b.used+cap(c.buf) > b.limit {
		b.trim()
	}
	if b.used+cap(c.buf) > b.limit {
		return false
	}
	b.used += cap(c.buf)
	b.ready = append(b.ready, c)
	return true
}

// take seals and hands over all that is buffered. What was handed over is given
// back with release, and counts as used until then.
func (b *buffers) take(into []*chunk) []*chunk {
	b.sealAll()
	into = append(into, b.ready...)
	clear(b.ready)
	b.ready = b.ready[:0]
	return into
}

// release takes back a chunk that has been written.
func (b *buffers) release(c *chunk) {
	if cap(c.buf) == b.line && b.line > b.small && len(b.spare) < maxSpare && c.batch == nil {
		c.spans = 0
		b.spare = append(b.spare, c)
		return
	}
	b.used -= cap(c.buf)
}

// trim gives the spare chunks back to the garbage collector.
func (b *buffers) trim() {
	for _, c := range b.spare {
		b.used -= cap(c.buf)
	}
	b.spare = nil
}

// drop forgets everything.
func (b *buffers) drop() {
	for _, g := range b.groups {
		g.open, g.gone = nil, true
	}
	*b = buffers{limit: b.limit, line: b.line, small: b.small, groups: map[groupKey]*group{}}
}
