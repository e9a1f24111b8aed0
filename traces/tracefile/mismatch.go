package tracefile

import "github.com/waymark-trace/waymark/traces"

// faults is what a decoder knows of values that are JSON and of another type than
// their field has. Such a value costs the span that it is in, and outside of spans
// itself.
type faults struct {
	count  int    // so far
	number int64  // of the last span in its line, from 1
	start  int    // where that span begins in the text
	inside bool   // the scanner is in it
	lost   bool   // a value in it is at fault
	told   bool   // the first fault of this text outside of spans was told
	where  string // what the text is of, outside of spans: "", "resource", "scope"
}

// in are the faults of an object that is read apart.
func (f faults) in(what string) faults { return faults{count: f.count, number: f.number, where: what} }

// beginText begins the text of another value, in the same line or not.
func (f *faults) beginText() { f.inside, f.told = false, false }

// beginSpan makes a span, whose text begins where the scanner stands.
func (d *decoder) beginSpan() *traces.Span {
	d.faults.number++
	d.faults.start, d.faults.inside, d.faults.lost = d.s.Offset(), true, false
	return d.arena.span()
}

// need makes the present span be lost, unless ok: it lacks what it cannot be
// without, which was told.
func (d *decoder) need(ok bool) {
	if !ok {
		d.faults.lost = true
	}
}

// endSpan reports whether the span that began last can be handed out.
func (d *decoder) endSpan() bool {
	d.faults.inside = false
	return !d.faults.lost
}

// mismatch notes a value of another type than its field has.
func (d *decoder) mismatch(offset int, what string) {
	f := &d.faults
	f.count++
	switch {
	case f.inside && !f.lost:
		f.lost = true
		d.skipSpan("passed over: " + f.said(d.s.Path(f.start, offset), what))
	case f.inside: // the span is counted
	case !f.told:
		f.told = true
		said := f.said(d.s.Path(0, offset), what)
		d.refuse(said)
		d.skip(said)
	default:
		// To look for its name costs as much as the text in front, and there may be
		// as many such values as bytes.
		d.skip("another value that its field cannot have")
	}
}

func (f *faults) said(path, what string) string {
	if f.where != "" && path != "" {
		path = f.where + "." + path
	} else {
		path += f.where
	}
	if path == "" {
		return what
	}
	return clip(path) + ": " + what
}
