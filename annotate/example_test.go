package annotate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// printer is a processor that prints spans.
type printer struct{ sdktrace.SpanProcessor }

func (printer) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (printer) OnEnd(s sdktrace.ReadOnlySpan) {
	a := map[attribute.Key]string{}
	for _, kv := range s.Attributes() {
		a[kv.Key] = kv.Value.String()
	}
	fmt.Printf("%s %s: %q -> %q", a[annotate.SpanKindKey], s.Name(), a[annotate.InputValueKey], a[annotate.OutputValueKey])
	for _, key := range []attribute.Key{annotate.UserIDKey, annotate.TagsKey, "rerank.top_k", "error.type", "trace.evaluations.0.evaluation.score"} {
		if v := a[key]; v != "" {
			fmt.Printf(" %s=%s", key, v)
		}
	}
	fmt.Println()
}

func (printer) ForceFlush(context.Context) error { return nil }

func (printer) Shutdown(context.Context) error { return nil }

// printing is a client whose spans are printed.
func printing() *annotate.Client {
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard, Processors: []sdktrace.SpanProcessor{printer{}},
		Lookup: env.Map{"SHOP_TRACING": "true", "OTEL_TRACES_EXPORTER": "none"},
	})
	if err != nil {
		fmt.Println(err)
	}
	c, err := annotate.New(annotate.Config{Tracing: tracing})
	if err != nil {
		fmt.Println(err)
	}
	return c
}

func ExampleClient_Do() {
	client := printing() // a program that has one client uses the functions: annotate.Do
	_ = client.Do(context.Background(), "charge", func(ctx context.Context) error {
		client.SetInput(ctx, map[string]int{"order": 42})
		return errors.New("card declined")
	}, annotate.Tool)
	// Output:
	// TOOL charge: "{\"order\":42}" -> "" error.type=*errors.errorString
}

// The error is a named result: End sees no other.
func ExampleClient_Span() {
	client := printing()
	rank := func(ctx context.Context, query string) (ids []string, err error) {
		_, s := client.Span(ctx, "rerank", annotate.Reranker, annotate.Input(query))
		defer s.End(&err)
		ids = []string{"b", "a"}
		s.SetOutput(ids)
		s.SetAttribute("rerank.top_k", 5)
		return ids, nil
	}
	_, _ = rank(context.Background(), "blue")
	// Output:
	// RERANKER rerank: "blue" -> "[\"b\",\"a\"]" rerank.top_k=5
}

func ExampleFunc() {
	client := printing() // without a client among the options the default one is used
	lookup := annotate.Func("lookup", func(_ context.Context, id int) (string, error) {
		if id == 0 {
			return "", errors.New("no such order")
		}
		return "shipped", nil
	}, annotate.Tool, client)
	_, _ = lookup(context.Background(), 42)
	_, _ = lookup(context.Background(), 0)
	// Output:
	// TOOL lookup: "42" -> "shipped"
	// TOOL lookup: "0" -> "" error.type=*errors.errorString
}

func ExampleCall() {
	client := printing()
	type login struct{ User, Password string }
	_, _ = annotate.Call(context.Background(), "check", login{"ada", "secret"}, func(context.Context, login) (bool, error) {
		return true, nil
	}, annotate.Guardrail, annotate.Redact(func(field string, v any) any {
		if field == "Password" {
			return "***"
		}
		return v
	}), client)
	// Output:
	// GUARDRAIL check: "{\"User\":\"ada\",\"Password\":\"***\"}" -> "true"
}

func ExampleSeq() {
	client := printing()
	speak := annotate.Seq("speak", func(_ context.Context, n int) iter.Seq[string] {
		return slices.Values(slices.Repeat([]string{"ha "}, n))
	}, annotate.LLM, client)
	n := 0
	for range speak(context.Background(), 5) {
		if n++; n == 2 {
			break
		}
	}
	// Output:
	// LLM speak: "5" -> "ha ha "
}

func ExampleWith() {
	client := printing()
	ctx := annotate.With(context.Background(), annotate.User("ada"), annotate.Tags("batch"))
	inner := annotate.With(ctx, annotate.User("eve"), annotate.Tags("retry"))
	_ = client.Do(inner, "job", func(context.Context) error { return nil })
	// Output:
	// CHAIN job: "" -> "" user.id=eve tag.tags=["batch","retry"]
}

func ExampleMetrics() {
	client := printing()
	brief := annotate.MetricFunc("brief", func(_ context.Context, s annotate.Sample) (annotate.Score, error) {
		answer, _ := s.Output.(string)
		return annotate.Score{Value: 1 / float64(len(answer))}, nil
	})
	answer := annotate.Func("answer", func(context.Context, string) (string, error) { return "yes.", nil },
		annotate.Metrics(brief), annotate.MetricsSampleRate(1), client)
	_, _ = answer(context.Background(), "really?")
	_ = client.Flush(context.Background())
	// Output:
	// CHAIN answer: "really?" -> "yes."
	// EVALUATOR evaluate brief: "" -> "" trace.evaluations.0.evaluation.score=0.25
}
