package summary

import "github.com/waymark-trace/waymark/traces"

// origin is what tells the halves of a call apart that share an ID, and their
// children: whether a span is a client's or a server's, and of which service.
type origin uint16

const (
	clientSpan   origin = 1 << 14
	serverSpan   origin = 2 << 14
	kindOf       origin = 3 << 14
	mostServices        = 1<<14 - 1 // the rest is taken for one
)

// origins numbers services.
type origins struct {
	services map[string]origin
	last     *traces.Resource // nil at first, and so is the service of a span without one: 0
	number   origin
}

func (o *origins) of(span *traces.Span) origin {
	if span.Resource != o.last {
		o.last, o.number = span.Resource, o.service(span.Service())
	}
	switch span.Kind {
	case traces.KindClient:
		return o.number | clientSpan
	case traces.KindServer:
		return o.number | serverSpan
	default:
		return o.number
	}
}

func (o *origins) service(name string) origin {
	n, ok := o.services[name]
	if ok || name == "" {
		return n
	}
	if o.services == nil {
		o.services = map[string]origin{}
	}
	if n = origin(len(o.services) + 1); n > mostServices { //nolint:gosec // bounded
		return mostServices
	}
	o.services[name] = n
	return n
}

// call is the halves of one, by their numbers.
type call struct{ client, server int32 }

// addHalf makes a call of two spans with the same key, if they are its halves and
// no others are.
func (w *walker) addHalf(key uint64, a, b int32) {
	if w.made[a]&kindOf == serverSpan {
		a, b = b, a
	}
	if _, taken := w.calls[key]; taken || w.made[a]&kindOf != clientSpan || w.made[b]&kindOf != serverSpan {
		return
	}
	if w.calls == nil {
		w.calls = map[uint64]call{}
	}
	w.calls[key] = call{client: a, server: b}
}

func (w *walker) isHalf(i int32) bool {
	c, ok := w.calls[w.key[i]]
	return ok && (c.client == i || c.server == i)
}

// up returns the parent of span i, or -1.
func (w *walker) up(i int32) int32 {
	if c, ok := w.calls[w.key[i]]; ok && c.server == i {
		return c.client
	}
	if c, ok := w.calls[w.parent[i]]; ok {
		service := w.made[i] &^ kindOf
		if service == w.made[c.client]&^kindOf && service != w.made[c.server]&^kindOf {
			return c.client
		}
		return c.server
	}
	return w.find(w.parent[i])
}
