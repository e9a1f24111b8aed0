package recorder

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// indexedFrom is how many attributes a span has when they are found by a map;
// fewer are found sooner by looking at each.
const indexedFrom = 32

// attributes are those of a span, one of each key, in the order in which the
// keys came.
type attributes struct {
	list    []attribute.KeyValue
	index   map[attribute.Key]int // nil while there are few
	lent    int                   // a reader has the first so many, which must not change
	dropped int
}

// add takes kvs over. The last value of a key wins, also at the limit, where a
// further key is dropped.
func (a *attributes) add(kvs []attribute.KeyValue, limits *sdktrace.SpanLimits) {
	a.reserve(len(a.list)+len(kvs), limits)
	limit := limits.AttributeCountLimit
	for i := range kvs {
		kv := &kvs[i]
		at := -1
		if kv.Valid() {
			at = a.find(kv.Key)
		}
		switch {
		case at >= 0:
			a.change(at, normal(kv.Value, limits))
		case !kv.Valid() || limit >= 0 && len(a.list) >= limit:
			a.dropped++
		default:
			a.append(attribute.KeyValue{Key: kv.Key, Value: normal(kv.Value, limits)})
		}
	}
}

// reserve makes room for n attributes in all, as far as the limit allows.
func (a *attributes) reserve(n int, limits *sdktrace.SpanLimits) {
	if limit := limits.AttributeCountLimit; limit >= 0 {
		n = min(n, limit)
	}
	if n > cap(a.list) {
		a.list = slices.Grow(a.list, n-len(a.list))
	}
}

// find returns where key is, -1 when it is not.
func (a *attributes) find(key attribute.Key) int {
	if a.index != nil {
		if at, ok := a.index[key]; ok {
			return at
		}
		return -1
	}
	for i := range a.list {
		if a.list[i].Key == key {
			return i
		}
	}
	return -1
}

func (a *attributes) append(kv attribute.KeyValue) {
	a.list = append(a.list, kv)
	switch n := len(a.list); {
	case a.index != nil:
		a.index[kv.Key] = n - 1
	case n == indexedFrom:
		a.index = make(map[attribute.Key]int, 2*n)
		for i := range a.list {
			a.index[a.list[i].Key] = i
		}
	}
}

func (a *attributes) change(at int, v attribute.Value) {
	if at < a.lent {
		a.list, a.lent = slices.Clone(a.list), 0
	}
	a.list[at].Value = v
}

// lend returns the attributes for a reader, who may keep them.
func (a *attributes) lend() []attribute.KeyValue {
	a.lent = len(a.list)
	return slices.Clip(a.list)
}
