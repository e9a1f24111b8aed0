package analyze_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

// The slowest routes of a file, by the index, which keeps no spans.
func ExampleIndex() {
	spans, _ := planted.Spans(planted.Options{Seed: 1, Requests: 100})
	ix := analyze.NewIndex(analyze.IndexOptions{})
	for _, s := range spans { // in a program: those of a tracefile.Reader with WithAttributes(analyze.Keys()...)
		ix.Add(s, 0)
	}
	for _, r := range ix.Table(analyze.ByRoute, analyze.Window{}).Rows[:2] {
		fmt.Printf("%s: %d requests, p99 %d ms\n", r.Route, r.Count, r.P99/1e6)
	}
	// Output:
	// GET /stock/{id}: 100 requests, p99 2022 ms
	// GET /report: 100 requests, p99 252 ms
}

// What is wrong in a program.
func ExampleHints() {
	spans, _ := planted.Spans(planted.Options{Seed: 1, Requests: 100})
	h := analyze.NewHints(analyze.HintOptions{})
	for _, t := range traces.NewSet(spans).Traces() {
		h.AddTrace(t)
	}
	for _, hint := range h.Hints() {
		if hint.Kind == analyze.NPlusOne {
			fmt.Printf("%s: %s\n", hint.Route, hint.Text)
		}
	}
	// Output:
	// GET /orders: up to 12 × SELECT * FROM items WHERE order_id = ? one after another in one request: ask once for all of them
}

// Which traces a query fits.
func ExampleParseQuery() {
	spans, _ := planted.Spans(planted.Options{Seed: 1, Requests: 100})
	q, err := analyze.ParseQuery(`route="GET /search" dur>100ms tenant=big`)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := 0
	for _, t := range traces.NewSet(spans).Traces() {
		if q.MatchTrace(t) {
			n++
		}
	}
	fmt.Println(n, "traces")
	// Output: 14 traces
}
