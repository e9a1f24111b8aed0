package otlpproto

import (
	"encoding/binary"
	"math"
)

// The functions below append one field. As proto3 has it, the zero value of a
// field is left out; the members of a oneof, which are not, are written with
// the Always functions.

func appendTag(b []byte, field int, t Type) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(t)) //nolint:gosec // a field's number is positive
}

// AppendVarint appends an integer or enum unless it is 0.
func AppendVarint(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return AppendVarintAlways(b, field, v)
}

// AppendVarintAlways appends an integer or bool.
func AppendVarintAlways(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, Varint), v)
}

// AppendFixed64 appends a fixed64 unless it is 0.
func AppendFixed64(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint64(appendTag(b, field, Fixed64), v)
}

// AppendFixed32 appends a fixed32 unless it is 0.
func AppendFixed32(b []byte, field int, v uint32) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint32(appendTag(b, field, Fixed32), v)
}

// AppendDoubleAlways appends a double.
func AppendDoubleAlways(b []byte, field int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, Fixed64), math.Float64bits(v))
}

// AppendString appends a string or bytes unless it is empty.
func AppendString[T string | []byte](b []byte, field int, v T) []byte {
	if len(v) == 0 {
		return b
	}
	return AppendStringAlways(b, field, v)
}

// AppendStringAlways appends a string or bytes.
func AppendStringAlways[T string | []byte](b []byte, field int, v T) []byte {
	b = binary.AppendUvarint(appendTag(b, field, Bytes), uint64(len(v)))
	return append(b, v...)
}

// AppendID appends the ID of a trace or span unless it is of zeros: that is none.
func AppendID(b []byte, field int, id []byte) []byte {
	for _, c := range id {
		if c != 0 {
			return AppendStringAlways(b, field, id)
		}
	}
	return b
}

// AppendMessage appends a message that body appends to what it is given. The
// message's length, which comes first, is known last: room for one byte of it
// is left, and what was appended moves when it takes more.
func AppendMessage(b []byte, field int, body func([]byte) []byte) []byte {
	b = append(appendTag(b, field, Bytes), 0)
	start := len(b)
	b = body(b)
	n := len(b) - start
	if n < 0x80 {
		b[start-1] = byte(n) //nolint:gosec // checked
		return b
	}
	var size [binary.MaxVarintLen64]byte
	extra := binary.PutUvarint(size[:], uint64(n)) - 1
	b = append(b, size[:extra]...)
	copy(b[start+extra:], b[start:start+n])
	copy(b[start-1:], size[:extra+1])
	return b
}
