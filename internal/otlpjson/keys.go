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
type Keys struct{ slots [keySlots]keySlot }

const (
	keySlots = 128 // a power of two
	keyBytes = 64  // a longer key is not remembered
)

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
	if i := plainPrefix(b[start:]); i < len(v) {
		b = appendEscaped(b[:start+i], v[i:])
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
	at := keyHash(key, kind)
	for _, i := range [2]uint{at, at ^ 1} {
		s := &k.slots[i]
		if s.size == len(key) && s.kind == kind && len(s.text) > 0 && string(s.text[len(keyStart):len(keyStart)+s.size]) == key {
			return append(b, s.text...)
		}
	}
	return k.learn(b, key, kind, at)
}

// learn builds a beginning and keeps it, in the place of one of the two that
// share its slots; the newer of them stays.
func (k *Keys) learn(b []byte, key string, kind valueKind, at uint) []byte {
	start := len(b)
	b = appendBeginning(b, key, kind)
	text := b[start:]
	if len(text) != len(keyStart)+len(key)+1+len(kind.open()) {
		return b // the key needs an escape
	}
	fresh, old := &k.slots[at], &k.slots[at^1]
	*fresh, *old = *old, *fresh
	if fresh.text == nil {
		fresh.text = make([]byte, 0, len(keyStart)+keyBytes+1+len(stringKind.open()))
	}
	fresh.size, fresh.kind, fresh.text = len(key), kind, append(fresh.text[:0], text...)
	return b
}

func appendBeginning(b []byte, key string, kind valueKind) []byte {
	b = append(b, `{"key":`...)
	b = AppendString(b, key)
	return append(b, kind.open()...)
}

// keyHash spreads keys that differ at their start or end, as those of one
// namespace do.
func keyHash(key string, kind valueKind) uint {
	h := uint64(len(key))<<8 | uint64(kind)
	switch {
	case len(key) >= 8:
		h ^= binary.LittleEndian.Uint64([]byte(key)) ^ binary.LittleEndian.Uint64([]byte(key[len(key)-8:]))*ones
	case len(key) > 0:
		h ^= uint64(key[0])<<16 | uint64(key[len(key)/2])<<24 | uint64(key[len(key)-1])<<32
	}
	return uint(h * 0x9e3779b97f4a7c15 >> (64 - 7)) //nolint:gosec // seven bits
}
