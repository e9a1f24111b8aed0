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
	*batch          // where what is read goes
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
func (d *decoder) skip(what string) { d.skips.add(d.line, d.at, what, 1) }

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

// tracesData reads an OTLP document: TracesData, ExportTraceServiceRequest,
// and Tempo's form of it. The scanner stands before it.
func (d *decoder) tracesData() {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "resourceSpans", "resource_spans", "batches":
			d.found(OTLPJSONLines)
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.resourceSpans()
			}
		case "trace": // Tempo's answer to a search by id wraps the document
			if d.s.Peek() != '{' {
				d.s.Skip()
				continue
			}
			d.tracesData()
		default:
			d.unknown("the document", key)
		}
	}
}

// resourceSpans reads spans of one resource, which may come after them.
func (d *decoder) resourceSpans() {
	first := len(d.out)
	var resource, schema []byte
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "resource":
			resource = d.s.Raw()
		case "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans":
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.scopeSpans()
			}
		case "schemaUrl", "schema_url":
			schema = append(schema, d.s.Text()...)
		default:
			d.unknown("resourceSpans", key)
		}
	}
	if len(d.out) == first || d.s.Err() != nil {
		return
	}
	r := d.resource(resource, schema)
	for _, sp := range d.out[first:] {
		sp.Resource = r
	}
}

func (d *decoder) resource(raw, schema []byte) *traces.Resource {
	key := append(append(append([]byte(nil), schema...), 0), raw...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{SchemaURL: string(schema)}
		d.object(raw, func(key []byte) {
			switch string(key) {
			case "attributes":
				r.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				r.DroppedAttributes = d.s.Uint32()
			default:
				d.unknown("resource", key)
			}
		})
		return r
	})
}

// object reads the members of an object that was passed over before, and goes
// back to where the scanner was.
func (d *decoder) object(raw []byte, member func(key []byte)) {
	if len(raw) == 0 {
		return
	}
	outer := d.s
	d.s = otlpjson.Scanner{}
	d.s.Reset(raw)
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		member(d.s.Key())
	}
	if err := d.s.Err(); err != nil {
		d.skip("rest of a resource or scope: " + err.Error())
	}
	d.s = outer
}

func (d *decoder) scopeSpans() {
	first := len(d.out)
	var scope, schema []byte
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "scope", "instrumentationLibrary", "instrumentation_library":
			scope = d.s.Raw()
		case "spans":
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.span()
			}
		case "schemaUrl", "schema_url":
			schema = append(schema, d.s.Text()...)
		default:
			d.unknown("scopeSpans", key)
		}
	}
	if len(d.out) == first || d.s.Err() != nil {
		return
	}
	sc := d.scope(scope, schema)
	for _, sp := range d.out[first:] {
		sp.Scope = sc
	}
}

func (d *decoder) scope(raw, schema []byte) *traces.Scope {
	key := append(append(append([]byte(nil), schema...), 0), raw...)
	return lookup(&d.shared.mu, d.shared.scopes, key, func() *traces.Scope {
		sc := &traces.Scope{SchemaURL: string(schema)}
		d.object(raw, func(key []byte) {
			switch string(key) {
			case "name":
				sc.Name = string(d.s.Text())
			case "version":
				sc.Version = string(d.s.Text())
			case "attributes":
				sc.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				sc.DroppedAttributes = d.s.Uint32()
			default:
				d.unknown("scope", key)
			}
		})
		return sc
	})
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
