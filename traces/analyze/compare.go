package analyze

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/waymark-trace/waymark/traces"
)

// Side is one of two runs that are compared: requests by route. It serves one goroutine and keeps no spans; make one with
// [NewSide]. It is bounded: of more than 100,000 requests of a route a random part of the durations is kept, and routes
// past 2,000 are left out.
type Side struct {
	window Window
	rand   *rand.Rand
	routes map[Route]*sideRoute
	extent extent
	errors *Errors
}

type sideRoute struct {
	count, failed int
	durations     reservoir
	shapes        map[string]*sideShape
}

// sideShape is what the requests of a route have of a shape.
type sideShape struct {
	calls    int
	critical uint64
}

const (
	maxDurations  = 100_000
	maxSideShapes = 1000 // of a route
)

// NewSide begins a run: the requests that start in a window.
func NewSide(w Window) *Side {
	return &Side{
		window: w, rand: rand.New(rand.NewPCG(1, 2)), routes: map[Route]*sideRoute{}, //nolint:gosec // the same file, the same answer
		errors: NewErrors(w),
	}
}

// AddTrace adds the requests of a trace.
func (s *Side) AddTrace(trace *traces.Trace) {
	s.errors.AddTrace(trace)
	for _, own := range requestsOf(trace) {
		span := own.request.Span()
		if !s.window.Holds(span.StartUnixNano) {
			continue
		}
		r := s.route(RouteOf(span))
		if r == nil {
			continue
		}
		s.extent.add(span.StartUnixNano, span.EndUnixNano)
		r.count++
		if Failed(span) {
			r.failed++
		}
		if span.StartUnixNano > 0 && span.EndUnixNano >= span.StartUnixNano {
			r.durations.add(span.EndUnixNano-span.StartUnixNano, maxDurations, s.rand)
		}
		r.addCalls(own)
	}
}

func (s *Side) route(key Route) *sideRoute {
	r := s.routes[key]
	if r == nil && len(s.routes) < maxHintRoutes {
		r = &sideRoute{shapes: map[string]*sideShape{}}
		s.routes[Route{copied(key.Service), copied(key.Name)}] = r
	}
	return r
}

// addCalls counts the calls that a request makes, and what it waited for.
func (r *sideRoute) addCalls(own *scope) {
	for _, n := range own.spans {
		if n != own.request {
			if s := r.shape(n); s != nil {
				s.calls++
			}
		}
	}
	for _, p := range CriticalPath(own.request) {
		if s := r.shape(p.Node); s != nil {
			s.critical += p.To - p.From
		}
	}
}

func (r *sideRoute) shape(n *traces.Node) *sideShape {
	text := ShapeOf(n.Span()).Text
	s := r.shapes[text]
	if s == nil && len(r.shapes) < maxSideShapes {
		s = &sideShape{}
		r.shapes[copied(text)] = s
	}
	return s
}

// Comparison is how a second run differs from a first: the fields of waymark.diff/v1.
type Comparison struct {
	// Routes that both runs have, those with the most time gained or lost in all first.
	Routes   []RouteChange `json:"routes"`
	Appeared OneSided      `json:"appeared"` // in the second run alone
	Vanished OneSided      `json:"vanished"` // in the first run alone
}

// OneSided is what only one of two runs has.
type OneSided struct {
	Routes []Route      `json:"routes,omitempty"`
	Shapes []RouteShape `json:"shapes,omitempty"` // of routes that both have
	Errors []ErrorGroup `json:"errors,omitempty"`
}

// RouteShape is a shape that the requests of a route have.
type RouteShape struct {
	Route
	Shape string `json:"shape"`
}

// RouteChange is how a route differs.
type RouteChange struct {
	Service string  `json:"service"`
	Route   string  `json:"route"`
	Before  RunSide `json:"before"`
	After   RunSide `json:"after"`
	// ChangeP50 is the change of the median as a part of the first one: 0.1 is a tenth slower.
	ChangeP50 float64 `json:"change_p50"`
	// PValue is the probability that durations that do not differ look so different, by the Mann–Whitney test, times the
	// number of routes that are compared (Bonferroni), at most 1.
	PValue float64 `json:"p_value"`
	// Significant says that PValue is under 0.01, and the medians differ by at least 5 %.
	Significant bool `json:"significant"`
	// FailedPValue is the same for the part of the requests that failed, by the z test of two proportions, and
	// FailedSignificant that it is under 0.01.
	FailedPValue      float64       `json:"failed_p_value"`
	FailedSignificant bool          `json:"failed_significant"`
	Calls             []ShapeChange `json:"calls"` // the largest change of the critical path first
}

// RunSide is a route in one of two runs.
type RunSide struct {
	Count  int     `json:"count"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"`
	P50    int64   `json:"p50_nano"`
	P90    int64   `json:"p90_nano"`
	P99    int64   `json:"p99_nano"`
}

// ShapeChange is how the calls of a shape differ, for one request in the mean.
type ShapeChange struct {
	Shape          string  `json:"shape"`
	Before         float64 `json:"before"`
	After          float64 `json:"after"`
	CriticalBefore int64   `json:"critical_before_nano"`
	CriticalAfter  int64   `json:"critical_after_nano"`
}

// The limits of what is significant.
const (
	alpha       = 0.01
	leastChange = 0.05
)

// Compare compares two runs.
func Compare(before, after *Side) Comparison {
	c := Comparison{Routes: []RouteChange{}}
	both := 0
	for route := range before.routes {
		if after.routes[route] != nil {
			both++
		}
	}
	for route, b := range before.routes {
		if a := after.routes[route]; a != nil {
			c.Routes = append(c.Routes, changeOf(route, before, after, both))
			c.Vanished.Shapes = onlyIn(c.Vanished.Shapes, route, b, a)
			c.Appeared.Shapes = onlyIn(c.Appeared.Shapes, route, a, b)
		} else {
			c.Vanished.Routes = append(c.Vanished.Routes, route)
		}
	}
	for route := range after.routes {
		if before.routes[route] == nil {
			c.Appeared.Routes = append(c.Appeared.Routes, route)
		}
	}
	c.Vanished.Errors = onlyErrors(before.errors, after.errors)
	c.Appeared.Errors = onlyErrors(after.errors, before.errors)
	c.sort()
	return c
}

// onlyIn appends the shapes that only one side has of a route.
func onlyIn(list []RouteShape, route Route, one, other *sideRoute) []RouteShape {
	for shape := range one.shapes {
		if other.shapes[shape] == nil {
			list = append(list, RouteShape{route, shape})
		}
	}
	return list
}

func onlyErrors(one, other *Errors) (list []ErrorGroup) {
	for _, g := range one.Table().Groups {
		if other.groups[errorKey{Route{g.Service, g.Route}, g.Type, g.Message, g.Frame}] == nil {
			list = append(list, g)
		}
	}
	return list
}

func changeOf(route Route, before, after *Side, routes int) RouteChange {
	b, a := before.routes[route], after.routes[route]
	c := RouteChange{Service: route.Service, Route: route.Name, Before: b.side(before.extent), After: a.side(after.extent)}
	if c.Before.P50 > 0 {
		c.ChangeP50 = float64(c.After.P50-c.Before.P50) / float64(c.Before.P50)
	}
	c.PValue = min(1, mannWhitney(b.durations.values, a.durations.values)*float64(routes))
	c.Significant = c.PValue < alpha && math.Abs(c.ChangeP50) >= leastChange
	c.FailedPValue = min(1, proportions(b.failed, b.count, a.failed, a.count)*float64(routes))
	c.FailedSignificant = c.FailedPValue < alpha
	for shape, s := range b.shapes {
		c.Calls = append(c.Calls, shapeChange(shape, s, a.shapes[shape], b.count, a.count))
	}
	for shape, s := range a.shapes {
		if b.shapes[shape] == nil {
			c.Calls = append(c.Calls, shapeChange(shape, nil, s, b.count, a.count))
		}
	}
	slices.SortFunc(c.Calls, func(x, y ShapeChange) int {
		return cmp.Or(cmp.Compare(y.size(), x.size()), cmp.Compare(x.Shape, y.Shape))
	})
	return c
}

func (s *ShapeChange) size() int64 { return abs(s.CriticalAfter - s.CriticalBefore) }

func shapeChange(shape string, b, a *sideShape, countBefore, countAfter int) ShapeChange {
	c := ShapeChange{Shape: shape}
	if b != nil {
		c.Before, c.CriticalBefore = float64(b.calls)/float64(countBefore), int64(b.critical)/int64(countBefore) //nolint:gosec // of one request
	}
	if a != nil {
		c.After, c.CriticalAfter = float64(a.calls)/float64(countAfter), int64(a.critical)/int64(countAfter) //nolint:gosec // of one request
	}
	return c
}

func (r *sideRoute) side(e extent) RunSide {
	s := RunSide{
		Count: r.count, Failed: r.failed, Rate: float64(r.count) / e.seconds(),
		P50: r.durations.percentile(0.5), P90: r.durations.percentile(0.9), P99: r.durations.percentile(0.99),
	}
	if len(r.durations.values) < Few {
		s.P90 = r.durations.percentile(1)
		s.P99 = s.P90
	}
	return s
}

// mannWhitney is the p value of the two-sided test, 1 without durations.
func mannWhitney(a, b []uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	p := benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b)).P
	if math.IsNaN(p) {
		return 1
	}
	return p
}

func sampleOf(values []uint64) *benchmath.Sample {
	floats := make([]float64, len(values))
	for i, v := range values {
		floats[i] = float64(v)
	}
	return benchmath.NewSample(floats, &benchmath.DefaultThresholds)
}

// proportions is the p value of the two-sided z test of k1 of n1 against k2 of n2, with the pooled variance; 1 where there
// is none.
func proportions(k1, n1, k2, n2 int) float64 {
	if n1 == 0 || n2 == 0 {
		return 1
	}
	a, b := float64(n1), float64(n2)
	pooled := float64(k1+k2) / (a + b)
	variance := pooled * (1 - pooled) * (1/a + 1/b)
	if variance == 0 {
		return 1
	}
	z := math.Abs(float64(k1)/a-float64(k2)/b) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

func (c *Comparison) sort() {
	gained := func(r *RouteChange) float64 {
		return math.Abs(float64(r.After.P50-r.Before.P50)) * float64(r.After.Count)
	}
	slices.SortFunc(c.Routes, func(x, y RouteChange) int {
		return cmp.Or(cmp.Compare(gained(&y), gained(&x)), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Route, y.Route))
	})
	for _, d := range [2]*OneSided{&c.Appeared, &c.Vanished} {
		slices.SortFunc(d.Routes, Route.compare)
		slices.SortFunc(d.Shapes, func(x, y RouteShape) int {
			return cmp.Or(x.compare(y.Route), cmp.Compare(x.Shape, y.Shape))
		})
	}
}

func (r Route) compare(o Route) int {
	return cmp.Or(cmp.Compare(r.Service, o.Service), cmp.Compare(r.Name, o.Name))
}
