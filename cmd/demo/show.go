package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// hidden are attributes that say the same of each request here.
var hidden = []string{"network.*", "server.*", "client.*", "url.*", "user_agent.*", "http.request.method"}

// switchName is the variable that switches the App's tracing on.
func switchName(app string) string { return env.Prefix(app) + env.SuffixTracing }

// greet says where the shop listens, where spans go, and how to look at them.
func greet(w io.Writer, tracing *bootstrap.Tracing, baseURL, app string) {
	fmt.Fprintf(w, "listening on %s (routes: /hello/{name} /checkout/{id} /report /fail /panic /events /ask/{user})\n", baseURL)
	if !tracing.Enabled() {
		fmt.Fprintf(w, "tracing is off; switch it on with %s=true\n", switchName(app))
		return
	}
	fmt.Fprintf(w, "spans go to %s\n", tracing.Destination())
	fmt.Fprintf(w, "look at them: go run ./cmd/waymark tree -app %s\n", app)
}

// show reads the span file back: it prints the first trace that has child spans
// and fails unless the file holds a server span for each request served.
func show(w io.Writer, path string, served uint64) error {
	spans, report, err := tracefile.ReadAll(path)
	if err != nil {
		return err
	}
	for _, skip := range report.Skipped {
		err = fmt.Errorf("%s: %v", path, skip)
	}
	if err != nil {
		return err
	}
	var servers uint64
	for _, span := range spans {
		if span.Kind == traces.KindServer {
			servers++
		}
	}
	fmt.Fprintf(w, "%s holds %d spans, %d of them server spans\n", path, len(spans), servers)
	if first := firstNested(traces.NewSet(spans)); first != nil {
		fmt.Fprintln(w, "\nthe first trace with child spans:")
		fmt.Fprintln(w, strings.TrimRight(render.TreeString(first, render.WithHiddenKeys(hidden...)), "\n"))
	}
	if servers != served {
		return fmt.Errorf("%s holds %d server spans, the server counted %d requests", path, servers, served)
	}
	return nil
}

// firstNested is the earliest trace that has more than two levels, as a set of
// its own; nil if there is none.
func firstNested(set *traces.Set) *traces.Set {
	for _, t := range set.Traces() {
		var spans []*traces.Span
		deep := false
		for n := range t.All() {
			spans = append(spans, n.Span())
			deep = deep || n.Depth() > 1
		}
		if deep {
			return traces.NewSet(spans)
		}
	}
	return nil
}
