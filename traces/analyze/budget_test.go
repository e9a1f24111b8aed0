package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func budgetRows(t *testing.T, spans []*traces.Span, lines ...string) []analyze.BudgetRow {
	t.Helper()
	list := make([]analyze.Budget, 0, len(lines))
	for _, line := range lines {
		b, err := analyze.ParseBudget(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	b := analyze.NewBudgets(analyze.Window{}, list...)
	for _, trace := range traces.NewSet(spans).Traces() {
		b.AddTrace(trace)
	}
	return b.Rows()
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	spans, _ := planted.Spans(planted.Options{Seed: 1, Requests: 10})
	var got []string
	for _, r := range budgetRows(t, spans,
		"GET /orders: calls(db)<=13, calls(db)<13, calls(*)<=13, spans<=26, spans<26, errors<1%, count>=10, count>10, p95<1s, max<1ms",
		"shop POST /pay: calls(http)<=4, errors<=0%, calls(SELECT)<=1, calls(rpc)<1, rate<100",
		"cart GET /orders: p50<1s",
		"*: spans<70",
	) {
		if strings.HasPrefix(r.Limit, "p") || strings.HasPrefix(r.Limit, "max") {
			r.Figure = "…"
		}
		got = append(got, fmt.Sprintf("%s %v %s %v", r.Limit, r.Held, r.Figure, r.Exemplar != nil))
	}
	want := []string{
		"calls(db)<=13 true 13 true", "calls(db)<13 false 13 true", "calls(*)<=13 true 13 true", "spans<=26 true 26 true", "spans<26 false 26 true",
		"errors<1% true 0% false", "count>=10 true 10 false", "count>10 false 10 false", "p95<1s true … true", "max<1ms false … true",
		"calls(http)<=4 true 4 true", "errors<=0% true 0% false", "calls(SELECT)<=1 true 1 true", "calls(rpc)<1 true 0 true", "rate<100 true 0.84 false",
		"p50<1s false … false", "spans<70 true 62 true",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBudgetOfErrors(t *testing.T) {
	t.Parallel()
	spans := []*traces.Span{failing(request("/a", 1, 5), "x"), request("/a", 2, 6), request("/a", 3, 7)}
	rows := budgetRows(t, spans, "GET /a: errors<33.34%, errors<33%, p50<=6ns, p50<6ns")
	for i, want := range []bool{true, false, true, false} {
		if rows[i].Held != want || rows[i].Exemplar == nil {
			t.Errorf("%+v, want %v", rows[i], want)
		}
	}
	if rows[0].Exemplar.TraceID != spans[0].TraceID || rows[2].Exemplar.TraceID != spans[1].TraceID {
		t.Errorf("exemplars %v, %v", rows[0].Exemplar, rows[2].Exemplar)
	}
}

func TestWrongBudgets(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"GET /a p95<50ms":      `budget "GET /a p95<50ms": want ROUTE: CONDITION, …, like GET /cart: p95<50ms, errors<1%`,
		": p95<50ms":           `budget ": p95<50ms": want ROUTE: CONDITION, …, like GET /cart: p95<50ms, errors<1%`,
		"/a: p95=50ms":         `budget "/a: p95=50ms": condition "p95=50ms": want <, <=, > or >= in it`,
		"/a: p95<50":           `budget "/a: p95<50": condition "p95<50": "50" is no duration, like 50ms`,
		"/a: p101<5ms":         `budget "/a: p101<5ms": condition "p101<5ms": want p50 … p99.9, max, errors, calls(WHAT), spans, count or rate in front`,
		"/a: speed<5":          `budget "/a: speed<5": condition "speed<5": want p50 … p99.9, max, errors, calls(WHAT), spans, count or rate in front`,
		"/a: errors<few":       `budget "/a: errors<few": condition "errors<few": "few" is no per cent, like 1%`,
		"/a: calls(db)<=three": `budget "/a: calls(db)<=three": condition "calls(db)<=three": "three" is no number`,
	} {
		if _, err := analyze.ParseBudget(line); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", line, err, want)
		}
	}
}

// FuzzBudget reads any line, and checks a request with what it reads.
func FuzzBudget(f *testing.F) {
	f.Add("GET /cart: p95<50ms, errors<1%, calls(db)<=3, spans<40")
	f.Add("*: p99.9<=1h, max>1ns, rate>0, count>=1e3, calls(\"x\")<1")
	f.Fuzz(func(t *testing.T, line string) {
		b, err := analyze.ParseBudget(line)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "budget ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", line, err)
			}
			return
		}
		c := analyze.NewBudgets(analyze.Window{}, b)
		c.AddTrace(forest(at{0, 1, 5}, at{1, 2, 3}).Traces()[0])
		if len(c.Rows()) == 0 {
			t.Errorf("%q: no rows", line)
		}
	})
}
