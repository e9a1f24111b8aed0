package otlpjson

import (
	"encoding/binary"
	"strconv"
)

// Keys remembers how the attributes of a program begin, up to their value:
//
//	{"key":"http.route","value":{"stringValue":"
//
// A program has some dozen keys, which come again with each span; copying what
// they look like at once is quicker than building it in pieces and looking for
// what needs an escape (ADR 0120). It serves one goroutine, has a fixed size,
// and holds copies, so that no key keeps the caller's memory alive. The zero
// Keys is empty; a nil one remembers nothing.
type Keys struct{ sets [1 << keySetBits]keySet }

const (
	keySetBits = 5
	keyWays    = 4
	keyBytes   = 64 // a longer key is not remembered
)

// keySet is the places of the keys of one hash. When all are taken, they are
// taken again in turn.
type keySet struct {
	next  uint8
	slots [keyWays]keySlot
}

// keySlot is one beginning.
type keySlot struct {
	size int // of the key
	kind valueKind
	text []byte
}

// valueKind is the type of a value, as far as a beginning depends on it.
type valueKind uint8

const (
	stringKind valueKind = iota
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
	b = k.begin(b, key, stringKind)
	start := len(b)
	b = append(b, v...)
	if i := plainEnd(b, start); i < len(b) {
		b = appendEscaped(b[:i], v[i-start:])
	}
	return append(b, `"}},`...)
}

// AppendIntAttribute appends an attribute that holds an integer, with the comma.
func (k *Keys) AppendIntAttribute(b []byte, key string, v int64) []byte {
	b = k.begin(b, key, intKind)
	b = strconv.AppendInt(b, v, 10)
	return append(b, `"}},`...)
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

func (k *Keys) begin(b []byte, key string, kind valueKind) []byte {
	if k == nil || len(key) > keyBytes {
		return appendBeginning(b, key, kind)
	}
	set := &k.sets[keyHash(key)]
	for i := range set.slots {
		s := &set.slots[i]
		if s.size == len(key) && s.kind == kind && len(s.text) > len(keyStart)+len(key) && string(s.text[len(keyStart):len(keyStart)+len(key)]) == key {
			return append(b, s.text...)
		}
	}
	return set.learn(b, key, kind)
}

// learn builds a beginning and keeps it.
func (s *keySet) learn(b []byte, key string, kind valueKind) []byte {
	start := len(b)
	b = appendBeginning(b, key, kind)
	text := b[start:]
	if len(text) != len(keyStart)+len(key)+1+len(kind.open()) {
		return b // the key needs an escape
	}
	slot := &s.slots[s.next%keyWays]
	s.next++
	if slot.text == nil {
		slot.text = make([]byte, 0, len(keyStart)+keyBytes+1+len(stringKind.open()))
	}
	slot.size, slot.kind, slot.text = len(key), kind, append(slot.text[:0], text...)
	return b
}

func appendBeginning(b []byte, key string, kind valueKind) []byte {
	b = append(b, `{"key":`...)
	b = AppendString(b, key)
	return append(b, kind.open()...)
}

// keyHash spreads keys that differ at their start or end, as those of one
// namespace do.
func keyHash(key string) uint {
	h := uint64(len(key))
	switch {
	case len(key) >= 8:
		h ^= binary.LittleEndian.Uint64([]byte(key)) ^ binary.LittleEndian.Uint64([]byte(key[len(key)-8:]))*ones
	case len(key) > 0:
		h ^= uint64(key[0])<<16 | uint64(key[len(key)/2])<<24 | uint64(key[len(key)-1])<<32
	}
	return uint(h * 0x9e3779b97f4a7c15 >> (64 - keySetBits))
}
