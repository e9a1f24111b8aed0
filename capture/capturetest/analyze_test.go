package capturetest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// orders makes spans as a page with an N+1 query does.
func orders(f *fake, queries int) *capturetest.Trace {
	ctx, tr := capturetest.Start(f)
	tracer := tr.TracerProvider().Tracer("shop")
	ctx, page := tracer.Start(ctx, "orders page", trace.WithSpanKind(trace.SpanKindServer))
	for range queries {
		_, q := tracer.Start(ctx, "query", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("db.system.name", "sqlite"), attribute.String("db.query.text", "SELECT * FROM items WHERE id = 7")))
		time.Sleep(2 * time.Millisecond)
		q.End()
	}
	page.End()
	return tr
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"orders page: calls(db)<=6, errors<=0%, p50<=12ms":         nil,
		"orders page: calls(db)<=3":                                {`budget "orders page: calls(db)<=3": calls(db)<=3 is 6 in:`, "└── orders page (12.00 ms)", "├── query (2.00 ms)"},
		"orders page: max<12ms":                                    {"max<12ms is 12ms in:"},
		"cart page: spans<10":                                      {`spans<10 is no request; the spans are:`, "orders page"},
		"orders page: spans":                                       {`capturetest: budget "orders page: spans": condition "spans": want <, <=, > or >= in it`},
		"*: calls(SELECT * FROM items)<6, calls(SELECT nothing)<1": {"calls(SELECT * FROM items)<6 is 6 in:"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t)
			orders(f, 6).Budget(line)
			f.end()
			wantFailures(t, line, f.failures, want)
		})
	}
}

func wantFailures(t *testing.T, name string, got, want []string) {
	t.Helper()
	if (len(got) > 0) != (len(want) > 0) || len(got) > 1 {
		t.Errorf("%s: failures %q, want one with %q", name, got, want)
		return
	}
	for _, part := range want {
		if !strings.Contains(got[0], part) {
			t.Errorf("%s: %s\ndoes not contain %s", name, got[0], part)
		}
	}
}

func TestNoHints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		orders(f, 6).NoHints()
		f.end()
		wantFailures(t, "six queries", f.failures, []string{`n-plus-one in "orders page": up to 6 × SELECT * FROM items WHERE id = ?`, "└── orders page (12.00 ms)", "├── query (2.00 ms)"})
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		orders(f, 2).NoHints()
		f.end()
		wantFailures(t, "two queries", f.failures, nil)
	})
}
