// Package otlpproto is as much of the protobuf wire format as OTLP's traces
// need: it reads and writes tagged fields of plain values, without a schema,
// reflection or a protobuf library.
//
// Spec: https://protobuf.dev/programming-guides/encoding/
package otlpproto

import (
	"encoding/binary"
	"errors"
	"math"
)

// Type is how a field is encoded.
type Type uint8

// The wire types; groups are obsolete, and passed over.
const (
	Varint     Type = 0
	Fixed64    Type = 1
	Bytes      Type = 2
	startGroup Type = 3
	endGroup   Type = 4
	Fixed32    Type = 5
)

// maxField is the highest number of a field.
const maxField = 1<<29 - 1

// Errors of a [Message].
var (
	ErrTruncated = errors.New("message ends in the middle of a field")
	ErrMalformed = errors.New("malformed protobuf")
)

// Message reads the fields of one message, in the order in which they are:
//
//	for m := otlpproto.NewMessage(b); m.Next(); {
//		switch m.Field {
//		case 1:
//			name = string(m.Bytes())
//		}
//	}
//
// A field whose value is not asked for is passed over. A value of another
// wire type than was asked for is a fault, which ends the message; Err has it.
type Message struct {
	Field int  // number of the present field
	Type  Type // how it is encoded

	rest  []byte
	num   uint64 // its value, when that is a number
	bytes []byte // its value, when that is bytes
	err   error
}

// NewMessage starts on the encoding b of a message, which stays the caller's.
func NewMessage(b []byte) *Message { return &Message{rest: b} }

// Err returns what is wrong with the message, after Next was false.
func (m *Message) Err() error { return m.err }

// Next goes to the next field. It is false at the end and after a fault.
func (m *Message) Next() bool {
	for m.err == nil && len(m.rest) > 0 {
		tag := m.varint()
		if m.err != nil {
			return false
		}
		field := tag >> 3
		if field == 0 || field > maxField {
			m.err = ErrMalformed
			return false
		}
		m.Field, m.Type = int(field), Type(tag&7)
		m.value()
		if m.err == nil && m.Type != startGroup {
			return true
		}
	}
	return false
}

func (m *Message) value() {
	switch m.Type {
	case Varint:
		m.num = m.varint()
	case Fixed64:
		if b := m.take(8); b != nil {
			m.num = binary.LittleEndian.Uint64(b)
		}
	case Fixed32:
		if b := m.take(4); b != nil {
			m.num = uint64(binary.LittleEndian.Uint32(b))
		}
	case Bytes:
		n := m.varint()
		if m.err == nil {
			m.bytes = m.take(n)
		}
	case startGroup:
		m.skipGroup()
	default: // also the end of a group that was not begun
		m.err = ErrMalformed
	}
}

// maxGroups is how deep groups, which OTLP never had, may nest.
const maxGroups = 100

// skipGroup passes over a group and those in it.
func (m *Message) skipGroup() {
	open := []uint64{uint64(m.Field)} //nolint:gosec // a field's number is positive
	for len(open) > 0 && m.err == nil {
		if len(m.rest) == 0 {
			m.err = ErrTruncated
			return
		}
		tag := m.varint()
		field := tag >> 3
		if m.err == nil && (field == 0 || field > maxField) {
			m.err = ErrMalformed
		}
		switch Type(tag & 7) {
		case Varint:
			m.varint()
		case Fixed64:
			m.take(8)
		case Fixed32:
			m.take(4)
		case Bytes:
			m.take(m.varint())
		case startGroup:
			if open = append(open, field); len(open) > maxGroups && m.err == nil {
				m.err = ErrMalformed
			}
		case endGroup:
			if open[len(open)-1] != field && m.err == nil {
				m.err = ErrMalformed
			}
			open = open[:len(open)-1]
		default:
			if m.err == nil {
				m.err = ErrMalformed
			}
		}
	}
}

func (m *Message) take(n uint64) []byte {
	if m.err != nil {
		return nil
	}
	if n > uint64(len(m.rest)) {
		m.err = ErrTruncated
		return nil
	}
	b := m.rest[:n:n]
	m.rest = m.rest[n:]
	return b
}

func (m *Message) varint() uint64 {
	v, n := binary.Uvarint(m.rest)
	switch {
	case m.err != nil:
	case n == 0:
		m.err = ErrTruncated
	case n < 0:
		m.err = ErrMalformed
	default:
		m.rest = m.rest[n:]
		return v
	}
	return 0
}

func (m *Message) want(t Type) bool {
	if m.Type != t && m.err == nil {
		m.err = ErrMalformed
	}
	return m.err == nil
}

// Uint64 is the value of a varint or fixed field.
func (m *Message) Uint64() uint64 {
	if m.Type == Bytes {
		m.want(Varint)
		return 0
	}
	return m.num
}

// Uint32 is the value of a varint or fixed field, its low 32 bits as
// protobuf has it.
func (m *Message) Uint32() uint32 { return uint32(m.Uint64()) } //nolint:gosec // the specification truncates

// Int64 is the value of a varint or fixed field.
func (m *Message) Int64() int64 { return int64(m.Uint64()) } //nolint:gosec // two's complement

// Int32 is the value of an enum.
func (m *Message) Int32() int32 { return int32(m.Uint64()) } //nolint:gosec // the specification truncates

// Float64 is the value of a double.
func (m *Message) Float64() float64 {
	if !m.want(Fixed64) {
		return 0
	}
	return math.Float64frombits(m.num)
}

// Bytes is the value of a string, bytes or message; it points into the message.
func (m *Message) Bytes() []byte {
	if !m.want(Bytes) {
		return nil
	}
	return m.bytes
}
