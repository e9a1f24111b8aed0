package analyze

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// HintKind is a kind of finding about a program.
type HintKind string

// The kinds of findings.
const (
	NPlusOne        HintKind = "n-plus-one"
	Retries         HintKind = "retries"
	SerialCalls     HintKind = "serial-calls"
	UnexplainedTime HintKind = "unexplained-time"
	FanOut          HintKind = "fan-out"
	Timeouts        HintKind = "timeout"
	SlowMinority    HintKind = "slow-minority"
	ChattyUpstream  HintKind = "chatty-upstream"
)

// HintOptions are the thresholds of findings. A zero field is its default.
type HintOptions struct {
	Window      Window        // requests that start in it; default: all
	Repeats     int           // n-plus-one: calls of one shape below one parent; default 5
	RepeatShare float64       // … that take this part of the request; default 0.05
	RepeatTime  time.Duration // … or this time; default 5 ms
	Tries       int           // retries: calls in a row; default 3
	SerialShare float64       // serial-calls: the part of the request that each takes; default 0.1
	SerialGap   time.Duration // … and the time between them; default 1 ms
	Unexplained time.Duration // unexplained-time: the span's duration; default 50 ms
	AtOnce      int           // fan-out: children at work at once, more than this; default 50
	Upstream    int           // chatty-upstream: requests of one route, more than this; default 20
}

func (o HintOptions) withDefaults() HintOptions {
	o.Repeats = cmp.Or(o.Repeats, 5)
	o.RepeatShare = cmp.Or(o.RepeatShare, 0.05)
	o.RepeatTime = cmp.Or(o.RepeatTime, 5*time.Millisecond)
	o.Tries = cmp.Or(o.Tries, 3)
	o.SerialShare = cmp.Or(o.SerialShare, 0.1)
	o.SerialGap = cmp.Or(o.SerialGap, time.Millisecond)
	o.Unexplained = cmp.Or(o.Unexplained, 50*time.Millisecond)
	o.AtOnce = cmp.Or(o.AtOnce, 50)
	o.Upstream = cmp.Or(o.Upstream, 20)
	return o
}

// Hint is a finding about a program: an element of waymark.hints/v1.
type Hint struct {
	Kind     HintKind `json:"kind"`
	Service  string   `json:"service"`
	Route    string   `json:"route"`
	Shape    string   `json:"shape"`
	Requests int      `json:"requests"` // of the route that show it
	Of       int      `json:"of"`       // all requests of the route
	Times    int      `json:"times"`    // the most in one request: calls, tries, children at once
	// CostP50 and CostP99 are the time that it takes of a request that shows it.
	CostP50    int64        `json:"cost_p50_nano"`
	CostP99    int64        `json:"cost_p99_nano"`
	Attributes []Difference `json:"attributes,omitempty"` // of a slow minority
	Text       string       `json:"text"`
	Examples   []Ref        `json:"examples"` // the costliest three
}

// Difference is an attribute value that is more frequent in one group than in the other.
type Difference struct {
	Key       string  `json:"key"`
	Value     string  `json:"value"`
	ShareSlow float64 `json:"share_slow"` // of the slow requests, from 0 to 1
	ShareRest float64 `json:"share_rest"`
}

// Hints looks for what is wrong in a program. It serves one goroutine, keeps no spans, and is bounded: at most 10,000
// findings, 10,000 costs of each, 1,000 requests of each of 2,000 routes, 64 MiB of attributes; of more, a random part is kept. Make one with
// [NewHints].
type Hints struct {
	o       HintOptions
	rand    *rand.Rand
	routes  map[Route]*routeStats
	found   map[hintKey]*foundHint
	request *traces.Node // at hand
	costs   map[hintKey]*requestCost
	sampled int // bytes of attributes in the routes' samples
}

type hintKey struct {
	kind  HintKind
	route Route
	shape string
}

// requestCost is what a finding comes to in one request.
type requestCost struct {
	nano  uint64
	times int
	at    Ref
	worst uint64
}

type foundHint struct {
	requests, times int
	costs           reservoir
	examples        []costlyRef
}

type costlyRef struct {
	Ref
	nano uint64
}

const (
	maxHints      = 10_000
	maxCosts      = 10_000
	maxHintRoutes = 2_000
	maxSamples    = 1_000
)

// NewHints begins to look.
func NewHints(o HintOptions) *Hints {
	return &Hints{
		o: o.withDefaults(), rand: rand.New(rand.NewPCG(1, 2)), //nolint:gosec // the same file, the same answer
		routes: map[Route]*routeStats{}, found: map[hintKey]*foundHint{},
	}
}

// AddTrace looks at the requests of a trace.
func (h *Hints) AddTrace(trace *traces.Trace) {
	for _, own := range requestsOf(trace) {
		if h.o.Window.Holds(own.request.Span().StartUnixNano) {
			h.addRequest(own)
		}
	}
}

// scope is the spans of a request: down to those of the requests that it makes.
type scope struct {
	request *traces.Node
	spans   []*traces.Node // with the request
	called  []*traces.Node // the requests that it makes
}

// requestsOf returns the requests of a trace with what belongs to them, in the order of the trace.
func requestsOf(trace *traces.Trace) []*scope {
	var list []*scope
	of := make(map[*traces.Node]*scope, trace.Len())
	for n := range trace.All() {
		own := of[n.Parent()]
		if IsRequest(n) {
			if own != nil {
				own.called = append(own.called, n)
			}
			own = &scope{request: n}
			list = append(list, own)
		}
		of[n] = own
		own.spans = append(own.spans, n)
	}
	return list
}

func (h *Hints) addRequest(own *scope) {
	span := own.request.Span()
	route := RouteOf(span)
	stats := h.routes[route]
	if stats == nil {
		if len(h.routes) >= maxHintRoutes {
			return
		}
		route = Route{copied(route.Service), copied(route.Name)}
		stats = &routeStats{}
		h.routes[route] = stats
	}
	stats.add(span, h.rand, &h.sampled)
	h.request, h.costs = own.request, map[hintKey]*requestCost{}
	for _, n := range own.spans {
		if len(n.Children()) > 0 {
			h.repeated(route, n)
			h.serial(route, n)
			h.fanOut(route, n)
		}
		h.timeout(route, n)
	}
	h.unexplained(route)
	h.chatty(route, own.called)
	for key, cost := range h.costs {
		h.add(key, cost)
	}
}

// tell notes a finding in the request at hand; at is the span to look at.
func (h *Hints) tell(kind HintKind, route Route, shape string, nano uint64, times int, at *traces.Node) {
	key := hintKey{kind, route, shape}
	c := h.costs[key]
	if c == nil {
		c = &requestCost{}
		h.costs[key] = c
	}
	if c.times == 0 || nano > c.worst {
		c.worst, c.at = nano, Ref{at.Span().TraceID, at.Span().SpanID}
	}
	c.nano += nano
	c.times = max(c.times, times)
}

func (h *Hints) add(key hintKey, cost *requestCost) {
	f := h.found[key]
	if f == nil {
		if len(h.found) >= maxHints {
			return
		}
		key.shape = copied(key.shape)
		f = &foundHint{}
		h.found[key] = f
	}
	f.requests++
	f.times = max(f.times, cost.times)
	f.costs.add(cost.nano, maxCosts, h.rand)
	f.examples = append(f.examples, costlyRef{cost.at, cost.nano})
	slices.SortStableFunc(f.examples, func(a, b costlyRef) int { return cmp.Compare(b.nano, a.nano) })
	f.examples = f.examples[:min(len(f.examples), examples)]
}

// Hints returns the findings, those that cost the most in all first.
func (h *Hints) Hints() []Hint {
	list := make([]Hint, 0, len(h.found))
	for key, f := range h.found {
		hint := Hint{
			Kind: key.kind, Service: key.route.Service, Route: key.route.Name, Shape: key.shape,
			Requests: f.requests, Of: h.routes[key.route].count, Times: f.times,
			CostP50: f.costs.percentile(0.5), CostP99: f.costs.percentile(0.99),
		}
		for _, e := range f.examples {
			hint.Examples = append(hint.Examples, e.Ref)
		}
		hint.Text = hint.sentence()
		list = append(list, hint)
	}
	for route, stats := range h.routes {
		if hint, ok := stats.slowMinority(route); ok {
			list = append(list, hint)
		}
	}
	slices.SortFunc(list, func(a, b Hint) int {
		return cmp.Or(cmp.Compare(b.cost(), a.cost()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Service, b.Service),
			cmp.Compare(a.Route, b.Route), cmp.Compare(a.Shape, b.Shape))
	})
	return list
}

// cost is about what the finding costs in all.
func (f *Hint) cost() float64 { return float64(f.CostP50) * float64(f.Requests) }

// reservoir is numbers, of which a random part is kept when they are too many.
type reservoir struct {
	values []uint64
	seen   int
}

func (r *reservoir) add(v uint64, most int, random *rand.Rand) {
	r.seen++
	if len(r.values) < most {
		r.values = append(r.values, v)
	} else if at := random.IntN(r.seen); at < most {
		r.values[at] = v
	}
}

func (r *reservoir) percentile(q float64) int64 {
	if len(r.values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.values))
	return int64(duration(sorted[rank(q, len(sorted))]))
}
