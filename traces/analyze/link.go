package analyze

import "hash/maphash"

// link finds the parents of the spans as [traces.NewSet] does, and which of the spans are requests. It begins afresh when
// spans were added: a parent may come after its children.
func (ix *Index) link() {
	if ix.linked == ix.n {
		return
	}
	t := newIDTable(ix)
	for i := range int32(ix.n) { //nolint:gosec // two billion spans do not fit into memory
		t.insert(i)
	}
	for i := range int32(ix.n) { //nolint:gosec // as above
		ix.at(i).up = t.parentOf(i)
	}
	ix.cut()
	for i := range int32(ix.n) { //nolint:gosec // as above
		e := ix.at(i)
		e.flags &^= isRequest
		if e.flags&isServer != 0 || e.up < 0 || ix.at(e.up).service != e.service {
			e.flags |= isRequest
		}
	}
	ix.linked = ix.n
}

// idTable finds spans by their ids: an open table, half empty, of numbers alone.
type idTable struct {
	*Index
	seed  maphash.Seed // so that no file can be made in which ids collide
	slots []int32      // the number of a span plus one; 0: empty
	calls map[int32]calls
}

// calls is the halves of one, which share an ID.
type calls struct{ client, server int32 }

func newIDTable(ix *Index) *idTable {
	size := 1
	for size < 2*ix.n {
		size *= 2
	}
	return &idTable{Index: ix, seed: maphash.MakeSeed(), slots: make([]int32, size)}
}

type idKey struct {
	trace uint32
	span  uint64
}

// find returns the slot of the first span of these ids, or an empty one.
func (t *idTable) find(key idKey) *int32 {
	for at := int(maphash.Comparable(t.seed, key)) & (len(t.slots) - 1); ; at = (at + 1) & (len(t.slots) - 1) { //nolint:gosec // its low bits
		slot := &t.slots[at]
		if *slot == 0 {
			return slot
		}
		if e := t.at(*slot - 1); e.trace == key.trace && e.span == key.span {
			return slot
		}
	}
}

func (t *idTable) insert(i int32) {
	e := t.at(i)
	if e.span == 0 {
		return
	}
	slot := t.find(idKey{e.trace, e.span})
	if *slot == 0 {
		*slot = i + 1
		return
	}
	first := *slot - 1
	if _, taken := t.calls[first]; taken {
		return
	}
	client, server := first, i
	if t.at(client).flags&isClientHalf == 0 {
		client, server = server, client
	}
	if t.at(client).flags&isClientHalf == 0 || t.at(server).flags&isServerHalf == 0 {
		return
	}
	if t.calls == nil {
		t.calls = map[int32]calls{}
	}
	t.calls[first] = calls{client, server}
}

// parentOf returns the number of a span's parent, or -1.
func (t *idTable) parentOf(i int32) int32 {
	e := t.at(i)
	if len(t.calls) > 0 && e.span != 0 {
		if c, ok := t.calls[*t.find(idKey{e.trace, e.span})-1]; ok && c.server == i {
			return c.client
		}
	}
	if e.parent == 0 || e.parent == e.span {
		return -1
	}
	first := *t.find(idKey{e.trace, e.parent}) - 1
	if first < 0 {
		return -1
	}
	c, ok := t.calls[first]
	if !ok {
		return first
	}
	if e.service == t.at(c.client).service && e.service != t.at(c.server).service {
		return c.client
	}
	return c.server
}

// cut breaks circles of parents before their earliest span.
func (ix *Index) cut() {
	walk := make([]int32, ix.n)  // 0: not seen; else the number of the walk that saw it
	for i := range int32(ix.n) { //nolint:gosec // two billion spans do not fit into memory
		n := i
		for n >= 0 && walk[n] == 0 {
			walk[n] = i + 1
			n = ix.at(n).up
		}
		if n < 0 || walk[n] != i+1 {
			continue
		}
		first := n
		for m := ix.at(n).up; m != n; m = ix.at(m).up {
			if a, b := ix.at(m), ix.at(first); a.start < b.start || a.start == b.start && m < first {
				first = m
			}
		}
		ix.at(first).up = -1
	}
}
