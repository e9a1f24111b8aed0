package otlpjson

import (
	"errors"
	"fmt"
)

// MaxDepth is how deep objects and arrays may nest. OTLP needs four levels
// for each level of a nested attribute value, so that this allows about 120.
const MaxDepth = 500

// ErrTruncated is in the error of a [Scanner] whose text ended too early: a
// torn line, or the first line of a value that goes on in the next.
var ErrTruncated = errors.New("JSON ends in the middle of a value")

// SyntaxError says where a text stopped being JSON, or what else was found
// where a value of some type was wanted.
type SyntaxError struct {
	Offset int    // of the byte at fault
	What   string // like "'}' after the comma"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.What)
}

// Scanner reads one JSON text front to back without building a tree and
// without reflection. The first fault sticks: after it every method returns
// zero at once, so that a caller looks at [Scanner.Err] only at the end.
//
//	for ok := s.Begin('{'); ok && s.More('}'); {
//		switch string(s.Key()) {
//		case "name":
//			name = string(s.Text())
//		default:
//			s.Skip()
//		}
//	}
//
// A value of another type than was asked for is a fault too, unless
// [Scanner.Mismatch] is set.
//
// What it returns as bytes points into the text, or into a scratch buffer of
// the scanner, and is valid until the next call. The zero Scanner is empty;
// one Scanner serves one goroutine and many texts.
type Scanner struct {
	// Mismatch is called for a value that is JSON, but of another type than was
	// asked for: with its offset and what was wanted, like "want a string". The
	// value is passed over, stands for zero, and reading goes on after it. Nil:
	// such a value is a fault as any other.
	Mismatch func(offset int, what string)

	data    []byte
	pos     int
	depth   int
	first   bool // the container was just opened: no comma comes first
	err     error
	scratch []byte
	objects [MaxDepth/64 + 1]uint64 // for Skip: a bit for each depth that is an object
}

// Reset starts on a new text, which the caller leaves alone while it is read.
func (s *Scanner) Reset(text []byte) {
	s.data, s.pos, s.depth, s.first, s.err = text, 0, 0, false, nil
}

// Err returns the first fault: a [*SyntaxError] or [ErrTruncated].
func (s *Scanner) Err() error { return s.err }

// Offset is the position of the next byte to be read.
func (s *Scanner) Offset() int { return s.pos }

// Seek goes back (or on) to an offset at the same depth, to read a value again.
func (s *Scanner) Seek(offset int) {
	if s.err == nil {
		s.pos = offset
	}
}

// Peek returns the first byte of what comes next, white space skipped, and 0
// at the end of the text.
func (s *Scanner) Peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// Lit consumes exactly the text p, without skipping white space, when it comes
// next. It is the fast path over what encoders write most.
func (s *Scanner) Lit(p string) bool {
	if len(s.data)-s.pos >= len(p) && string(s.data[s.pos:s.pos+len(p)]) == p {
		s.pos += len(p)
		return true
	}
	return false
}

// LitBytes is [Scanner.Lit] for bytes.
func (s *Scanner) LitBytes(p []byte) bool {
	if len(s.data)-s.pos >= len(p) && string(s.data[s.pos:s.pos+len(p)]) == string(p) {
		s.pos += len(p)
		return true
	}
	return false
}

// Quoted consumes a string of n bytes, and returns what is between the quotes,
// when the quotes are where they are to be. It does not look at the bytes: the
// caller only takes some that cannot be a quote or a backslash, like digits, or
// goes back with [Scanner.Seek].
func (s *Scanner) Quoted(n int) []byte {
	if i := s.pos; len(s.data)-i >= n+2 && s.data[i] == '"' && s.data[i+n+1] == '"' {
		s.pos = i + n + 2
		return s.data[i+1 : i+n+1]
	}
	return nil
}

// Nanos reads a time as [Scanner.Uint64] does, and quickly in the form in which
// encoders write it: 19 digits in quotes, which are the years 2001 to 2262.
func (s *Scanner) Nanos() uint64 {
	at := s.pos
	if n, ok := parse19(s.Quoted(19)); ok {
		return n
	}
	s.Seek(at)
	return s.Uint64()
}

// First consumes the text p, like [Scanner.Lit], where a container's first
// member begins; [Scanner.More] then wants the comma before the next.
func (s *Scanner) First(p string) bool {
	if s.first && s.Lit(p) {
		s.first = false
		return true
	}
	return false
}

// Since returns what was read from an offset on. It is part of the text.
func (s *Scanner) Since(offset int) []byte {
	if s.err != nil {
		return nil
	}
	return s.data[offset:s.pos]
}

// Begin enters an object ('{') or array ('['). A null is consumed and counts
// as an empty one: false without an error.
func (s *Scanner) Begin(open byte) bool {
	c := s.Peek()
	if c != open {
		if c == 'n' {
			s.Null()
			return false
		}
		if open == '{' {
			s.mismatch(c, "want an object")
		} else {
			s.mismatch(c, "want an array")
		}
		return false
	}
	s.pos++
	if s.depth++; s.depth > MaxDepth {
		s.fail(s.pos-1, fmt.Sprintf("nested deeper than %d", MaxDepth))
		return false
	}
	s.first = true
	return true
}

// More says whether another member comes, and consumes the comma before it or
// the bracket that ends the container.
func (s *Scanner) More(end byte) bool {
	if i := s.pos + 1; !s.first && i < len(s.data) && s.data[i-1] == ',' {
		if c := s.data[i]; c > ' ' && c != end {
			s.pos = i
			return true
		}
	}
	return s.more(end)
}

func (s *Scanner) more(end byte) bool {
	c := s.Peek()
	first := s.first
	s.first = false
	if c == end {
		s.pos++
		s.depth--
		return false
	}
	if first {
		if c == 0 {
			s.unexpected(0, "")
			return false
		}
		return true
	}
	if c != ',' {
		s.unexpected(c, "want a comma or "+string(rune(end)))
		return false
	}
	s.pos++
	if c = s.Peek(); c == end || c == 0 {
		s.unexpected(c, "after the comma")
		return false
	}
	return true
}

// Key reads a member's name and its colon.
func (s *Scanner) Key() []byte {
	if c := s.Peek(); c != '"' {
		s.unexpected(c, "want a name")
		return nil
	}
	s.pos++
	key := s.Rest()
	if s.Peek() != ':' {
		s.unexpected(s.Peek(), "want a colon")
		return nil
	}
	s.pos++
	return key
}

// Null consumes a null when it comes next.
func (s *Scanner) Null() bool {
	if s.Peek() != 'n' {
		return false
	}
	s.word("null")
	return true
}

// Bool reads true or false, also as a string. A null is false.
func (s *Scanner) Bool() bool {
	switch c := s.Peek(); c {
	case 't':
		s.word("true")
		return s.err == nil
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	case '"':
		at := s.pos
		switch string(s.Text()) {
		case "true":
			return true
		case "false":
		default:
			s.wrong(at, wantBool)
		}
	default:
		s.mismatch(c, wantBool)
	}
	return false
}

func (s *Scanner) word(w string) {
	if s.Lit(w) {
		return
	}
	if rest := s.data[s.pos:]; len(rest) < len(w) && string(rest) == w[:len(rest)] {
		s.unexpected(0, "")
		return
	}
	s.fail(s.pos, "want "+w)
}

// End checks that only white space is left.
func (s *Scanner) End() {
	if c := s.Peek(); c != 0 || s.pos < len(s.data) {
		s.unexpected(c, "after the value")
	}
}

const wantBool = "want true or false"

// mismatch passes over the value that begins with c, which is of another type
// than was wanted.
func (s *Scanner) mismatch(c byte, what string) {
	if s.Mismatch == nil || c == 0 {
		s.unexpected(c, what)
		return
	}
	at := s.pos
	s.Skip()
	s.wrong(at, what)
}

// wrong notes a value at an offset that was read and does not mean what was
// wanted.
func (s *Scanner) wrong(at int, what string) {
	switch {
	case s.Mismatch == nil:
		s.fail(at, what)
	case s.err == nil:
		s.Mismatch(at, what)
	}
}

func (s *Scanner) unexpected(c byte, what string) {
	if s.pos >= len(s.data) {
		if s.err == nil {
			s.err = ErrTruncated
		}
		return
	}
	if what != "" {
		what = ", " + what
	}
	s.fail(s.pos, fmt.Sprintf("unexpected %q%s", rune(c), what))
}

func (s *Scanner) fail(at int, what string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: at, What: what}
	}
	s.pos = len(s.data) // everything that follows sees the end
}
