package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// What annotate keeps as metadata is found by its key.
func TestWhereMetadata(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: slog.New(slog.DiscardHandler),
		Lookup: env.Map{"SHOP_TRACING": "true", "SHOP_TRACES_FILE": path},
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := annotate.New(annotate.Config{Tracing: tracing})
	if err != nil {
		t.Fatal(err)
	}
	for _, meta := range [][]any{
		{"tier", "pro", "seats", 3, "a.b", "dotted", "share", 0.5, "list", []int{1, 2}},
		{"tier", "free", "beta", true, "none", nil},
		{"tier", "pro", "big", int64(1)<<62 + 1},
		{annotate.UserIDKey, "u1"}, // a key of an attribute
		nil,
	} {
		ctx, s := client.Span(t.Context(), "x")
		client.SetMetadata(ctx, meta...)
		s.End(nil)
	}
	_, s := client.Span(t.Context(), "x")
	s.SetAttributes("metadata", "no JSON", "metadata.tier", "an attribute of its own")
	s.End(nil)
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for cond, want := range map[string]int{
		"has:metadata":                            5,
		"metadata.tier=pro":                       2,
		"metadata.tier!=pro":                      4,
		"has:metadata.tier":                       4,
		`metadata.tier="an attribute of its own"`: 1,
		"metadata.seats=3":                        1,
		"metadata.share=0.50":                     1,
		"metadata.a.b=dotted":                     1,
		"metadata.beta=true":                      1,
		"metadata.none=null":                      1,
		"metadata.list=[1,2]":                     1,
		"metadata.big=4611686018427387905":        1,
		"metadata.user.id=u1":                     1,
		"has:metadata.pro":                        0,
		"tier=pro":                                0,
	} {
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), []string{"list", "-spans", "-where", cond, path}, nil, &stdout, &stderr, env.Map{}); got != 0 {
			t.Errorf("-where %q: status %d: %s", cond, got, &stderr)
		}
		if got := strings.Count(stdout.String(), "\n") - 1; got != want {
			t.Errorf("-where %q: %d spans, want %d:\n%s", cond, got, want, &stdout)
		}
	}
}
