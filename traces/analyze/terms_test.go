package analyze_test

import (
	"testing"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func span(name string, kvs ...string) *traces.Span {
	s := &traces.Span{Name: name, Resource: &traces.Resource{}, Scope: &traces.Scope{}}
	for i := 0; i < len(kvs); i += 2 {
		s.Attributes = append(s.Attributes, traces.Attribute{Key: kvs[i], Value: traces.String(kvs[i+1])})
	}
	return s
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		span *traces.Span
		want string
	}{
		{span("x", "db.query.summary", "SELECT items", "db.query.text", "SELECT 1"), "SELECT items"},
		{span("x", "db.query.text", "SELECT a2 FROM t WHERE id = 17 AND n='it''s'"), "SELECT a2 FROM t WHERE id = ? AND n=?"},
		{span("x", "db.query.text", "SELECT *\n  FROM \"t1\" WHERE id IN (1, 2,3 , 'x')  LIMIT 1.5e-3;"), `SELECT * FROM "t1" WHERE id IN (?) LIMIT ?`},
		{span("x", "db.query.text", "WHERE id=$1 AND b = @p2 AND c IN (?, ?)"), "WHERE id=$1 AND b = @p2 AND c IN (?)"},
		{span("x", "db.query.text", "SELECT 'open"), "SELECT ?"},
		{span("x", "http.request.method", "GET", "url.template", "/a/{id}", "http.route", "/b"), "GET /a/{id}"},
		{span("GET /a", "http.request.method", "GET", "http.route", "/a"), "GET /a"},
		{span("x", "rpc.service", "shop.Cart", "rpc.method", "Add"), "shop.Cart/Add"},
		{span("x", "rpc.method", "shop.Cart/Add"), "shop.Cart/Add"},
		{span("x", "messaging.operation.name", "send", "messaging.destination.template", "orders.{id}"), "send orders.{id}"},
		{span("load item 17"), "load item *"},
		{span("load 4bf92f3577b34da6a3ce929d0e0e4736 now"), "load * now"},
		{span("user 123e4567-e89b-12d3-a456-426614174000"), "user *"},
		{span("user/deadbeef/v2"), "user/deadbeef/v*"},
		{span("job a1b2c3d4e5/1.2.3"), "job */*.*.*"},
		{span("face"), "face"},
		{span(""), ""},
	} {
		if got := analyze.ShapeOf(tt.span).Text; got != tt.want {
			t.Errorf("the shape of %v is %q, want %q", tt.span, got, tt.want)
		}
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		span *traces.Span
		want string
	}{
		{span("GET /a/{id}", "http.request.method", "GET", "http.route", "/a/{id}"), "GET /a/{id}"},
		{span("GET", "http.request.method", "GET"), "GET"},
		{span("x", "http.method", "GET", "http.route", "/old"), "GET /old"},
		{span("x", "rpc.service", "shop.Cart", "rpc.method", "Add"), "shop.Cart/Add"},
		{span("x", "messaging.operation.type", "process", "messaging.destination.name", "orders"), "process orders"},
		{span("nightly job"), "nightly job"},
	} {
		if got := analyze.RouteOf(tt.span).Name; got != tt.want {
			t.Errorf("the route of %v is %q, want %q", tt.span, got, tt.want)
		}
	}
}

// A shape is bounded, whatever a file holds, and a shape's own shape is itself.
func FuzzShape(f *testing.F) {
	for _, s := range []string{"SELECT 'x''y' FROM t WHERE id IN (1, 2)", "load 4bf92f3577b34da6", "a-1-b", "'", "\\'", "ä1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, key := range []string{"", "db.query.text"} {
			shape := func(s string) string {
				if key == "" {
					return analyze.ShapeOf(span(s)).Text
				}
				return analyze.ShapeOf(span("", key, s)).Text
			}
			got := shape(s)
			if len(got) > len(s) {
				t.Errorf("%d bytes of %d", len(got), len(s))
			}
			if again := shape(got); again != got {
				t.Errorf("%q becomes %q, then %q", s, got, again)
			}
		}
	})
}
