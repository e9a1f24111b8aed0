package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/waymark-trace/waymark/traces"
)

// ErrorGroup is failures that are one: of one route, one type, one message but for its data, from one place in the code.
type ErrorGroup struct {
	Service  string `json:"service"`
	Route    string `json:"route"`
	Type     string `json:"type"`            // error.type, else exception.type
	Message  string `json:"message"`         // with numbers, ids and quoted text as *
	Frame    string `json:"frame,omitempty"` // the topmost one of the program's own code: "main.pay cart.go:41"
	Count    int    `json:"count"`
	First    uint64 `json:"first_unix_nano"` // when the first of the spans ended, or started if it is open
	Last     uint64 `json:"last_unix_nano"`
	Examples []Ref  `json:"examples"` // of three traces, the latest of all first
}

type errorKey struct {
	route                   Route
	kind, message, ownFrame string
}

// Errors groups failures. It serves one goroutine and keeps none of the spans; make one with [NewErrors].
type Errors struct {
	window Window
	groups map[errorKey]*ErrorGroup
	beyond int
}

// maxGroups bounds the groups; what comes past them is counted.
const maxGroups = 10_000

// examples is how many spans show what is meant.
const examples = 3

// NewErrors groups the failures of requests that start in a window.
func NewErrors(w Window) *Errors { return &Errors{window: w, groups: map[errorKey]*ErrorGroup{}} }

// AddTrace adds the failures of a trace: each span that failed, unless it did so because of a child of the same service
// that failed. They belong to the route of the request that they are in.
func (e *Errors) AddTrace(trace *traces.Trace) {
	requests := map[*traces.Node]*traces.Node{} // of each node
	for n := range trace.All() {
		request := n
		if !IsRequest(n) {
			request = requests[n.Parent()]
		}
		requests[n] = request
		if Failed(n.Span()) && !isPassedOn(n) && e.window.Holds(request.Span().StartUnixNano) {
			e.add(n.Span(), RouteOf(request.Span()))
		}
	}
}

// isPassedOn reports whether a child of the same service has failed: then the failure is the child's.
func isPassedOn(n *traces.Node) bool {
	return slices.ContainsFunc(n.Children(), func(c *traces.Node) bool {
		return Failed(c.Span()) && !IsRequest(c)
	})
}

func (e *Errors) add(span *traces.Span, route Route) {
	kind, message, frame := failureOf(span)
	key := errorKey{route, kind, withoutData(message), frame}
	g := e.groups[key]
	if g == nil {
		if len(e.groups) >= maxGroups {
			e.beyond++
			return
		}
		key = errorKey{Route{copied(route.Service), copied(route.Name)}, copied(kind), copied(key.message), copied(frame)}
		g = &ErrorGroup{Service: key.route.Service, Route: key.route.Name, Type: key.kind, Message: key.message, Frame: key.ownFrame}
		e.groups[key] = g
	}
	at := cmp.Or(span.EndUnixNano, span.StartUnixNano)
	if g.Count == 0 || at < g.First {
		g.First = at
	}
	ref := Ref{span.TraceID, span.SpanID}
	isLast := at >= g.Last
	g.Last = max(g.Last, at)
	g.Count++
	if slices.ContainsFunc(g.Examples, func(r Ref) bool { return r.TraceID == ref.TraceID }) {
		return
	}
	if isLast {
		g.Examples = slices.Insert(g.Examples, 0, ref)
	} else {
		g.Examples = append(g.Examples, ref)
	}
	g.Examples = g.Examples[:min(len(g.Examples), examples)]
}

// failureOf is what a failed span says of its failure.
func failureOf(span *traces.Span) (kind, message, frame string) {
	f := factsOf(span)
	kind, message = f.errorType, span.Status.Message
	for x := range span.Exceptions() { // the last one is what it ended with
		kind, message, frame = cmp.Or(f.errorType, x.Type), cmp.Or(x.Message, message), ownFrame(x.Stacktrace)
	}
	if code := cmp.Or(f.statusCode, f.oldStatusCode); code >= 400 {
		kind = cmp.Or(kind, strconv.FormatInt(code, 10))
		message = cmp.Or(message, fmt.Sprintf("HTTP %d", code))
	}
	return kind, message, frame
}

// ErrorTable is the groups, and how many failures are in none because there are too many groups. It marshals to the
// fields of waymark.errors/v1.
type ErrorTable struct {
	Groups []ErrorGroup `json:"groups"`
	Beyond int          `json:"beyond,omitempty"`
}

// Table returns the groups, the most frequent first, of those the one that came last.
func (e *Errors) Table() ErrorTable {
	t := ErrorTable{Groups: make([]ErrorGroup, 0, len(e.groups)), Beyond: e.beyond}
	for _, g := range e.groups {
		copied := *g
		copied.Examples = slices.Clone(g.Examples)
		t.Groups = append(t.Groups, copied)
	}
	slices.SortFunc(t.Groups, func(a, b ErrorGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Route, b.Route),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Frame, b.Frame))
	})
	return t
}
