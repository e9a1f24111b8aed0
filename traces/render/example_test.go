package render_test

import (
	"fmt"
	"os"
	"strings"

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

func ExampleChromeTrace() {
	if err := render.ChromeTrace(os.Stdout, shop(), render.WithSingleLane()); err != nil {
		return
	}
	// Output:
	// {"traceEvents":[
	// {"name":"POST /checkout","cat":"shop","ph":"X","ts":1700000000000000,"dur":3000,"pid":1,"tid":1,"args":{"http.response.status_code":500,"otel.scope.name":"shop"}},
	// {"name":"charge","cat":"shop/pay","ph":"X","ts":1700000000001000,"dur":1500,"pid":1,"tid":1,"cname":"terrible","args":{"error":"card refused","otel.status_code":"ERROR","otel.status_description":"card refused","otel.scope.name":"shop/pay"}}],"displayTimeUnit":"ms"}
}

func ExampleSpeedscope() {
	if err := render.Speedscope(os.Stdout, shop()); err != nil {
		return
	}
	// Output:
	// {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"waymark","name":"waymark","activeProfileIndex":0,"shared":{"frames":[
	// {"name":"POST /checkout"},
	// {"name":"charge"}]},"profiles":[
	// {"type":"evented","name":"shop, lane 1","unit":"nanoseconds","startValue":0,"endValue":3000000,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1000000},{"type":"C","frame":1,"at":2500000},{"type":"C","frame":0,"at":3000000}]}]}
}

// A report for an issue or an attachment: one file.
func ExampleHTML() {
	var page strings.Builder // an *os.File in real life
	if err := render.HTML(&page, shop(), render.WithTitle("Checkout, slow")); err != nil {
		return
	}
	fmt.Println(strings.Contains(page.String(), "<h1 id=\"title\">Checkout, slow</h1>"))
	// Output: true
}

func ExampleInline() {
	fragment := render.Inline(shop(), render.WithTreeOptions(render.WithStatusText()))
	fmt.Println(fragment[:strings.Index(fragment, "</pre>")])
	// Output:
	// <div class="waymark-trace"><pre>└── POST /checkout (3.00 ms) {scope=shop} [http.response.status_code=500]
	//     └── charge (1.50 ms) {scope=shop/pay} [ERROR: card refused]
}
