package annotate_test

import (
	"testing"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// off returns a tracing whose switch is off.
func off(tb testing.TB) *bootstrap.Tracing {
	tb.Helper()
	tracing, err := bootstrap.Start(tb.Context(), bootstrap.Config{App: "shop", NoGlobals: true, Logger: discard, Lookup: env.Map{}})
	if err != nil {
		tb.Fatal(err)
	}
	return tracing
}

// offClient is a client over a tracing whose switch is off.
func offClient(tb testing.TB) *annotate.Client {
	tb.Helper()
	c, err := annotate.New(annotate.Config{Tracing: off(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
