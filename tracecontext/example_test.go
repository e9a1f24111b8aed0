package tracecontext_test

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

func ExamplePropagator_Extract() {
	header := http.Header{}
	header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	header.Add("tracestate", "rojo=00f067aa0ba902b7")
	header.Add("tracestate", "congo=t61rcWkgMzE")

	ctx := tracecontext.New().Extract(context.Background(), propagation.HeaderCarrier(header))
	sc := trace.SpanContextFromContext(ctx)
	fmt.Println(sc.TraceID(), sc.IsSampled())
	fmt.Println(sc.TraceState())
	// Output:
	// 0af7651916cd43dd8448eb211c80319c true
	// rojo=00f067aa0ba902b7,congo=t61rcWkgMzE
}

// A trace crosses a process boundary in the child's environment.
func ExamplePropagator_Inject() {
	incoming := propagation.MapCarrier{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	p := tracecontext.New()
	ctx := p.Extract(context.Background(), incoming)

	outgoing := propagation.MapCarrier{}
	p.Inject(ctx, outgoing)
	environ := propagation.MapCarrier{"PATH": "/bin", "TRACEPARENT": outgoing["traceparent"]}

	child := p.Extract(context.Background(), environ)
	fmt.Println(trace.SpanContextFromContext(child).TraceID())
	// Output: 0af7651916cd43dd8448eb211c80319c
}

// A member that trace.TraceState does not take still reaches the next service.
func Example_tracestate() {
	p := tracecontext.New()
	ctx := p.Extract(context.Background(), propagation.MapCarrier{
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"tracestate":  "1st=x,rojo=1,tenant@2=y",
	})
	fmt.Println(trace.SpanContextFromContext(ctx).TraceState())

	outgoing := propagation.MapCarrier{}
	p.Inject(ctx, outgoing)
	fmt.Println(outgoing["tracestate"])
	// Output:
	// rojo=1
	// 1st=x,rojo=1,tenant@2=y
}
