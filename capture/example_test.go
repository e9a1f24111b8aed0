package capture_test

import (
	"context"
	"errors"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture"
)

func ExampleRun() {
	tp := sdktrace.NewTracerProvider() // or none: see the package's comment
	res, err := capture.Run(context.Background(), "build", func(ctx context.Context) error {
		_, s := tp.Tracer("shop/solver").Start(ctx, "solve")
		defer s.End()
		return errors.New("infeasible")
	}, capture.WithTracerProvider(tp))
	fmt.Println(err)
	for _, s := range res.Spans() {
		fmt.Println(s.Name, s.ScopeName(), s.Status.Message)
	}
	// Output:
	// infeasible
	// build github.com/waymark-trace/waymark/capture infeasible
	// solve shop/solver
}

func ExampleFunc() {
	tp := sdktrace.NewTracerProvider()
	var res *capture.Result
	square := capture.Func(func(_ context.Context, n int) (int, error) { return n * n, nil },
		capture.Name("square"), capture.Into(&res), capture.WithTracerProvider(tp))
	n, err := square(context.Background(), 7)
	fmt.Println(n, err, res.Root().Name)
	// Output:
	// 49 <nil> square
}

func ExampleSampler() {
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(capture.Sampler(sdktrace.NeverSample())))
	res, _ := capture.Run(context.Background(), "block", func(context.Context) error { return nil },
		capture.WithTracerProvider(tp))
	fmt.Println(len(res.Spans()), "span, sampled:", res.Root().Flags&1 == 1)
	// Output:
	// 1 span, sampled: false
}
