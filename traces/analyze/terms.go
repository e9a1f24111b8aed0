package analyze

import (
	"github.com/waymark-trace/waymark/traces"
)

// IsRequest reports whether a span is a request: of kind SERVER or CONSUMER, or without a parent in the set, or with a
// parent of another service.
func IsRequest(n *traces.Node) bool {
	switch n.Span().Kind { //nolint:exhaustive // of the others, the parent decides
	case traces.KindServer, traces.KindConsumer:
		return true
	}
	return n.Parent() == nil || n.Parent().Span().Service() != n.Span().Service()
}

// Failed reports whether a span has failed: its status is Error, or it is a server's and answered with 500 or more.
func Failed(span *traces.Span) bool {
	f := factsOf(span)
	return f.failed(span)
}

// Route is what requests of one kind ask a service for.
type Route struct {
	Service string `json:"service"`
	Name    string `json:"name"` // "GET /cart/{id}"
}

// RouteOf returns the route of a request. Its name is the first of these that the span has: the method and http.route;
// rpc.service and rpc.method, with a slash between them; the operation and the destination of messaging; the span's own
// name.
func RouteOf(span *traces.Span) Route {
	f := factsOf(span)
	return Route{Service: span.Service(), Name: f.routeLabel(span).String()}
}

// Shape is what a call is, without its data. Calls with equal shapes do the same thing.
type Shape struct {
	Scope string
	Kind  traces.Kind
	Text  string // "SELECT name FROM items WHERE id = ?"
}

// String is the shape for people.
func (s Shape) String() string { return s.Text }

// ShapeOf returns the shape of a span. Its text is the first of these that the span has: db.query.summary; db.query.text
// with its literals as ?; url.template; http.route; the method of rpc; the template of messaging's destination; the
// span's own name, with digits, UUIDs and hexadecimal ids as *.
func ShapeOf(span *traces.Span) Shape {
	f := factsOf(span)
	l, raw := f.shapeLabel(span)
	return Shape{Scope: span.ScopeName(), Kind: span.Kind, Text: raw.clean(l)}
}
