package analyze

import (
	"cmp"
	"strings"

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
	return span.Failed() || span.Kind == traces.KindServer && statusCode(span) >= 500
}

// statusCode is the HTTP status code of a span, or 0.
func statusCode(span *traces.Span) int64 {
	for _, key := range [2]string{"http.response.status_code", "http.status_code"} { // the second until 1.20
		if v, ok := span.Attr(key); ok {
			return v.AsInt()
		}
	}
	return 0
}

// Route is what requests of one kind ask a service for.
type Route struct {
	Service string
	Name    string // "GET /cart/{id}"
}

// RouteOf returns the route of a request. Its name is the first of these that the span has: the method and http.route;
// rpc.service and rpc.method, with a slash between them; the operation and the destination of messaging; the span's own
// name.
func RouteOf(span *traces.Span) Route {
	return Route{Service: span.Service(), Name: cmp.Or(httpRoute(span), rpc(span), messaging(span), span.Name)}
}

func httpRoute(span *traces.Span) string {
	return join(" ", first(span, "http.request.method", "http.method"), first(span, "http.route"))
}

func rpc(span *traces.Span) string {
	method := first(span, "rpc.method")
	if strings.Contains(method, "/") { // since 1.39 the method is named in full
		return method
	}
	return join("/", first(span, "rpc.service"), method)
}

func messaging(span *traces.Span) string {
	destination := first(span, "messaging.destination.template", "messaging.destination.name")
	return join(" ", first(span, "messaging.operation.name", "messaging.operation.type", "messaging.operation"), destination)
}

// join joins two parts; it is empty when the second one is.
func join(sep, before, what string) string {
	if before == "" || what == "" {
		return what
	}
	return before + sep + what
}

// first returns the first text that the span has under the keys, or "".
func first(span *traces.Span, keys ...string) string {
	for _, key := range keys {
		if v, ok := span.Attr(key); ok && v.AsString() != "" {
			return v.AsString()
		}
	}
	return ""
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
	return Shape{Scope: span.ScopeName(), Kind: span.Kind, Text: shapeText(span)}
}

func shapeText(span *traces.Span) string {
	if text := first(span, "db.query.summary"); text != "" {
		return text
	}
	if text := first(span, "db.query.text", "db.statement"); text != "" { // the second until 1.25
		return withoutLiterals(text)
	}
	method := first(span, "http.request.method", "http.method")
	if text := join(" ", method, first(span, "url.template", "http.route")); text != "" {
		return text
	}
	if text := rpc(span); text != "" {
		return text
	}
	if text := first(span, "messaging.destination.template"); text != "" {
		return join(" ", first(span, "messaging.operation.name", "messaging.operation.type", "messaging.operation"), text)
	}
	return withoutValues(span.Name)
}

// Keys are the attributes that routes, shapes, failures and error groups depend on. Reading them alone is enough for an
// [Index]: see tracefile.WithAttributes.
func Keys() []string {
	return []string{
		"http.request.method", "http.method", "http.route", "http.response.status_code", "http.status_code", "url.template",
		"rpc.service", "rpc.method", "db.query.summary", "db.query.text", "db.statement",
		"messaging.destination.template", "messaging.destination.name",
		"messaging.operation.name", "messaging.operation.type", "messaging.operation",
		"error.type", "exception.type",
	}
}
