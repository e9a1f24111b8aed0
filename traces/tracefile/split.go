package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// splitter cuts a stream that is not lines into JSON objects: pretty-printed
// documents, documents one after the other, and arrays of them, whose brackets
// and commas count as white space between objects. So does the frame of a
// document over the limit: its elements come one by one.
type splitter struct {
	r      io.Reader
	max    int
	buf    []byte
	pos    int   // in buf, of what was not given out
	offset int64 // of buf[0] in the file
	line   int64 // of buf[pos]
	array  bool  // what is given out next stands in one
	eof    bool

	frames int      // gone past inside one another
	seen   int64    // in the file: the end of what was looked through for the last of them
	past   *nesting // of an object given out before, of which more comes
}

// piece is what a splitter gives out.
type piece struct {
	text   []byte
	line   int64
	offset int64
	array  bool   // text stands in one
	fault  string // why text is not a whole object
	cut    bool   // text is only the beginning of it
}

// next returns the next piece, valid until the one after it; io.EOF at the end.
func (k *splitter) next() (piece, error) {
	for {
		if k.pos == len(k.buf) {
			if err := k.fill(0); err != nil {
				return piece{}, err
			}
			if k.past == nil {
				return k.give(0, ""), nil // white space and brackets may go on for ever
			}
		}
		if k.past != nil {
			return k.pass(), nil
		}
		switch k.buf[k.pos] {
		case '\n':
			k.line++
			k.pos++
		case '[', ']':
			k.array = k.buf[k.pos] == '['
			k.pos++
		case ' ', '\t', '\r', ',', '}':
			k.pos++
		case '{':
			return k.object()
		default:
			return k.garbage()
		}
	}
}

// fill reads more into the buffer, which begins at pos after it: n bytes on
// from there have been looked at.
func (k *splitter) fill(n int) error {
	if k.eof {
		return io.EOF
	}
	k.offset += int64(k.pos)
	k.buf = k.buf[:copy(k.buf, k.buf[k.pos:k.pos+n])]
	k.pos = 0
	k.buf = withRoom(k.buf, 32<<10, k.max)
	for {
		m, err := k.r.Read(k.buf[len(k.buf):cap(k.buf)])
		k.buf = k.buf[:len(k.buf)+m]
		if errors.Is(err, io.EOF) {
			k.eof = true
			if m == 0 {
				return io.EOF
			}
			return nil
		}
		if m > 0 || err != nil {
			return err
		}
	}
}

// give returns the n bytes from pos on and goes past them.
func (k *splitter) give(n int, fault string) piece {
	p := piece{text: k.buf[k.pos : k.pos+n], line: k.line, offset: k.offset + int64(k.pos), array: k.array, fault: fault}
	for _, c := range p.text {
		if c == '\n' {
			k.line++
		}
	}
	k.pos += n
	return p
}

// garbage gives out what is no object, to the end of the line.
func (k *splitter) garbage() (piece, error) {
	for n := 0; ; n++ {
		if k.pos+n == len(k.buf) {
			if err := k.fill(n); errors.Is(err, io.EOF) {
				return k.give(n, faultNotJSON), nil
			} else if err != nil {
				return piece{}, err
			}
		}
		if c := k.buf[k.pos+n]; c == '\n' || n >= blockBytes {
			return k.give(n, faultNotJSON), nil
		}
	}
}

// nesting follows the brackets of one object.
type nesting struct {
	depth    int
	inString bool
	escaped  bool
	last     byte // that is not white space
	newline  bool // the byte before was one
}

// step goes over one byte, and says whether the object ends with it, or that
// it was torn before it: a string goes over a line's end, or a new object
// begins a line where none can be.
func (t *nesting) step(c byte) (ends, torn bool) {
	newline := t.newline
	t.newline = c == '\n'
	if t.inString {
		switch {
		case c == '\n':
			return false, true
		case t.escaped:
			t.escaped = false
		case c == '\\':
			t.escaped = true
		case c == '"':
			t.inString = false
			t.last = c
		}
		return false, false
	}
	switch c {
	case ' ', '\t', '\r', '\n':
		return false, false
	case '"':
		t.inString = true
	case '{', '[':
		if newline && c == '{' && t.last != ',' && t.last != '[' && t.last != ':' {
			return false, true
		}
		t.depth++
	case '}', ']':
		t.depth--
	}
	t.last = c
	return t.depth == 0, false
}

// object gives out the object that begins at pos.
func (k *splitter) object() (piece, error) {
	var t nesting
	probe := probeBytes
	for n := 0; ; n++ {
		if k.pos+n == len(k.buf) {
			if n > k.max {
				if k.descend(n) {
					return k.next()
				}
				return k.tooBig(&t, n), nil
			}
			if n > probe {
				if hopeless(k.buf[k.pos : k.pos+n]) {
					return k.begun(&t, n, ""), nil
				}
				probe = 2 * n
			}
			if err := k.fill(n); errors.Is(err, io.EOF) {
				if k.descend(n) {
					return k.next()
				}
				return k.give(n, otlpjson.ErrTruncated.Error()), nil
			} else if err != nil {
				return piece{}, err
			}
		}
		switch ends, torn := t.step(k.buf[k.pos+n]); {
		case ends:
			return k.give(n+1, ""), nil
		case torn:
			return k.give(n, otlpjson.ErrTruncated.Error()), nil
		}
	}
}

// maxFrames is how many documents inside one another are read element by element.
// Each of them is looked through anew: without a limit, a file of nothing but
// frames would be as often as it has any.
const maxFrames = 4

// descend goes past the frame of a document of which n bytes were looked through,
// so that the elements of its list are the next objects.
func (k *splitter) descend(n int) bool {
	at := k.offset + int64(k.pos)
	if at >= k.seen {
		k.frames = 0
	}
	if k.frames == maxFrames {
		return false
	}
	var s otlpjson.Scanner
	s.Reset(k.buf[k.pos:])
	for ok := s.Begin('{'); ok && s.More('}'); {
		switch string(s.Key()) {
		case "resourceSpans", "resource_spans", "batches", "data":
			if s.Peek() == '[' {
				k.give(s.Offset()+1, "")
				k.frames, k.seen = k.frames+1, at+int64(n)
				return true
			}
		}
		s.Skip()
	}
	return false
}

// tooBig gives out the beginning of an object of which n bytes were seen.
func (k *splitter) tooBig(t *nesting, n int) piece {
	p := k.begun(t, n, fmt.Sprintf("object over the limit of %d bytes", k.max))
	p.text = bytes.Clone(p.text[:min(len(p.text), 64)])
	return p
}

// begun gives out the beginning of an object, and makes the rest be passed over.
func (k *splitter) begun(t *nesting, n int, fault string) piece {
	p := k.give(n, fault)
	p.cut = true
	k.past = t
	return p
}

// pass goes past what is in the buffer of an object that was given out.
func (k *splitter) pass() piece {
	for n := 0; k.pos+n < len(k.buf); n++ {
		if ends, torn := k.past.step(k.buf[k.pos+n]); ends || torn {
			k.past = nil
			if ends {
				n++
			}
			k.give(n, "")
			return k.give(0, "")
		}
	}
	k.give(len(k.buf)-k.pos, "")
	return k.give(0, "")
}

// spot is a place in a file.
type spot struct {
	text   []byte    // what follows, as far as it was read
	r      io.Reader // what comes after it
	line   int64
	offset int64
}

// split reads a stream of objects that are not lines.
func (f *file) split(at *spot) error {
	k := &splitter{r: at.r, buf: at.text, max: f.cfg.maxValue, line: at.line, offset: at.offset}
	d := f.decoder()
	begins := beginning(at.text)
	for {
		p, err := k.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.line != p.line {
			d.faults.number = 0
		}
		d.line, d.at = p.line, p.offset
		switch {
		case p.offset > refuseAfter && f.known+d.known == 0 && len(p.text) == 0:
			d.refuse("brackets and white space")
		case p.fault == faultNotJSON:
			d.refuse(begins) // which counts when nothing came before
			d.skip("text that is not JSON")
		case p.fault != "":
			d.refuse(p.fault)
			d.skip("object passed over: " + p.fault)
		default:
			if fault := d.textsIn(p.text, p.array); fault != "" {
				d.skip("object passed over: " + fault)
			}
		}
		if err := f.handOut(d.batch, 0, 0); err != nil {
			return err
		}
		if f.known == 0 && (p.cut && k.max >= refuseAfter || p.offset > refuseAfter) {
			if err := f.verdict(); err != nil {
				return err
			}
		}
	}
}
