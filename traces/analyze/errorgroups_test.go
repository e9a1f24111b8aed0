package analyze_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func groupsOf(w analyze.Window, spans ...*traces.Span) []analyze.ErrorGroup {
	e := analyze.NewErrors(w)
	for _, t := range traces.NewSet(spans).Traces() {
		e.AddTrace(t)
	}
	return e.Table().Groups
}

func failing(s *traces.Span, message string) *traces.Span {
	s.Status = traces.Status{Code: traces.StatusError, Message: message}
	return s
}

func withException(s *traces.Span, kind, message, stack string) *traces.Span {
	s.Events = append(s.Events, traces.Event{Name: "exception", Attributes: []traces.Attribute{
		attr("exception.type", traces.String(kind)), attr("exception.message", traces.String(message)), attr("exception.stacktrace", traces.String(stack)),
	}})
	return s
}

const goStack = `goroutine 7 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/waymark-trace/waymark/middleware.(*exchange).end(0xc000)
	/home/u/go/pkg/mod/github.com/waymark-trace/waymark@v1.0.0/middleware/end.go:40 +0x1d
panic({0x1, 0x2})
	/usr/local/go/src/runtime/panic.go:792 +0x132
github.com/lib/pq.(*conn).query(...)
	/home/u/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go:883
example.com/shop/cart.(*Store).Load(0xc0001, {0x7, 0x8})
	/home/u/shop/cart/store.go:41 +0x1d
main.main()
	/home/u/shop/main.go:9 +0x1d
`

func TestErrorGroups(t *testing.T) {
	t.Parallel()
	server := failing(request("/cart", 1, 50), "")
	child := func(id byte, s *traces.Span) *traces.Span {
		s.TraceID, s.SpanID, s.ParentID, s.Kind = server.TraceID, traces.SpanID{id}, server.SpanID, traces.KindClient
		s.StartUnixNano, s.EndUnixNano = 2, uint64(10*int(id))
		return s
	}
	spans := []*traces.Span{
		server, // passed on: its children have failed
		child(1, failing(withException(span("q"), "*pq.Error", `relation "t17" does not exist (42)`, goStack), "x")),
		child(2, failing(withException(span("q"), "*pq.Error", `relation "t18" does not exist (43)`, goStack), "x")),
		child(3, failing(span("call", "error.type", "timeout"), "can't reach 10.0.0.1:5432")),
	}
	plain := request("/other", 300, 5)
	plain.Attributes = append(plain.Attributes, attr("http.response.status_code", traces.Int(503)))
	spans = append(spans, plain)
	var got []string
	for _, g := range groupsOf(analyze.Window{}, spans...) {
		got = append(got, fmt.Sprintf("%s: %s: %s [%s] %d %d-%d %d", g.Route, g.Type, g.Message, g.Frame, g.Count, g.First, g.Last, len(g.Examples)))
	}
	want := []string{
		"GET /cart: *pq.Error: relation * does not exist (*) [cart.(*Store).Load store.go:41] 2 10-20 1",
		"GET /other: 503: HTTP * [] 1 305-305 1",
		"GET /cart: timeout: can't reach *.*.*.*:* [] 1 30-30 1",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := groupsOf(analyze.Window{From: 200}, spans...); len(got) != 1 || got[0].Route != "GET /other" {
		t.Errorf("in a window: %+v", got)
	}
}

func TestOwnFrames(t *testing.T) {
	t.Parallel()
	for stack, want := range map[string]string{
		"": "",
		"goroutine 1 [running]:\nmain.(*cart).pay(0x1)\n\tshop/cart.go:7 +0x1\n":                                                                                                "main.(*cart).pay cart.go:7",
		"goroutine 1 [running]:\nnet/http.serve(0x1)\n\tnet/http/server.go:7 +0x1\nexample.com/a/b.F()\n\texample.com/a/b/f.go:3\n":                                             "b.F f.go:3",
		"goroutine 1 [running]:\nexample.com/m.F()\n\texample.com/m@v1.2.3/f.go:3\n":                                                                                            "",
		"Traceback (most recent call last):\n  File \"/app/shop.py\", line 41, in pay\n    x()\n  File \"/usr/lib/python3/site-packages/q.py\", line 1, in x\nValueError: no\n": "pay shop.py:41",
		"java.lang.IllegalStateException: no\n\tat java.base/java.util.Optional.get(Optional.java:1)\n\tat com.shop.Cart.pay(Cart.java:41)\n":                                   "com.shop.Cart.pay Cart.java:41",
		"something else": "",
	} {
		s := failing(withException(span("x"), "t", "m", stack), "")
		s.StartUnixNano, s.EndUnixNano = 1, 2
		if got := groupsOf(analyze.Window{}, s)[0].Frame; got != want {
			t.Errorf("the frame of %q is %q, want %q", stack, got, want)
		}
	}
}

// The planted errors are one group, with their number and their route.
func TestPlantedErrorsAreOneGroup(t *testing.T) {
	t.Parallel()
	spans, truth := planted.Spans(planted.Options{Seed: 3, Requests: 100})
	for _, g := range groupsOf(analyze.Window{}, spans...) {
		if f := truth["errors"]; g.Route == f.Route {
			if g.Count != f.Requests || g.Type != "500" || g.Message != "cart *: no such table *" {
				t.Errorf("%+v, want %d", g, f.Requests)
			}
			return
		}
	}
	t.Error("not found")
}

// FuzzErrors takes whatever a span says of its failure.
func FuzzErrors(f *testing.F) {
	f.Add("*E", `can't "do" 'it' 17`, goStack)
	f.Add("", "\xff'", "Traceback (most recent call last)\n File \"")
	f.Add("", "a\"", "\n\tat a(")
	f.Fuzz(func(t *testing.T, kind, message, stack string) {
		s := failing(withException(span("x"), kind, message, stack), message)
		s.StartUnixNano = 1
		g := groupsOf(analyze.Window{}, s)
		if len(g) != 1 || g[0].Count != 1 || len(g[0].Message) > 3*1024 {
			t.Errorf("%+v", g)
		}
	})
}

// The first example is of the latest trace, whatever the order in the file.
func TestExamplesAreTheLatest(t *testing.T) {
	t.Parallel()
	var spans []*traces.Span
	for _, start := range []uint64{30, 10, 50, 20, 40} {
		spans = append(spans, failing(request("/a", start, 1), "x"))
	}
	e := groupsOf(analyze.Window{}, spans...)[0].Examples
	if len(e) != 3 || e[0].TraceID[0] != 50 {
		t.Errorf("examples %v, want three, that of 50 first", e)
	}
}
