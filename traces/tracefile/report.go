package tracefile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSkips bounds the kinds of things a [Report] lists one by one.
const maxSkips = 100

// Report is the account of what was read.
type Report struct {
	Files   []File // in the order they were read
	Spans   int64  // handed out
	Skipped []Skip // at most 100 entries; the rest is in the totals
	Total   int64  // everything that was passed over, listed or not
}

// with is the report with the account of one more file.
func (p Report) with(f *file) Report {
	p.Files = append(slices.Clip(p.Files), File{Name: f.name, Format: f.format, Spans: f.spans})
	p.Spans += f.spans
	p.Total += f.skips.total
	p.Skipped = slices.Clip(p.Skipped)
	for _, s := range f.skips.list {
		if len(p.Skipped) == maxSkips {
			break
		}
		s.File = f.name
		p.Skipped = append(p.Skipped, s)
	}
	return p
}

// refuse notes a file of a folder that is no span file.
func (p *Report) refuse(name string, err error) {
	p.Total++
	var n *NotSpansError
	if len(p.Skipped) < maxSkips && errors.As(err, &n) {
		p.Skipped = append(p.Skipped, Skip{File: name, What: "not a span file: " + n.Saw, Count: 1})
	}
}

// File is one file of a [Report].
type File struct {
	Name   string // as given or found; "-" for a reader without a name
	Format Format // of its first document; "" when it is empty
	Spans  int64
}

// Skip is something in a file that was passed over: a torn line, a document of
// another signal, a field that is not known, a span with a value that its field
// cannot have. What comes again in the same file
// counts up in one entry, which says where it was first.
type Skip struct {
	File   string
	Line   int64 // from 1; 0 in a binary file
	Offset int64 // in bytes; in a binary file, of the message
	Span   int64 // which span of the line or message it is about, from 1; 0: not one alone
	What   string
	Count  int64
}

// String is the skip as one line: `spans.jsonl:7: torn line (2 times)`,
// `spans.jsonl:9: span 3: passed over: name: want a string`.
func (s Skip) String() string {
	var b strings.Builder
	b.WriteString(s.File)
	if s.Line > 0 {
		fmt.Fprintf(&b, ":%d", s.Line)
	} else if s.Offset > 0 {
		fmt.Fprintf(&b, "@%d", s.Offset)
	}
	if s.Span > 0 {
		fmt.Fprintf(&b, ": span %d", s.Span)
	}
	b.WriteString(": " + s.What)
	if s.Count > 1 {
		fmt.Fprintf(&b, " (%d times)", s.Count)
	}
	return b.String()
}

// skips collects what was passed over in one file, or in one block of it.
type skips struct {
	list  []Skip
	index map[string]int
	total int64
}

// place is where something was passed over: see [Skip].
type place struct{ line, offset, span int64 }

// add counts something that was passed over.
func (k *skips) add(at place, what string, count int64) {
	k.total += count
	if i, ok := k.index[what]; ok {
		k.list[i].Count += count
		return
	}
	if len(k.list) >= maxSkips {
		return
	}
	if k.index == nil {
		k.index = make(map[string]int)
	}
	k.index[what] = len(k.list)
	k.list = append(k.list, Skip{Line: at.line, Offset: at.offset, Span: at.span, What: what, Count: count})
}

// merge adds the account of a block that begins after line and offset.
func (k *skips) merge(block *skips, line, offset int64) {
	listed := int64(0)
	for _, s := range block.list {
		at := place{line: s.Line, offset: s.Offset + offset, span: s.Span}
		if at.line > 0 {
			at.line += line
		}
		k.add(at, s.What, s.Count)
		listed += s.Count
	}
	k.total += block.total - listed
}

func (k *skips) reset() {
	k.list, k.total = k.list[:0], 0
	clear(k.index)
}

// clip shortens text from a file for a message.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
