// Package summary adds up finished spans: how many, how long, how deep, when.
//
// It takes spans one by one in any order and keeps counts, not spans: for each
// span 19 bytes that its depth needs, and bounded tables for everything else.
package summary

import (
	"cmp"
	"slices"

	"github.com/waymark-trace/waymark/traces"
)

// The bounds. What comes past them is counted under [Other].
const (
	maxServices = 500
	maxNames    = 5000
)

// Other is the name under which services and span names are counted that no
// longer have a line of their own. No real one is called so: it is the only
// one with a line break.
const Other = "(others)\n"

// Builder adds up. It serves one goroutine; make one with [New].
type Builder struct {
	total    Total
	services map[string]*Service
	names    map[string]*nameCount
	grid     grid
	depths   *Depths
	counted  []bool // of the spans in depths
	traces   map[traces.TraceID]struct{}
}

type nameCount struct {
	Name
	row *row
}

// New makes an empty builder.
func New() *Builder {
	return &Builder{
		services: map[string]*Service{}, names: map[string]*nameCount{},
		depths: NewDepths(), traces: map[traces.TraceID]struct{}{},
	}
}

// Add counts a span. Those that are not counted still are somebody's parent,
// and matter for depth.
func (b *Builder) Add(span *traces.Span, counted bool) {
	b.depths.Add(span)
	b.counted = append(b.counted, counted)
	if !counted {
		return
	}
	b.traces[span.TraceID] = struct{}{}
	b.total.add(span)
	service := bounded(b.services, span.Service(), maxServices, func(name string) *Service { return &Service{Service: name} })
	service.add(span)
	name := bounded(b.names, span.Name, maxNames, func(name string) *nameCount {
		return &nameCount{Name: Name{Name: name}, row: b.grid.newRow()}
	})
	name.add(span)
	b.grid.add(name.row, span.StartUnixNano, span.EndUnixNano)
}

// bounded returns the entry of a key, or that of the others when there are too
// many. The key is copied: the span's own may hold a whole line of a file.
func bounded[T any](m map[string]*T, key string, most int, create func(string) *T) *T {
	if v, ok := m[key]; ok {
		return v
	}
	if len(m) >= most {
		key = Other
		if v, ok := m[key]; ok {
			return v
		}
	}
	key = string([]byte(key))
	v := create(key)
	m[key] = v
	return v
}

// Summary is the sum. All times are nanoseconds.
type Summary struct {
	Total    Total
	Services []Service // most spans first
	Depths   []uint64  // spans by depth, from 0; those at MaxDepth and below in the last
	Names    []Name    // most spans first
	// Timeline is how the columns of each name's timeline lie in time.
	Timeline Timeline
}

// Sum returns what was added so far.
func (b *Builder) Sum() Summary {
	s := Summary{Total: b.total, Depths: b.countDepths(), Timeline: b.grid.timeline()}
	s.Total.Traces = uint64(len(b.traces))
	for _, v := range b.services {
		s.Services = append(s.Services, *v)
	}
	slices.SortFunc(s.Services, func(a, b Service) int {
		return cmp.Or(cmp.Compare(b.Spans, a.Spans), cmp.Compare(a.Service, b.Service))
	})
	for _, v := range b.names {
		v.Busy = b.grid.columns(v.row)
		s.Names = append(s.Names, v.Name)
	}
	slices.SortFunc(s.Names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Spans, a.Spans), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// countDepths is the number of spans at each depth.
func (b *Builder) countDepths() []uint64 {
	var counts []uint64
	tree := b.depths.Tree(nil)
	for i, counted := range b.counted {
		if !counted {
			continue
		}
		at, _ := tree.At(i)
		at = min(at, MaxDepth)
		for len(counts) <= at {
			counts = append(counts, 0)
		}
		counts[at]++
	}
	return counts
}
