package main

import (
	"context"
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/doctor"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

const checkUsage = `usage: waymark check [flags] [FILE …]

Looks for what is wrong, and prints each finding with its count and a few spans.
Mistakes come first:

  duplicate, cycle        a span twice; parents in a circle
  no-id                   an id of zeros
  no-end, reversed        never ended; ends before it starts
  starts-before-parent    starts before its parent, by the same clock
  secret                  passwords, tokens, keys, URLs with user information, in
                          any text of a span; it is printed as ***
  passed-over             what could not be read in the file

Hints may be in healthy files, and are worth a look:

  orphan                  the parent is in no file, and is no other program's
  outlives-parent         ends after its parent
  clock-skew              starts before its parent or after its end, and is of
                          another host
  missing-route           HTTP server span without http.route
  high-cardinality-name   names that differ in numbers and ids alone, or of which
                          hardly any comes twice
  dropped                 attributes, events or links left out by limits

The status is 1 when there is a mistake; hints alone leave it 0. Times within a
microsecond count as equal. (What is wrong in the program, waymark hints tells.)

  -budget LINE    check budgets instead; may be repeated; also a file of lines. A line
                  is a route, or *, and conditions; the status is 1 when one is
                  broken, also by a route that does not occur:
                  'GET /cart: p95<50ms, errors<1%, calls(db)<=3, spans<40'
                  (p50 … p99.9, max; calls of db, http, rpc, messaging, * or of a
                  shape's beginning, and spans, of the request with the most; count,
                  rate)
` + selectUsage + windowUsage + `  -json           JSON, schema waymark.check/v1
` + sourceUsage

func runCheck(ctx context.Context, c *call, args []string) error {
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.Func("budget", "", c.addBudget)
	src, err := c.source(ctx, args)
	if err == nil {
		err = c.ofSpans()
	}
	if err != nil {
		return err
	}
	if len(c.budgets) > 0 {
		return c.checkBudgets(ctx, src)
	}
	d := doctor.New()
	spans := uint64(0)
	err = c.each(ctx, src, func(span *traces.Span) {
		chosen := c.sel.matches(span)
		d.Add(span, chosen)
		if chosen {
			spans++
		}
	})
	if err != nil {
		return err
	}
	d.PassedOver(uint64(src.Report().Total))
	findings := d.Findings()
	if err := c.printFindings(spans, findings); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Rule.Severity() == doctor.SeverityMistake {
			return errFindings
		}
	}
	return nil
}

func (c *call) printFindings(spans uint64, findings []doctor.Finding) error {
	if c.json {
		return c.printJSON(findingsJSON(c.schema(), spans, findings))
	}
	return c.output(func(w io.Writer) error {
		for i := range findings {
			f := &findings[i]
			head := string(f.Rule)
			if f.Rule.Severity() == doctor.SeverityHint {
				head = "hint: " + head
			}
			if f.What != "" {
				head += " " + terminal.Cut(f.What, 80)
			}
			fmt.Fprintf(w, "%s: %d (%s)\n", head, f.Count, f.Hint)
			for _, e := range f.Examples {
				fmt.Fprintf(w, "  trace %s span %s %s", e.TraceID, e.SpanID, terminal.Cut(e.Name, 60))
				if e.Detail != "" {
					fmt.Fprintf(w, ", %s", render.FormatName(e.Detail))
				}
				fmt.Fprintln(w)
			}
		}
		if len(findings) == 0 {
			fmt.Fprintln(w, terminal.Count(spans, "span")+", nothing found")
		}
		return nil
	})
}

type findingJSON struct {
	Rule     string        `json:"rule"`
	Severity string        `json:"severity"` // mistake or hint
	What     string        `json:"what,omitempty"`
	Count    uint64        `json:"count"`
	Hint     string        `json:"hint"`
	Examples []exampleJSON `json:"examples"`
}

type exampleJSON struct {
	TraceID traces.TraceID `json:"trace_id"`
	SpanID  traces.SpanID  `json:"span_id"`
	Name    string         `json:"name"`
	Service string         `json:"service"`
	Detail  string         `json:"detail,omitempty"`
}

func findingsJSON(schema string, spans uint64, findings []doctor.Finding) any {
	out := struct {
		Schema   string        `json:"schema"`
		Spans    uint64        `json:"spans"`
		Findings []findingJSON `json:"findings"`
	}{schema, spans, []findingJSON{}}
	for _, f := range findings {
		j := findingJSON{string(f.Rule), string(f.Rule.Severity()), f.What, f.Count, f.Hint, []exampleJSON{}}
		for _, e := range f.Examples {
			j.Examples = append(j.Examples, exampleJSON{e.TraceID, e.SpanID, e.Name, e.Service, e.Detail})
		}
		out.Findings = append(out.Findings, j)
	}
	return out
}
