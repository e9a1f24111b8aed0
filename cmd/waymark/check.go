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

Looks for what is wrong, and prints each finding with its count and a few spans:

  orphan                  the parent is in no file, and is no other program's
  duplicate, cycle        a span twice; parents in a circle
  no-id                   an id of zeros
  no-end, reversed        never ended; ends before it starts
  outlives-parent         ends after its parent
  starts-before-parent    starts before its parent
  clock-skew              the same, across processes
  missing-route           HTTP server span without http.route
  high-cardinality-name   names that differ in numbers and ids alone
  secret                  passwords, tokens, keys, URLs with user information;
                          the value is printed as ***
  dropped                 attributes, events or links left out by limits
  passed-over             what could not be read in the file

The status is 1 when there is any. Times within a microsecond count as equal.

` + selectUsage + `  -json           JSON, schema waymark.check/v1
` + sourceUsage

func runCheck(ctx context.Context, c *call, args []string) error {
	c.sourceFlags()
	c.selectFlags()
	c.jsonFlag()
	src, err := c.source(args)
	if err != nil {
		return err
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
	findings := d.Findings()
	if n := src.Report().Total; n > 0 {
		findings = append(findings, doctor.Finding{
			Rule: "passed-over", Count: uint64(n), Hint: "stderr says what and where",
		})
	}
	if err := c.printFindings(spans, findings); err != nil {
		return err
	}
	if len(findings) > 0 {
		return errFindings
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
		j := findingJSON{string(f.Rule), f.What, f.Count, f.Hint, []exampleJSON{}}
		for _, e := range f.Examples {
			j.Examples = append(j.Examples, exampleJSON{e.TraceID, e.SpanID, e.Name, e.Service, e.Detail})
		}
		out.Findings = append(out.Findings, j)
	}
	return out
}
