package otlpjson

import "encoding/binary"

// Keys remembers how the attributes of a program begin, up to their value:
//
//	{"key":"http.route","value":{"stringValue":"
//
// A program has some dozen keys, which come again with each span; copying what
// they look like at once is quicker than building it in pieces and looking for
// what needs an escape (ADR 0121). It serves one goroutine, has a fixed size,
// and holds copies, so that no key keeps the caller's memory alive. The zero
// Keys is empty; a nil one remembers nothing.
type Keys struct {
	last  uint8 // the place of the attribute before
	turn  [keySets]uint8
	slots [keySets * keyWays]keySlot
}

// The keys of one hash share a set of places. When all are taken, they are taken
// again in turn.
const (
	keySetBits = 5
	keySets    = 1 << keySetBits
	keyWays    = 4
	keyBytes   = 64 // a longer key is not remembered
)

// keySlot is one beginning.
type keySlot struct {
	text [textBytes]byte
	size uint8 // of the text
	key  uint8 // size of the key
	kind valueKind
	next uint8 // the place of the one that came after it the last time
}

// A beginning is copied in pieces of a fixed size, which need no call.
const (
	textBytes = shortText + 2*16
	shortText = 72 // enough for most keys of the conventions
)

// valueKind is the type of a value, as far as a beginning depends on it.
type valueKind uint8

const (
	_ valueKind = iota // of an empty place
	stringKind
	intKind
	boolKind
	doubleKind
)

// keyStart is what stands before each key.
const keyStart = `{"key":"`

func (k valueKind) open() string {
	switch k {
	case intKind:
		return `,"value":{"intValue":"`
	case boolKind:
		return `,"value":{"boolValue":`
	case doubleKind:
		return `,"value":{"doubleValue":`
	default:
		return `,"value":{"stringValue":"`
	}
}

// AppendStringAttribute appends an attribute that holds a string, with the
// comma that ends an element.
func (k *Keys) AppendStringAttribute(b []byte, key, v string) []byte {
	s := k.slot(key, stringKind)
	if s == nil {
		b = appendText(appendBeginning(b, key, stringKind), v)
		return append(b, closeString...)
	}
	b = room(b, textBytes+len(v)+len(closeString))
	n := len(b)
	s.put(b[n : n+textBytes])
	n += int(s.size)
	end := n + len(v)
	if i := copyPlain(b[n:end], v); i < len(v) {
		return append(appendEscaped(b[:n+i], v[i:]), closeString...)
	}
	b = b[:end+len(closeString)]
	copy(b[end:], closeString)
	return b
}

// closeString ends an attribute whose value stands in quotes.
const closeString = `"}},`

// AppendIntAttribute appends an attribute that holds an integer, with the comma.
func (k *Keys) AppendIntAttribute(b []byte, key string, v int64) []byte {
	return append(appendInt(k.begin(b, key, intKind), v), closeString...)
}

// AppendBoolAttribute appends an attribute that holds a boolean, with the comma.
func (k *Keys) AppendBoolAttribute(b []byte, key string, v bool) []byte {
	b = k.begin(b, key, boolKind)
	if v {
		return append(b, `true}},`...)
	}
	return append(b, `false}},`...)
}

// AppendDoubleAttribute appends an attribute that holds a floating-point
// number, with the comma.
func (k *Keys) AppendDoubleAttribute(b []byte, key string, v float64) []byte {
	b = AppendDouble(k.begin(b, key, doubleKind), v)
	return append(b, `}},`...)
}

// begin appends the beginning.
func (k *Keys) begin(b []byte, key string, kind valueKind) []byte {
	s := k.slot(key, kind)
	if s == nil {
		return appendBeginning(b, key, kind)
	}
	b = room(b, textBytes)
	n := len(b)
	s.put(b[n : n+textBytes])
	return b[:n+int(s.size)]
}

// slot returns the place of a key, nil when it is not remembered. Attributes come
// in the same order again and again, so the one that followed the last time is
// tried before the key is hashed.
func (k *Keys) slot(key string, kind valueKind) *keySlot {
	if k == nil {
		return nil
	}
	next := k.slots[k.last].next
	if s := &k.slots[next]; s.is(key, kind) {
		k.last = next
		return s
	}
	return k.search(key, kind)
}

// is says whether the slot holds the beginning of the key.
func (s *keySlot) is(key string, kind valueKind) bool {
	return int(s.key) == len(key) && s.kind == kind && string(s.text[len(keyStart):][:len(key)]) == key
}

// put writes the beginning to d, which has room for textBytes.
func (s *keySlot) put(d []byte) {
	*(*[shortText]byte)(d) = [shortText]byte(s.text[:])
	if s.size > shortText {
		*(*[textBytes - shortText]byte)(d[shortText:]) = [textBytes - shortText]byte(s.text[shortText:])
	}
}

// search finds the place of a key by its hash, or gives it one.
func (k *Keys) search(key string, kind valueKind) *keySlot {
	if len(key) > keyBytes {
		return nil
	}
	set := keyHash(key)
	at := -1
	for i := set * keyWays; i < (set+1)*keyWays; i++ {
		if k.slots[i].is(key, kind) {
			at = i
			break
		}
	}
	if at < 0 {
		if at = set*keyWays + int(k.turn[set]%keyWays); !k.slots[at].learn(key, kind) {
			return nil
		}
		k.turn[set]++
	}
	k.slots[k.last].next = uint8(at) //nolint:gosec // there are 128 places
	k.last = uint8(at)               //nolint:gosec // as above
	return &k.slots[at]
}

// learn makes the slot that of a key, unless the key needs an escape.
func (s *keySlot) learn(key string, kind valueKind) bool {
	var buf [textBytes]byte
	text := appendBeginning(buf[:0], key, kind)
	if len(text) != len(keyStart)+len(key)+1+len(kind.open()) {
		return false
	}
	s.size, s.key, s.kind = uint8(len(text)), uint8(len(key)), kind //nolint:gosec // both at most textBytes
	copy(s.text[:], text)
	return true
}

func appendBeginning(b []byte, key string, kind valueKind) []byte {
	b = append(b, `{"key":`...)
	b = AppendString(b, key)
	return append(b, kind.open()...)
}

// keyHash spreads keys that differ at their start or end, as those of one
// namespace do.
func keyHash(key string) int {
	h := uint64(len(key))
	switch {
	case len(key) >= 8:
		h ^= binary.LittleEndian.Uint64([]byte(key)) ^ binary.LittleEndian.Uint64([]byte(key[len(key)-8:]))*ones
	case len(key) > 0:
		h ^= uint64(key[0])<<16 | uint64(key[len(key)/2])<<24 | uint64(key[len(key)-1])<<32
	}
	return int(h * 0x9e3779b97f4a7c15 >> (64 - keySetBits))
}
