package analyze

import "unsafe"

// EntrySize is the memory that an index takes for a span.
const EntrySize = unsafe.Sizeof(entry{})
