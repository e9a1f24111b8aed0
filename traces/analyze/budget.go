package analyze

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// Budget is what the requests of a route may take. [ParseBudget] makes one.
type Budget struct {
	line   string
	route  string // "*": all
	limits []limit
}

// limit is one condition.
type limit struct {
	text   string
	metric string  // p95, max, errors, calls, spans, count, rate
	of     string  // of calls
	q      float64 // of a percentile
	op     op
	bound  float64
}

// ParseBudget reads a budget: a route, a colon, and conditions with commas between them.
//
//	GET /cart: p95<50ms, errors<1%, calls(db)<=3, spans<40
//
// The route is a route's name, or the service and the name, or * for all requests. The conditions, by <, <=, > and >=:
//
//   - p50 … p99.9, max: a percentile of the durations, or the largest
//   - errors: the part of the requests that failed, in per cent
//   - calls(WHAT): of the request with the most: client spans of db, http, rpc or messaging, of any kind by *, or those
//     whose shape begins with WHAT
//   - spans: of the request with the most, those of the requests that it makes left out
//   - count, rate: the requests, and how many a second
func ParseBudget(line string) (Budget, error) {
	route, rest, ok := cutBudget(line)
	if !ok {
		return Budget{}, fmt.Errorf("budget %q: want ROUTE: CONDITION, …, like GET /cart: p95<50ms, errors<1%%", line)
	}
	b := Budget{line: strings.TrimSpace(line), route: route}
	for text := range strings.SplitSeq(rest, ",") {
		l, err := parseLimit(strings.TrimSpace(text))
		if err != nil {
			return Budget{}, fmt.Errorf("budget %q: %w", line, err)
		}
		b.limits = append(b.limits, l)
	}
	return b, nil
}

// cutBudget splits at the last colon that a blank follows: a route may hold others.
func cutBudget(line string) (route, rest string, ok bool) {
	i := strings.LastIndex(line, ": ")
	if i < 0 {
		return "", "", false
	}
	route, rest = strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+2:])
	return route, rest, route != "" && rest != ""
}

func parseLimit(text string) (limit, error) {
	l := limit{text: text}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return l, fmt.Errorf("condition %q: want <, <=, > or >= in it", text)
	}
	l.metric = strings.TrimSpace(text[:at])
	l.op, text = op(text[at:at+1]), text[at+1:]
	if strings.HasPrefix(text, "=") {
		l.op, text = l.op+"=", text[1:]
	}
	bound := strings.TrimSpace(text)
	if of, ok := strings.CutPrefix(l.metric, "calls("); ok && strings.HasSuffix(of, ")") {
		l.metric, l.of = "calls", strings.Trim(strings.TrimSuffix(of, ")"), `"`)
	}
	return l, l.readBound(bound)
}

func (l *limit) readBound(bound string) (err error) {
	switch {
	case l.metric == "calls" && l.of != "", l.metric == "spans", l.metric == "count", l.metric == "rate":
		if l.bound, err = strconv.ParseFloat(bound, 64); err != nil {
			return fmt.Errorf("condition %q: %q is no number", l.text, bound)
		}
	case l.metric == "errors":
		if l.bound, err = strconv.ParseFloat(strings.TrimSuffix(bound, "%"), 64); err != nil {
			return fmt.Errorf("condition %q: %q is no per cent, like 1%%", l.text, bound)
		}
	case l.isDuration():
		d, err := time.ParseDuration(bound)
		if err != nil {
			return fmt.Errorf("condition %q: %q is no duration, like 50ms", l.text, bound)
		}
		l.bound = float64(d)
	default:
		return fmt.Errorf("condition %q: want p50 … p99.9, max, errors, calls(WHAT), spans, count or rate in front", l.text)
	}
	return nil
}

// isDuration reads the percentile.
func (l *limit) isDuration() bool {
	if l.metric == "max" {
		l.q = 1
		return true
	}
	percent, err := strconv.ParseFloat(strings.TrimPrefix(l.metric, "p"), 64)
	l.q = percent / 100
	return err == nil && strings.HasPrefix(l.metric, "p") && l.q > 0 && l.q <= 1
}

// Budgets checks budgets. It serves one goroutine and keeps no spans; make it with [NewBudgets].
type Budgets struct {
	list   []budgetState
	window Window
	extent extent
}

type budgetState struct {
	Budget
	count, failed int
	lastFailed    Ref
	durations     []timedRef
	most          []countedRef // of each limit: calls or spans
}

type timedRef struct {
	nano uint64
	ref  Ref
}

type countedRef struct {
	n   int
	ref Ref
}

// NewBudgets begins to check budgets with the requests that start in a window.
func NewBudgets(w Window, list ...Budget) *Budgets {
	b := &Budgets{window: w}
	for _, budget := range list {
		b.list = append(b.list, budgetState{Budget: budget, most: make([]countedRef, len(budget.limits))})
	}
	return b
}

// AddTrace adds the requests of a trace.
func (b *Budgets) AddTrace(trace *traces.Trace) {
	for _, own := range requestsOf(trace) {
		span := own.request.Span()
		if !b.window.Holds(span.StartUnixNano) {
			continue
		}
		b.extent.add(span.StartUnixNano, span.EndUnixNano)
		route := RouteOf(span)
		for i := range b.list {
			if s := &b.list[i]; s.route == "*" || s.route == route.Name || s.route == route.Service+" "+route.Name {
				s.add(own)
			}
		}
	}
}

func (s *budgetState) add(own *scope) {
	span := own.request.Span()
	ref := Ref{span.TraceID, span.SpanID}
	s.count++
	if Failed(span) {
		s.failed++
		s.lastFailed = ref
	}
	if !span.Open() {
		s.keep(timedRef{intervalOf(span).length(), ref})
	}
	for i := range s.limits {
		n := s.limits[i].countIn(own)
		if s.most[i].ref == (Ref{}) || n > s.most[i].n {
			s.most[i] = countedRef{n, ref}
		}
	}
}

// maxBudgeted is how many durations of a budget are kept; of more, a random part.
const maxBudgeted = 1_000_000

func (s *budgetState) keep(d timedRef) {
	if len(s.durations) < maxBudgeted {
		s.durations = append(s.durations, d)
	} else if at := rand.IntN(s.count); at < maxBudgeted { //nolint:gosec // a sample
		s.durations[at] = d
	}
}

// countIn counts calls or spans of a request.
func (l *limit) countIn(own *scope) (n int) {
	if l.metric == "spans" {
		return len(own.spans)
	}
	if l.metric != "calls" {
		return 0
	}
	for _, s := range own.spans {
		if s != own.request && l.isCall(s.Span()) {
			n++
		}
	}
	return n
}

func (l *limit) isCall(span *traces.Span) bool {
	f := factsOf(span)
	isClient := span.Kind == traces.KindClient || span.Kind == traces.KindProducer
	switch l.of {
	case "*":
		return isClient
	case "db":
		return isClient && cmp.Or(f.dbSystem, f.oldDBSystem, f.dbText, f.oldDBText, f.dbSummary) != ""
	case "http":
		return isClient && f.httpMethod() != ""
	case "rpc":
		return isClient && cmp.Or(f.rpcSys, f.rpcMethod) != ""
	case "messaging":
		return isClient && cmp.Or(f.messagingSystem, f.destinationName, f.destinationTemplate) != ""
	default:
		return strings.HasPrefix(ShapeOf(span).Text, l.of)
	}
}

// BudgetRow is a condition of a budget, and whether it holds: an element of waymark.budget/v1.
type BudgetRow struct {
	Line     string `json:"line"`  // the budget
	Limit    string `json:"limit"` // the condition
	Held     bool   `json:"held"`
	Figure   string `json:"figure"`             // what it is; "no request" when the route did not occur
	Exemplar *Ref   `json:"exemplar,omitempty"` // the request that stands there
}

// Rows returns a row for each condition. One of a route that did not occur is broken.
func (b *Budgets) Rows() []BudgetRow {
	rows := []BudgetRow{}
	for i := range b.list {
		s := &b.list[i]
		slices.SortStableFunc(s.durations, func(x, y timedRef) int { return cmp.Compare(x.nano, y.nano) })
		for j := range s.limits {
			rows = append(rows, s.row(j, b.extent))
		}
	}
	return rows
}

func (s *budgetState) row(i int, e extent) BudgetRow {
	l := &s.limits[i]
	r := BudgetRow{Line: s.line, Limit: l.text}
	if s.count == 0 && l.metric != "count" && l.metric != "rate" {
		r.Figure = "no request"
		return r
	}
	var figure float64
	switch l.metric {
	case "errors":
		figure = 100 * float64(s.failed) / float64(s.count)
		r.Figure = strconv.FormatFloat(math.Round(figure*100)/100, 'f', -1, 64) + "%"
		if s.failed > 0 {
			r.Exemplar = &s.lastFailed
		}
	case "count", "rate":
		figure = float64(s.count)
		if l.metric == "rate" {
			figure /= e.seconds()
		}
		r.Figure = strconv.FormatFloat(math.Round(figure*100)/100, 'f', -1, 64)
	case "calls", "spans":
		figure = float64(s.most[i].n)
		r.Figure, r.Exemplar = strconv.Itoa(s.most[i].n), &s.most[i].ref
	default:
		if len(s.durations) == 0 {
			r.Figure = "no request that has ended"
			return r
		}
		d := s.durations[rank(l.q, len(s.durations))]
		figure = float64(d.nano)
		r.Figure, r.Exemplar = round(d.nano).String(), &d.ref
	}
	r.Held = l.holds(figure)
	return r
}

func (l *limit) holds(figure float64) bool {
	t := term{op: l.op, number: l.bound}
	return t.compare(figure)
}
