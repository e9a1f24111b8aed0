package tracefile

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/waymark-trace/waymark/traces"
)

// The memory of spans comes in chunks, so that a span costs a fraction of an
// allocation, and every span is still the caller's for good: chunks are never
// reused. A span that is kept holds its chunk, and with it those of the attributes
// and texts of all the spans in it.
const (
	chunkBytes      = 32 << 10
	chunkAttributes = (chunkBytes - chunkHead) / int(unsafe.Sizeof(traces.Attribute{}))
	chunkSpans      = (chunkBytes - chunkHead) / int(unsafe.Sizeof(traces.Span{}))
	chunkHead       = 8 // of an allocation with pointers: with it, a chunk fills its size class
)

// arena makes the memory of the spans of one decoder.
type arena struct {
	text  strings.Builder
	attrs []traces.Attribute
	spans []traces.Span
	names interner
}

// span returns a fresh zero span.
func (a *arena) span() *traces.Span {
	if len(a.spans) == 0 {
		a.spans = make([]traces.Span, chunkSpans)
	}
	sp := &a.spans[0]
	a.spans = a.spans[1:]
	return sp
}

// copy copies b. Builder.String shares the builder's memory, which is only
// ever appended to, so that no unsafe is needed for many strings in one chunk.
func (a *arena) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > chunkBytes/4 {
		return string(b)
	}
	if a.text.Cap()-a.text.Len() < len(b) {
		a.text = strings.Builder{}
		a.text.Grow(chunkBytes)
	}
	at := a.text.Len()
	a.text.Write(b)
	return a.text.String()[at:]
}

// room makes place for one more attribute of a list that began at index start
// of the chunk, and returns where the list begins now.
func (a *arena) room(start int) int {
	if len(a.attrs) < cap(a.attrs) {
		return start
	}
	list := a.attrs[start:]
	a.attrs = make([]traces.Attribute, len(list), max(chunkAttributes, 2*len(list)))
	copy(a.attrs, list)
	return 0
}

// interner keeps one copy of strings that come again and again: keys and names.
// It is a cache of a fixed size in which a newcomer takes the place of what
// was there, so that hostile input cannot make it grow.
type interner struct {
	slots []string
}

const (
	internBits  = 10
	internSlots = 1 << internBits
	internBytes = 128 // longer ones are hardly ever repeated
)

func (in *interner) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > internBytes {
		return string(b)
	}
	if in.slots == nil {
		in.slots = make([]string, internSlots)
	}
	slot := &in.slots[internHash(b)]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// internHash spreads strings by their length, start and end. Who makes all his
// strings collide gets a cache that does not help, and nothing worse.
func internHash(b []byte) uint64 {
	h := uint64(len(b))
	if len(b) >= 8 {
		h ^= binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[len(b)-8:])*0x0101010101010101
	} else {
		for _, c := range b {
			h = h<<8 ^ uint64(c)
		}
	}
	return h * 0x9e3779b97f4a7c15 >> (64 - internBits)
}
