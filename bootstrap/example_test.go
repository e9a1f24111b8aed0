package bootstrap_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// The whole of a traced server: SHOP_TRACING=true turns it on.
//
//nolint:sloglint // a program logs as it likes
func ExampleStart() {
	ctx := context.Background()
	mux := http.NewServeMux()

	tracing, err := bootstrap.Start(ctx, bootstrap.Config{App: "shop"}) // never nil; err is for the log
	if err != nil {
		slog.Error("tracing", "err", err)
	}
	srv := &http.Server{Addr: ":8080", Handler: tracing.Middleware()(mux)}
	if err := tracing.Serve(ctx, srv); err != nil { // signals, drain, flush, profiles, account
		slog.Error("shop", "err", err)
		os.Exit(1)
	}
}

// A program that is not a server ends tracing itself, with a context of its own
// and not the one that a signal has ended.
//
//nolint:sloglint // a program logs as it likes
func ExampleTracing_Shutdown() {
	ctx := context.Background()
	tracing, err := bootstrap.Start(ctx, bootstrap.Config{App: "shop", Lookup: env.Map{}})
	if err != nil {
		slog.Error("tracing", "err", err)
	}
	defer func() {
		if err := tracing.Shutdown(context.WithoutCancel(ctx)); err != nil {
			slog.Error("tracing", "err", err)
		}
	}()
	fmt.Println("tracing:", tracing.Enabled())
	// Output: tracing: false
}

func ExampleExplain() {
	plan := bootstrap.Explain(bootstrap.Config{App: "shop", Lookup: env.Map{
		"SHOP_TRACING":                "true",
		"SHOP_TRACES_FILE":            "/tmp/spans.jsonl",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318",
	}})
	for _, d := range plan.Destinations {
		fmt.Println(d.Name, d.Target)
	}
	for _, f := range plan.Findings {
		fmt.Println(f.Key, "wants", f.Want)
	}
	// Output:
	// file /tmp/spans.jsonl
	// OTEL_EXPORTER_OTLP_ENDPOINT wants a URL with http:// or https://, such as "http://localhost:4318"
}

//nolint:sloglint // a program logs as it likes
func ExampleTracing_LogHandler() {
	ctx := context.Background()
	tracing, err := bootstrap.Start(ctx, bootstrap.Config{App: "shop", Lookup: env.Map{}})
	if err != nil {
		slog.Error("tracing", "err", err)
	}
	logger := slog.New(tracing.LogHandler(slog.NewJSONHandler(os.Stdout, nil)))
	slog.SetDefault(logger) // each record made with a span's context has trace_id and span_id
}

func ExampleConfig_mask() {
	cfg := bootstrap.Config{
		App: "shop",
		Mask: func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			return kv, kv.Key != "customer.email"
		},
	}
	_, keep := cfg.Mask(attribute.String("customer.email", "ada@example.com"))
	fmt.Println("kept:", keep)
	// Output: kept: false
}
