package tracefile

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// probeBytes is how much of one value is taken on trust. A longer one is looked
// at each time that it has doubled, so that a file of zeros, or a few kilobytes
// that decompress to a gigabyte of brackets, never takes the memory that a large
// document may take.
const probeBytes = 1 << 20

// hopeless says whether no document begins so, whatever comes after it.
func hopeless(text []byte) bool {
	var s otlpjson.Scanner
	s.Reset(text)
	for object, prefix := false, logPrefix(text); ; {
		switch s.Peek() {
		case '{':
			object = true
			s.Skip()
			if err := s.Err(); err != nil {
				return !errors.Is(err, otlpjson.ErrTruncated)
			}
		case '[', ']', ',':
			s.Seek(s.Offset() + 1)
		default:
			if object || prefix == 0 {
				return !object || s.Offset() < len(text)
			}
			s.Seek(prefix)
			prefix = 0
		}
	}
}

// isWhole says whether text begins with a whole value.
func isWhole(text []byte) bool {
	var s otlpjson.Scanner
	s.Reset(text)
	s.Skip()
	return s.Err() == nil
}

// withRoom returns buf with room for n bytes more. What has grown to megabytes
// gets most of what a value may have at once: memory that is not written to costs
// nothing, each copy left behind does.
func withRoom(buf []byte, n, limit int) []byte {
	if cap(buf)-len(buf) >= n {
		return buf
	}
	size := max(2*cap(buf), 2*blockBytes)
	if size > 4*probeBytes {
		size = min(16*size, limit+2*pieceBytes)
	}
	grown := make([]byte, len(buf), max(size, len(buf)+n))
	copy(grown, buf)
	return grown
}
