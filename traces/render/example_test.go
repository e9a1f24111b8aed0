package render_test

import (
	"os"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// shop is a request with a failed call.
func shop() *traces.Set {
	const start = 1_700_000_000_000_000_000
	id := traces.TraceID{15: 1}
	resource := &traces.Resource{Attributes: []traces.Attribute{{Key: "service.name", Value: traces.String("shop")}}}
	return traces.NewSet([]*traces.Span{
		{
			TraceID: id, SpanID: traces.SpanID{1}, Name: "POST /checkout", Kind: traces.KindServer,
			StartUnixNano: start, EndUnixNano: start + 3e6, Resource: resource, Scope: &traces.Scope{Name: "shop"},
			Attributes: []traces.Attribute{{Key: "http.response.status_code", Value: traces.Int(500)}},
		},
		{
			TraceID: id, SpanID: traces.SpanID{2}, ParentID: traces.SpanID{1}, Name: "charge", Kind: traces.KindClient,
			StartUnixNano: start + 1e6, EndUnixNano: start + 2.5e6, Resource: resource, Scope: &traces.Scope{Name: "shop/pay"},
			Status: traces.Status{Code: traces.StatusError, Message: "card refused"},
		},
	})
}

func ExampleTree() {
	if err := render.Tree(os.Stdout, shop(), render.WithStatusText()); err != nil {
		return
	}
	// Output:
	// └── POST /checkout (3.00 ms) {scope=shop} [http.response.status_code=500]
	//     └── charge (1.50 ms) {scope=shop/pay} [ERROR: card refused]
}
