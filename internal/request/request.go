// Package request is what the layers of one HTTP request tell its server span: a record in the context,
// which a layer that knows the route, the user or an error fills although the span was started far outside
// of it and the *http.Request may have been copied in between.
package request

import (
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
)

// MaxAttributes is how many attributes a record takes; more are dropped and counted, so that a handler that annotates
// in a loop does not grow it without a bound.
const MaxAttributes = 128

// Record is the record of one request. It is safe for concurrent use; every method works on nil, which is
// the record of a request that is not traced. It is never reused: a goroutine that outlives its request may
// hold it.
type Record struct {
	live  atomic.Pointer[Live] // nil after the end, and for a request that has none
	state atomic.Int32
	mu    sync.Mutex
	told  *told // nil while nobody has told anything, as with most requests
}

// The states of a record. Most requests tell theirs nothing, so that its end needs no lock.
const (
	quiet int32 = iota // nothing was told that Close returns
	telling
	closed
	closedQuiet // as nothing was told, nothing is there to be let go of
)

// told is what a record was told. It is apart, so that the record, which every request has, is small.
type told struct {
	Final
	rank rank
	ext  any
}

// change returns what may be changed, and nil when nothing may. The caller holds the lock.
func (r *Record) change() *told {
	if !r.state.CompareAndSwap(quiet, telling) && r.state.Load() >= closed {
		return nil
	}
	return r.ensure()
}

func (r *Record) ensure() *told {
	if r.told == nil {
		r.told = new(told)
	}
	return r.told
}

// rank orders those who know a route: the later constant wins.
type rank uint8

const (
	rankNone rank = iota
	rankLookup
	rankMux
	rankCaller
)

// Final is what a closed record leaves for the server span.
type Final struct {
	Route      string               // "" when nobody told it
	Err        error                // of SetError
	Stack      []byte               // of the innermost layer that saw the panic
	Attributes []attribute.KeyValue // read only: replaced, never changed in place, since snapshots share it
	Dropped    int                  // attributes past the bound, or not valid
}

// Path returns the path of the request as it reached the server, and "" after the end of the request.
func (r *Record) Path() string {
	if r == nil {
		return ""
	}
	if l := r.live.Load(); l != nil {
		return l.Path
	}
	return ""
}

// SetRoute sets the route; the last call wins, and wins over what a mux says.
func (r *Record) SetRoute(route string) { r.setRoute(route, rankCaller) }

// SetMuxRoute sets the route that a mux has found. The first call wins, since the innermost mux returns
// first and knows most.
func (r *Record) SetMuxRoute(route string) { r.setRoute(route, rankMux) }

// SetLookupRoute sets a route that a mux would find, before it has; it gives way to every other.
func (r *Record) SetLookupRoute(route string) { r.setRoute(route, rankLookup) }

func (r *Record) setRoute(route string, by rank) {
	if r == nil || route == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.change()
	if t == nil || by < t.rank || by == rankMux && t.rank == rankMux {
		return
	}
	t.Route, t.rank = route, by
}

// SetError makes the server span an error, with the type of err as error.type. The first call wins.
func (r *Record) SetError(err error) {
	if r == nil || err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.change(); t != nil && t.Err == nil {
		t.Err = err
	}
}

// SetStack keeps the stack of a panic that is on its way out. The first call wins. The record owns the
// slice afterwards.
func (r *Record) SetStack(stack []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.change(); t != nil && t.Stack == nil {
		t.Stack = stack
	}
}

// SetAttributes adds attributes to the server span and to every span of the request that starts from now
// on; a later value of a key replaces the earlier one. Past [MaxAttributes] keys, new ones are dropped and counted.
func (r *Record) SetAttributes(kvs ...attribute.KeyValue) {
	if r == nil || len(kvs) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.change()
	if t == nil {
		return
	}
	next := slices.Clone(t.Attributes)
	for _, kv := range kvs {
		if !kv.Valid() {
			t.Dropped++
			continue
		}
		same := func(have attribute.KeyValue) bool { return have.Key == kv.Key }
		if i := slices.IndexFunc(next, same); i >= 0 {
			next[i] = kv
		} else if len(next) < MaxAttributes {
			next = append(next, kv)
		} else {
			t.Dropped++
		}
	}
	t.Attributes = next
}

// Attributes returns what SetAttributes has gathered, also after the end of the request. The slice is
// shared: read it only.
func (r *Record) Attributes() []attribute.KeyValue {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		return nil
	}
	return r.told.Attributes
}

// Extension returns what another package keeps with the record; the first call makes it, with create, which
// must not use the record. There is one, package annotate's. It is nil for a nil record.
func (r *Record) Extension(create func() any) any {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.ensure()
	if t.ext == nil {
		t.ext = create()
	}
	return t.ext
}

// Close ends the record: what is set afterwards has no effect. It returns what was set before.
func (r *Record) Close() Final {
	if r == nil {
		return Final{}
	}
	if r.state.CompareAndSwap(quiet, closedQuiet) {
		return Final{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.CompareAndSwap(telling, closed)
	if r.told == nil {
		return Final{}
	}
	return r.told.Final
}

// end closes the record, if Close has not, and lets go of the live part, the error and the stack.
func (r *Record) end() {
	r.live.Store(nil)
	if r.state.CompareAndSwap(quiet, closedQuiet) || r.state.Load() == closedQuiet {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Store(closed)
	r.told.Err, r.told.Stack = nil, nil
}
