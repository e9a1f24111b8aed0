package capturetest

import (
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/render"
)

// Budget fails the test for each budget that is broken, with what it is and the spans of the request that has broken it.
// What is right below the test's own span counts as a request, also when it is no server's.
//
//	tr.Budget("GET /cart: calls(db)<=3, errors<=0%", "checkout: spans<20")
//
// See [analyze.ParseBudget] for what a budget can say. One of a route that does not occur is broken.
func (tr *Trace) Budget(lines ...string) {
	tr.tb.Helper()
	budgets := make([]analyze.Budget, 0, len(lines))
	for _, line := range lines {
		b, err := analyze.ParseBudget(line)
		if err != nil {
			tr.tb.Errorf("capturetest: %v", err)
			return
		}
		budgets = append(budgets, b)
	}
	set := tr.withoutOwn()
	check := analyze.NewBudgets(analyze.Window{}, budgets...)
	for _, t := range set.Traces() {
		check.AddTrace(t)
	}
	for _, r := range check.Rows() {
		switch {
		case r.Held:
		case r.Exemplar == nil:
			tr.tb.Errorf("budget %q: %s is %s; the spans are:\n%s%s", r.Line, r.Limit, r.Figure, indent(tr.Tree()), tr.hint())
		default:
			tr.tb.Errorf("budget %q: %s is %s in:\n%s", r.Line, r.Limit, r.Figure, indent(evidence(set, *r.Exemplar)))
		}
	}
}

// NoHints fails the test for each finding about the code under test: N+1 calls, retries, calls that could run side by
// side and so on, with its spans. See [analyze.HintKind] for the kinds. Findings that need many requests, or long times, are
// rare in tests.
func (tr *Trace) NoHints() {
	tr.tb.Helper()
	set := tr.withoutOwn()
	h := analyze.NewHints(analyze.HintOptions{})
	for _, t := range set.Traces() {
		h.AddTrace(t)
	}
	for _, hint := range h.Hints() {
		tr.tb.Errorf("%s in %q: %s:\n%s", hint.Kind, hint.Route, hint.Text, indent(evidence(set, hint.Examples[0])))
	}
}

// withoutOwn is the spans so far without the test's own, so that what is below it stands alone.
func (tr *Trace) withoutOwn() *traces.Set {
	spans := make([]*traces.Span, 0, 8)
	for _, n := range tr.nodes(func(n *traces.Node) bool { return !tr.isOwn(n.Span()) }) {
		spans = append(spans, n.Span())
	}
	return traces.NewSet(spans)
}

// evidence draws a span and what is below it.
func evidence(set *traces.Set, ref analyze.Ref) string {
	top := set.Find(ref.TraceID, ref.SpanID)
	if top == nil {
		return ""
	}
	var spans []*traces.Span
	for stack := []*traces.Node{top}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], n.Children()...)
		spans = append(spans, n.Span())
	}
	return render.TreeString(traces.NewSet(spans), render.WithStatusText())
}
