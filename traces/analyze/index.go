package analyze

import (
	"encoding/binary"

	"github.com/waymark-trace/waymark/traces"
)

// The bounds of an [Index]. What comes past them is counted under [Others].
const (
	maxServices = 10_000
	maxNames    = 100_000
	maxShapes   = 100_000
	maxValues   = 10_000 // of the key of [IndexOptions]
)

// Others is what the services, routes, names, shapes and values are called that have no row of their own. No real one
// is called so: it is the only one with a line break.
const Others = "(others)\n"

// IndexOptions are what an [Index] is made with. The zero value takes all spans, and no attribute.
type IndexOptions struct {
	// Key is the attribute by whose values requests can be told apart: see [ByKey]. "": none.
	Key string
	// Match chooses the spans that count. The others are known as parents alone. nil: all.
	Match func(*traces.Span) bool
}

// Index holds what tables need of each span: 64 bytes, and the texts once. It serves one goroutine; make one with
// [NewIndex]. Spans can be added at any time, also after questions were asked.
type Index struct {
	opts     IndexOptions
	chunks   [][]entry
	n        int
	traceIDs []traces.TraceID
	perTrace []uint32 // spans of each trace
	traceOf  map[traces.TraceID]uint32
	services texts[string]
	names    texts[string]
	routes   texts[routeKey]
	shapes   texts[shapeKey]
	values   texts[string]
	valueOf  []uint32 // of each span, when a key is asked for
	linked   int      // spans that have their place in the tree
	last     lastResource
}

// lastResource spares looking up the service of each span: neighbors in a file have one resource.
type lastResource struct {
	of      *traces.Resource
	service uint32
}

// entry is what is known of a span.
type entry struct {
	span, parent uint64
	start, end   uint64
	place        Place
	trace        uint32
	up           int32 // the parent's number; -1: none in the set
	name, shape  uint32
	route        uint32
	service      uint16
	flags        flags
}

type flags uint8

const (
	isFailed flags = 1 << iota
	isChosen
	isRequest
	isServer // or a consumer: a request whatever its parent
	isClientHalf
	isServerHalf
)

// Place says where a span can be read again. What it means, who adds the span knows.
type Place uint64

// NewIndex makes an empty index.
func NewIndex(o IndexOptions) *Index {
	return &Index{
		opts: o, traceOf: map[traces.TraceID]uint32{},
		services: newTexts[string](maxServices), names: newTexts[string](maxNames),
		routes: newTexts[routeKey](maxNames), shapes: newTexts[shapeKey](maxShapes), values: newTexts[string](maxValues),
	}
}

// Len returns the number of spans that were added.
func (ix *Index) Len() int { return ix.n }

// Traces returns the number of traces.
func (ix *Index) Traces() int { return len(ix.traceIDs) }

// Spans returns the number of the spans of a trace.
func (ix *Index) Spans(id traces.TraceID) int {
	at, ok := ix.traceOf[id]
	if !ok {
		return 0
	}
	return int(ix.perTrace[at])
}

const chunkLen = 1 << 13 // half a megabyte

func (ix *Index) at(i int32) *entry { return &ix.chunks[i/chunkLen][i%chunkLen] }

// Add adds a span, of which nothing is kept. The attributes that it needs are [Keys], that of the options, and what
// Match looks at.
func (ix *Index) Add(span *traces.Span, at Place) {
	f := factsOf(span)
	e := entry{
		span: binary.BigEndian.Uint64(span.SpanID[:]), parent: binary.BigEndian.Uint64(span.ParentID[:]),
		start: span.StartUnixNano, end: span.EndUnixNano, place: at, up: -1,
		trace: ix.trace(span.TraceID), service: uint16(ix.service(span)), //nolint:gosec // at most maxServices
	}
	ix.perTrace[e.trace]++
	e.name = ix.text(&ix.names, span.Name)
	e.shape = ix.shape(span, &f)
	e.route = ix.route(uint32(e.service), f.routeLabel(span))
	e.flags = flagsOf(span, &f)
	if ix.opts.Match == nil || ix.opts.Match(span) {
		e.flags |= isChosen
	}
	if ix.opts.Key != "" {
		v, ok := span.Attr(ix.opts.Key)
		ix.valueOf = append(ix.valueOf, ix.value(v, ok))
	}
	if ix.n%chunkLen == 0 {
		ix.chunks = append(ix.chunks, make([]entry, 0, chunkLen))
	}
	last := &ix.chunks[len(ix.chunks)-1]
	*last = append(*last, e)
	ix.n++
}

func flagsOf(span *traces.Span, f *facts) (fl flags) {
	if f.failed(span) {
		fl |= isFailed
	}
	switch span.Kind { //nolint:exhaustive // the others are no requests by themselves
	case traces.KindServer:
		fl |= isServer | isServerHalf
	case traces.KindConsumer:
		fl |= isServer
	case traces.KindClient:
		fl |= isClientHalf
	}
	return fl
}

func (ix *Index) trace(id traces.TraceID) uint32 {
	if at, ok := ix.traceOf[id]; ok {
		return at
	}
	at := uint32(len(ix.traceIDs)) //nolint:gosec // bounded by memory
	ix.traceOf[id] = at
	ix.traceIDs = append(ix.traceIDs, id)
	ix.perTrace = append(ix.perTrace, 0)
	return at
}

func (ix *Index) service(span *traces.Span) uint32 {
	if span.Resource == nil || span.Resource != ix.last.of {
		ix.last = lastResource{span.Resource, ix.text(&ix.services, span.Service())}
	}
	return ix.last.service
}

// routeKey is a route before its name is joined.
type routeKey struct {
	service uint32
	label
}

// route returns the number of a route. A span that turns out to be no request has one too: whether it is, only its parent
// tells.
func (ix *Index) route(service uint32, l label) uint32 {
	key := routeKey{service, l}
	if at, ok := ix.routes.number[key]; ok {
		return at
	}
	joined := copied(l.String())
	at := ix.routes.of(routeKey{service, label{what: joined}}, joined)
	if l.before != "" && !ix.routes.full {
		ix.routes.number[routeKey{service, label{copied(l.before), l.sep, copied(l.what)}}] = at
	}
	return at
}

// shapeKey is a shape before its text is joined.
type shapeKey struct {
	scope string
	kind  traces.Kind
	label
}

func (ix *Index) shape(span *traces.Span, f *facts) uint32 {
	l, raw := f.shapeLabel(span)
	if raw != clean {
		l = label{what: raw.clean(l)}
	}
	key := shapeKey{span.ScopeName(), span.Kind, l}
	if at, ok := ix.shapes.number[key]; ok {
		return at
	}
	return ix.shapes.of(shapeKey{copied(key.scope), key.kind, label{copied(l.before), l.sep, copied(l.what)}}, copied(l.String()))
}

func (ix *Index) value(v traces.Value, ok bool) uint32 {
	if !ok {
		return 0
	}
	return 1 + ix.text(&ix.values, valueText(v))
}

// text returns the number of a text.
func (ix *Index) text(t *texts[string], s string) uint32 {
	if at, ok := t.number[s]; ok {
		return at
	}
	s = copied(s)
	return t.of(s, s)
}

// copied shares no memory with s, which may be a part of a file.
func copied(s string) string { return string([]byte(s)) }

// texts numbers texts, at most so many; the rest has the number of [Others].
type texts[K comparable] struct {
	most   int
	number map[K]uint32
	text   []string
	others uint32
	full   bool
}

func newTexts[K comparable](most int) texts[K] { return texts[K]{most: most, number: map[K]uint32{}} }

// of returns the number of a key, which is kept with its text.
func (t *texts[K]) of(key K, text string) uint32 {
	if at, ok := t.number[key]; ok {
		return at
	}
	if len(t.text) < t.most {
		at := uint32(len(t.text)) //nolint:gosec // bounded
		t.number[key] = at
		t.text = append(t.text, text)
		return at
	}
	if !t.full {
		t.full, t.others = true, uint32(len(t.text)) //nolint:gosec // bounded
		t.text = append(t.text, Others)
	}
	return t.others
}
