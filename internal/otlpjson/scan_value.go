package otlpjson

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Number reads a number and returns its text, checked against JSON's grammar.
// A string gives its contents unchecked, since OTLP writes 64-bit numbers as
// strings; a null gives nil.
func (s *Scanner) Number() []byte {
	switch c := s.Peek(); {
	case c == '"':
		return s.Text()
	case c == 'n':
		s.word("null")
		return nil
	case c != '-' && (c < '0' || c > '9'):
		s.mismatch(c, "want a number")
		return nil
	}
	start := s.pos
	s.skipNumber()
	return s.data[start:s.pos]
}

func (s *Scanner) skipNumber() {
	i := s.pos
	if i < len(s.data) && s.data[i] == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++
	} else if i = s.digits(i); s.err != nil {
		return
	}
	if i < len(s.data) && s.data[i] == '.' {
		if i = s.digits(i + 1); s.err != nil {
			return
		}
	}
	if i < len(s.data) && (s.data[i] == 'e' || s.data[i] == 'E') {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		if i = s.digits(i); s.err != nil {
			return
		}
	}
	s.pos = i
}

// digits returns the index after one or more digits from i on.
func (s *Scanner) digits(i int) int {
	start := i
	for i < len(s.data) && s.data[i] >= '0' && s.data[i] <= '9' {
		i++
	}
	if i == start {
		s.pos = min(i, len(s.data))
		if s.pos == len(s.data) {
			s.unexpected(0, "")
		} else {
			s.fail(i, "want a digit")
		}
	}
	return i
}

// Uint64 reads an unsigned integer in any of the forms that writers use:
// digits, digits in a string, or a float that stands for an integer, as
// JavaScript and Python write large ones; it is exact in each. A null or empty
// string is 0.
func (s *Scanner) Uint64() uint64 {
	at := s.pos
	text := s.Number()
	if n, ok := parseDigits(text); ok {
		return n
	}
	n, negative, ok := parseWhole(text)
	if !ok || negative {
		s.wrong(at, "want an unsigned 64-bit integer")
		return 0
	}
	return n
}

// Uint32 reads as [Scanner.Uint64] does.
func (s *Scanner) Uint32() uint32 {
	at := s.pos
	n := s.Uint64()
	if n > math.MaxUint32 {
		s.wrong(at, "want an unsigned 32-bit integer")
		return 0
	}
	return uint32(n)
}

// Int64 reads a signed integer in the forms of [Scanner.Uint64].
func (s *Scanner) Int64() int64 {
	at := s.pos
	text := s.Number()
	if n, ok := parseDigits(text); ok && n <= math.MaxInt64 {
		return int64(n)
	}
	n, negative, ok := parseWhole(text)
	switch {
	case ok && !negative && n <= math.MaxInt64:
		return int64(n)
	case ok && negative && n <= 1<<63:
		return -int64(n) //nolint:gosec // two's complement: right for the least one too
	}
	s.wrong(at, "want a 64-bit integer")
	return 0
}

// parseDigits reads at most 19 decimal digits; no text at all is 0.
func parseDigits(text []byte) (n uint64, ok bool) {
	if len(text) > 19 {
		u, err := strconv.ParseUint(string(text), 10, 64)
		return u, err == nil
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}

// parse19 reads 19 decimal digits, most of them eight at a time.
func parse19(text []byte) (uint64, bool) {
	if len(text) != 19 {
		return 0, false
	}
	a, b := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	x, y, z := text[16]-'0', text[17]-'0', text[18]-'0'
	if !eightDigits(a) || !eightDigits(b) || x > 9 || y > 9 || z > 9 {
		return 0, false
	}
	return (parse8(a)*1e8+parse8(b))*1000 + uint64(x)*100 + uint64(y)*10 + uint64(z), true
}

// eightDigits says whether each byte of w is a decimal digit: its upper half
// is 3, and stays so when 6 is added, which takes ':' to '?' to 4.
func eightDigits(w uint64) bool {
	const upper = 0xf0 * ones
	return w&upper == '0'*ones && (w+6*ones)&upper == '0'*ones
}

// parse8 is the number of eight digits: neighbors are joined into pairs, pairs
// into fours, and these into one.
func parse8(w uint64) uint64 {
	w -= '0' * ones
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return (w*10000 + w>>32) & 0xffffffff
}

// Float64 reads a floating-point number; the three that JSON lacks are the
// strings "NaN", "Infinity" and "-Infinity". A null is 0.
func (s *Scanner) Float64() float64 {
	at := s.pos
	text := s.Number()
	if len(text) == 0 {
		return 0
	}
	f, ok := ParseFloat(text)
	if !ok {
		s.wrong(at, "want a number")
		return 0
	}
	return f
}

// ParseFloat reads a number as JSON has it, or one of "NaN", "Infinity" and
// "-Infinity". A number out of range is an infinity, as in JavaScript.
func ParseFloat(text []byte) (float64, bool) {
	switch string(text) {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if strings.Trim(string(text), "+-.0123456789eE") != "" {
		return 0, false // strconv also takes hexadecimal, underscores and "inf"
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil || math.IsInf(f, 0)
}

// Skip passes over one value of any type, checking that it is JSON.
func (s *Scanner) Skip() {
	base := s.depth
	for {
		switch c := s.Peek(); c {
		case '{', '[':
			s.Begin(c)
			if s.err != nil {
				return
			}
			s.push(c)
		case '"':
			s.Text()
		case 't':
			s.word("true")
		case 'f':
			s.word("false")
		case 'n':
			s.word("null")
		default:
			if c != '-' && (c < '0' || c > '9') {
				s.unexpected(c, "want a value")
				return
			}
			s.skipNumber()
		}
		if !s.next(base) {
			return
		}
	}
}

// push notes what the container at the present depth is.
func (s *Scanner) push(open byte) {
	word, bit := s.depth/64, uint64(1)<<(s.depth%64)
	if open == '{' {
		s.objects[word] |= bit
	} else {
		s.objects[word] &^= bit
	}
}

func (s *Scanner) object(depth int) bool { return s.objects[depth/64]&(1<<(depth%64)) != 0 }

// next goes to the next member of the containers that Skip has entered, and
// returns false when it has left all of them.
func (s *Scanner) next(base int) bool {
	for s.err == nil && s.depth > base {
		object := s.object(s.depth)
		end := byte(']')
		if object {
			end = '}'
		}
		if s.More(end) {
			if object {
				s.Key()
			}
			return s.err == nil
		}
	}
	return false
}

// Raw passes over one value and returns its text.
func (s *Scanner) Raw() []byte {
	s.Peek()
	start := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}
