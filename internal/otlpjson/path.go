package otlpjson

import (
	"slices"
	"strings"
)

// Path returns the names of the members that lead from the value at one offset
// to the one at another inside it, like "attributes.value.intValue"; places in
// arrays are left out. It reads the text between them anew, and is for messages.
func (s *Scanner) Path(from, to int) string {
	in := Scanner{data: s.data, pos: from}
	var names []string // of the present member of each open container
	var ends []byte    // of these
	for in.Peek(); in.pos < to && in.err == nil; in.Peek() {
		switch c := in.data[in.pos]; c {
		case '{', '[':
			in.Begin(c)
			names, ends = append(names, ""), append(ends, c+2) // in ASCII, each bracket closes two after it opens
		default:
			in.Skip()
		}
		n := len(ends)
		for n > 0 && !in.More(ends[n-1]) {
			n--
		}
		if names, ends = names[:n], ends[:n]; n == 0 {
			break
		}
		if ends[n-1] == '}' {
			names[n-1] = string(in.Key())
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	return strings.Join(names, ".")
}
