package tracefile

import (
	"sync"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// decoder turns documents into spans. It serves one goroutine.
type decoder struct {
	arena
	s       otlpjson.Scanner
	guesses guesses
	shared  *shared
	fields  *fields // nil: everything
	max     int     // bytes of a line
	line    int64   // of the present value, for skips
	at      int64   // its offset
	lines   bool    // all values are lines, also those that do not look so
	array   bool    // the present value is in an array
	faults  faults
	*batch  // where what is read goes
}

// batch is what was read, until it is handed out.
type batch struct {
	out     []*traces.Span
	known   int64  // documents of spans in it
	format  Format // of the first of them
	refused string // the first thing in it that is none
	opens   int    // where a value begins that goes over lines, plus one; nothing after it was read
	late    bool   // more than refuseAfter has been looked through
	skips   skips
}

// skip notes that something in the present value is passed over.
func (d *decoder) skip(what string) { d.skips.add(place{line: d.line, offset: d.at}, what, 1) }

// skipSpan notes that the present span is, or something in it that it is known by.
func (d *decoder) skipSpan(what string) {
	d.skips.add(place{line: d.line, offset: d.at, span: d.faults.number}, what, 1)
}

// fields says which parts of spans are wanted beside the fixed ones.
type fields struct{ keys map[string]bool }

// shared holds the resources and scopes of a whole reading, so that equal ones
// are one, whichever worker meets them.
type shared struct {
	mu        sync.Mutex
	resources map[string]*traces.Resource
	scopes    map[string]*traces.Scope
}

// maxShared bounds each map of shared; what comes after starts them afresh.
const maxShared = 4096

func newShared() *shared {
	return &shared{resources: map[string]*traces.Resource{}, scopes: map[string]*traces.Scope{}}
}

// lookup returns the member of m under the key, made when it is not there.
func lookup[T any](mu *sync.Mutex, m map[string]*T, key []byte, build func() *T) *T {
	mu.Lock()
	v := m[string(key)]
	mu.Unlock()
	if v != nil {
		return v
	}
	v = build()
	if v == nil {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	if first := m[string(key)]; first != nil {
		return first
	}
	if len(m) >= maxShared {
		clear(m)
	}
	m[string(key)] = v
	return v
}

// emit hands out a span of a dialect, reduced to what is wanted, unless something
// in it is at fault.
func (d *decoder) emit(sp *traces.Span) {
	if !d.endSpan() || d.s.Err() != nil {
		return
	}
	if d.fields != nil {
		sp.Events, sp.Links = nil, nil
		kept := sp.Attributes[:0]
		for _, a := range sp.Attributes {
			if d.fields.keys[a.Key] {
				kept = append(kept, a)
			}
		}
		sp.Attributes = kept
		if len(kept) == 0 {
			sp.Attributes = nil
		}
	}
	if sp.Resource == nil {
		sp.Resource = d.resource(nil, nil)
	}
	if sp.Scope == nil {
		sp.Scope = d.scope(nil, nil)
	}
	d.out = append(d.out, sp)
}

// object reads the members of an object that was passed over before, and goes
// back to where the scanner was. What is at fault in it is the object's, which
// many spans share, and not the present span's.
func (d *decoder) object(what string, raw []byte, member func(key []byte)) {
	if len(raw) == 0 {
		return
	}
	outer, faults := d.s, d.faults
	d.s, d.faults = otlpjson.Scanner{Mismatch: outer.Mismatch}, d.faults.in(what)
	d.s.Reset(raw)
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		member(d.s.Key())
	}
	if err := d.s.Err(); err != nil {
		d.skip("rest of a " + what + ": " + err.Error())
	}
	d.s, d.faults = outer, faults
}

// unknown passes over the value of a field that is not known. One with proto3's
// default for it says nothing, and is not worth a word.
func (d *decoder) unknown(where string, key []byte) {
	what := "unknown field " + clip(string(key)) + " in " + where
	raw := d.s.Raw()
	if d.s.Err() != nil {
		return // the fault is told, not the field
	}
	switch string(raw) {
	case "null", "0", `""`, "[]", "{}", "false":
	default:
		d.skip(what)
	}
}
