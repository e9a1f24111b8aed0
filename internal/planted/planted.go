// Package planted makes the spans of a shop in which what is wrong is known: 24 routes of five services, and on request
// the faults that people look for, each with its truth, computed while it is made and apart from what finds it.
package planted

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// Options are what is made.
type Options struct {
	Seed     uint64
	Requests int  // of each route that a user asks for
	Healthy  bool // without faults
	Big      bool // with a trace of 100,000 spans
	// Slower is put into each request of GET /about: a difference between two runs.
	Slower time.Duration
}

// Start is when the first request starts.
var Start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // never written

// Between is the time between two requests.
const Between = 50 * time.Millisecond

// Fault is one of the faults, as it is there.
type Fault struct {
	Kind     string // as analyze calls it; "errors", "orphans", "skew" for what is none of its hints
	Service  string
	Route    string
	Requests int             // that have it
	Of       int             // requests of the route
	Costs    []time.Duration // of each request that has it, sorted
}

// Truth is all faults, by their kind.
type Truth map[string]*Fault

// Median is the cost of the middle request, by the nearest rank.
func (f *Fault) Median() time.Duration { return f.Costs[(len(f.Costs)+1)/2-1] }

// shop makes spans.
type shop struct {
	o         Options
	r         *rand.Rand
	spans     []*traces.Span
	truth     Truth
	resources map[string]*traces.Resource
	scope     *traces.Scope
	trace     uint64
	span      uint64
	requests  int
}

// Spans makes the spans of a shop, and says what is wrong in it. The same options give the same spans.
func Spans(o Options) ([]*traces.Span, Truth) {
	s := &shop{
		o: o, r: rand.New(rand.NewPCG(o.Seed, 1)), truth: Truth{}, //nolint:gosec // to be repeated
		resources: map[string]*traces.Resource{}, scope: &traces.Scope{Name: "shop"},
	}
	for range o.Requests {
		for i := range routes {
			s.request(&routes[i])
		}
	}
	for _, f := range s.truth {
		slices.Sort(f.Costs)
	}
	if o.Big {
		s.big()
	}
	return s.spans, s.truth
}

// route is what a user asks for.
type route struct {
	service, method, path string
	usual                 time.Duration
	fault                 func(*shop, *work) // what is wrong with it; nil: nothing
}

// routeCount is how many routes there are.
const routeCount = 24

// routes are those of the five services. Those of stock, pay and users are asked for by the others as well.
var routes = [routeCount]route{ //nolint:gochecknoglobals // never written
	{"shop", "GET", "/", 4 * time.Millisecond, nil},
	{"shop", "GET", "/about", 3 * time.Millisecond, slower},
	{"shop", "GET", "/orders", 12 * time.Millisecond, nPlusOne},
	{"shop", "POST", "/pay", 20 * time.Millisecond, retryStorm},
	{"shop", "GET", "/checkout", 30 * time.Millisecond, serialCalls},
	{"shop", "GET", "/search", 15 * time.Millisecond, slowMinority},
	{"shop", "GET", "/report", 25 * time.Millisecond, stall},
	{"shop", "GET", "/feed", 18 * time.Millisecond, chattyUpstream},
	{"shop", "GET", "/map", 22 * time.Millisecond, fanOut},
	{"shop", "GET", "/cart", 8 * time.Millisecond, lateErrors},
	{"shop", "GET", "/items/{id}", 9 * time.Millisecond, nil},
	{"shop", "GET", "/help", 5 * time.Millisecond, orphan},
	{"cart", "GET", "/cart/{user}", 6 * time.Millisecond, nil},
	{"cart", "PUT", "/cart/{user}", 7 * time.Millisecond, nil},
	{"cart", "DELETE", "/cart/{user}", 5 * time.Millisecond, nil},
	{"stock", "GET", "/stock/{id}", 6 * time.Millisecond, timeout},
	{"stock", "PUT", "/stock/{id}", 8 * time.Millisecond, nil},
	{"stock", "GET", "/stock", 14 * time.Millisecond, nil},
	{"pay", "GET", "/payments/{id}", 11 * time.Millisecond, skew},
	{"pay", "POST", "/refunds", 13 * time.Millisecond, nil},
	{"pay", "GET", "/payments", 16 * time.Millisecond, nil},
	{"users", "GET", "/users/{id}", 4 * time.Millisecond, nil},
	{"users", "POST", "/users", 9 * time.Millisecond, nil},
	{"users", "GET", "/login", 10 * time.Millisecond, nil},
}

// work is a request that is being made: a server span with a query in it.
type work struct {
	route *route
	root  *traces.Span
	at    uint64 // where the next child begins
	n     int    // of the route
}

func (s *shop) request(rt *route) {
	s.trace++
	start := uint64(Start.UnixNano()) + uint64(s.requests)*uint64(Between) //nolint:gosec // not negative
	w := &work{route: rt, n: s.requests / routeCount}
	s.requests++
	took := s.about(rt.usual)
	w.root = s.server(rt.service, rt.method, rt.path, nil, start, took)
	w.at = start + took/10
	s.call(w, "SELECT "+rt.path, took*2/5, "db.query.text", fmt.Sprintf("SELECT * FROM t WHERE path = '%s' AND id = %d", rt.path, s.r.IntN(1000)))
	if rt.fault != nil && (!s.o.Healthy || rt.path == "/about") {
		rt.fault(s, w)
	}
}

// about is a duration near to the usual one: most within an eighth.
func (s *shop) about(usual time.Duration) uint64 {
	return uint64(float64(usual) * math.Exp(max(min(s.r.NormFloat64(), 2.5), -2.5)*0.08))
}

func (s *shop) note(w *work, kind string, cost uint64) {
	f := s.truth[kind]
	if f == nil {
		f = &Fault{Kind: kind, Service: w.route.service, Route: w.route.method + " " + w.route.path, Of: s.o.Requests}
		s.truth[kind] = f
	}
	f.Requests++
	f.Costs = append(f.Costs, time.Duration(cost)) //nolint:gosec // small
}

// grow makes the request longer, so that what is at its end fits.
func (w *work) grow() { w.root.EndUnixNano = max(w.root.EndUnixNano, w.at+uint64(time.Millisecond)) }

func (s *shop) new(service, name string, kind traces.Kind, parent *traces.Span, start, took uint64, kvs ...string) *traces.Span {
	s.span++
	sp := &traces.Span{
		Name: name, Kind: kind, StartUnixNano: start, EndUnixNano: start + took, Resource: s.resource(service), Scope: s.scope,
	}
	binary.BigEndian.PutUint64(sp.TraceID[8:], s.trace)
	binary.BigEndian.PutUint64(sp.SpanID[:], s.span)
	if parent != nil {
		sp.ParentID = parent.SpanID
	}
	for i := 0; i+1 < len(kvs); i += 2 {
		sp.Attributes = append(sp.Attributes, traces.Attribute{Key: kvs[i], Value: traces.String(kvs[i+1])})
	}
	s.spans = append(s.spans, sp)
	return sp
}

func (s *shop) resource(service string) *traces.Resource {
	r := s.resources[service]
	if r == nil {
		r = &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String(service)}}}
		s.resources[service] = r
	}
	return r
}

func (s *shop) server(service, method, path string, parent *traces.Span, start, took uint64) *traces.Span {
	sp := s.new(service, method+" "+path, traces.KindServer, parent, start, took,
		"http.request.method", method, "http.route", path, "user.id", fmt.Sprint("u", s.r.IntN(50)), "tenant", fmt.Sprint("t", s.r.IntN(8)))
	sp.Attributes = append(sp.Attributes, traces.Attribute{Key: "http.response.status_code", Value: traces.Int(200)})
	return sp
}

// call adds a call of the request, after those that it has made.
func (s *shop) call(w *work, name string, took uint64, kvs ...string) *traces.Span {
	sp := s.new(w.route.service, name, traces.KindClient, w.root, w.at, took, kvs...)
	w.at += took
	return sp
}

// ask adds a call of another service's route, with the request that it makes there.
func (s *shop) ask(w *work, service, method, path string, start, took uint64) *traces.Span {
	client := s.new(w.route.service, method, traces.KindClient, w.root, start, took, "http.request.method", method, "url.template", path)
	return s.server(service, method, path, client, start+took/10, took*8/10)
}

func slower(s *shop, w *work) {
	if s.o.Slower > 0 {
		w.at = w.root.EndUnixNano
		s.new(w.route.service, "sleep", traces.KindInternal, w.root, w.at, uint64(s.o.Slower))
		w.root.EndUnixNano += uint64(s.o.Slower)
	}
}

// nPlusOne asks for each item by itself. Every other query has a pool's and a prepare's span in front.
func nPlusOne(s *shop, w *work) {
	var cost uint64
	for i := range 12 {
		if i%2 == 0 {
			s.new(w.route.service, "pool.acquire", traces.KindInternal, w.root, w.at, 10_000)
			s.new(w.route.service, "prepare", traces.KindInternal, w.root, w.at+10_000, 20_000)
			w.at += 40_000
		}
		took := s.about(time.Millisecond)
		s.call(w, "query", took, "db.query.text", fmt.Sprintf("SELECT * FROM items WHERE order_id = %d", s.r.IntN(1000)))
		w.at += 100_000
		cost += took
	}
	w.grow()
	s.note(w, "n-plus-one", cost)
}

// retryStorm fails three times, in every third request.
func retryStorm(s *shop, w *work) {
	if w.n%3 != 0 {
		return
	}
	var cost uint64
	w.at += uint64(3 * time.Millisecond)
	for try := range 4 {
		took := s.about(5 * time.Millisecond)
		c := s.call(w, "POST", took, "http.request.method", "POST", "url.template", "/charge")
		w.at += uint64(2 * time.Millisecond)
		if try < 3 {
			c.Status = traces.Status{Code: traces.StatusError, Message: "503 Service Unavailable"}
			cost += took
		}
	}
	w.grow()
	s.note(w, "retries", cost)
}

// serialCalls asks two services one after the other.
func serialCalls(s *shop, w *work) {
	one, two := s.about(20*time.Millisecond), s.about(24*time.Millisecond)
	w.at += uint64(3 * time.Millisecond)
	s.call(w, "GET", one, "http.request.method", "GET", "url.template", "/prices")
	w.at += 200_000
	s.call(w, "GET", two, "http.request.method", "GET", "url.template", "/coupons")
	w.grow()
	s.note(w, "serial-calls", min(one, two))
}

// slowMinority is eight times as slow for one tenant.
func slowMinority(s *shop, w *work) {
	isBig := w.n%7 == 3
	for i, a := range w.root.Attributes {
		if a.Key == "tenant" && isBig {
			w.root.Attributes[i].Value = traces.String("big")
		}
	}
	if !isBig {
		return
	}
	w.at = w.root.EndUnixNano
	s.call(w, "SELECT search", s.about(7*w.route.usual), "db.query.text", "SELECT * FROM search WHERE text LIKE '%x%'")
	w.root.EndUnixNano = w.at
	s.note(w, "slow-minority", w.root.EndUnixNano-w.root.StartUnixNano)
}

// stall does something for long of which no span says what it is.
func stall(s *shop, w *work) {
	took := s.about(200 * time.Millisecond)
	render := s.new(w.route.service, "render report", traces.KindInternal, w.root, w.at, took)
	child := took / 20
	s.new(w.route.service, "load template", traces.KindInternal, render, w.at+child, child)
	w.at += took
	w.grow()
	s.note(w, "unexplained-time", took-child)
}

// chattyUpstream asks for 25 users by themselves, five at a time.
func chattyUpstream(s *shop, w *work) {
	w.at += uint64(3 * time.Millisecond)
	var cost uint64
	for range 5 {
		var longest, first, last uint64
		for range 5 {
			took := s.about(3 * time.Millisecond)
			server := s.ask(w, "users", "GET", "/users/{id}", w.at, took)
			longest, last = max(longest, took), max(last, server.EndUnixNano)
			if first == 0 || server.StartUnixNano < first {
				first = server.StartUnixNano
			}
		}
		w.at += longest
		cost += last - first
	}
	w.grow()
	s.note(w, "chatty-upstream", cost)
}

// fanOut has 60 children at work at once.
func fanOut(s *shop, w *work) {
	query := s.spans[len(s.spans)-1] // is at work before them
	end := uint64(0)
	for range 60 {
		took := s.about(10 * time.Millisecond)
		s.new(w.route.service, "draw tile", traces.KindInternal, w.root, w.at, took)
		end = max(end, took)
	}
	w.at += end
	w.grow()
	s.note(w, "fan-out", w.at-query.StartUnixNano)
}

// timeout has a call that ends after two seconds, in every fifth request.
func timeout(s *shop, w *work) {
	if w.n%5 != 0 {
		return
	}
	took := uint64(2*time.Second) + s.r.Uint64N(uint64(20*time.Millisecond))
	c := s.call(w, "GET", took, "http.request.method", "GET", "url.template", "/supplier", "error.type", "timeout")
	c.Status = traces.Status{Code: traces.StatusError, Message: "context deadline exceeded"}
	w.grow()
	s.note(w, "timeout", took)
}

// skew is a caller's span whose callee's clock is 250 ms ahead.
func skew(s *shop, w *work) {
	w.at += uint64(3 * time.Millisecond)
	server := s.ask(w, "stock", "GET", "/stock", w.at, uint64(4*time.Millisecond))
	server.StartUnixNano += uint64(250 * time.Millisecond)
	server.EndUnixNano += uint64(250 * time.Millisecond)
	w.at += uint64(4 * time.Millisecond)
	w.grow()
	s.note(w, "skew", uint64(250*time.Millisecond))
}

// lateErrors fail in the last minute.
func lateErrors(s *shop, w *work) {
	end := uint64(Start.UnixNano()) + uint64(s.o.Requests*routeCount)*uint64(Between) //nolint:gosec // not negative
	if w.root.StartUnixNano+uint64(time.Minute) < end {
		return
	}
	w.root.Status = traces.Status{Code: traces.StatusError, Message: fmt.Sprintf("cart %d: no such table \"carts\"", s.r.IntN(1000))}
	w.root.Attributes = append(w.root.Attributes, traces.Attribute{Key: "error.type", Value: traces.String("500")})
	s.note(w, "errors", w.root.EndUnixNano-w.root.StartUnixNano)
}

// orphan has a child whose parent is not there, in every tenth request.
func orphan(s *shop, w *work) {
	if w.n%10 != 0 {
		return
	}
	sp := s.call(w, "lost", uint64(time.Millisecond))
	sp.ParentID = traces.SpanID{0xff}
	s.note(w, "orphans", uint64(time.Millisecond))
}

// big makes a trace of 100,000 spans: stages one after another, each with steps of many kinds, that leave no gap.
func (s *shop) big() {
	const stages, steps, step = 1000, 99, 2000
	s.trace++
	start := uint64(Start.UnixNano())
	kind := func(i int) string { return string(rune('a'+i/26%26)) + string(rune('a'+i%26)) }
	root := s.new("shop", "nightly", traces.KindInternal, nil, start, stages*steps*step)
	for i := range stages - 1 {
		at := start + uint64(i*steps*step)
		stage := s.new("shop", "stage "+kind(i), traces.KindInternal, root, at, steps*step)
		for j := range steps {
			s.new("shop", "step "+kind(j), traces.KindInternal, stage, at+uint64(j*step), step)
		}
	}
}

// Kinds are the kinds of faults that are there, sorted.
func (t Truth) Kinds() []string {
	kinds := make([]string, 0, len(t))
	for k := range t {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, cmp.Compare[string])
	return kinds
}
