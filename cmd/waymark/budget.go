package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/render"
)

// addBudget takes what -budget says: a budget, or a file of them.
func (c *call) addBudget(text string) error {
	if strings.Contains(text, ": ") {
		return c.addBudgetLine(text)
	}
	f, err := os.Open(text)
	if err != nil {
		return fmt.Errorf("no budget, which has a colon and a blank behind the route, and no file: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := c.addBudgetLine(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func (c *call) addBudgetLine(line string) error {
	b, err := analyze.ParseBudget(line)
	c.budgets = append(c.budgets, b)
	return err
}

// checkBudgets prints which budgets are held. It is a finding when one is not.
func (c *call) checkBudgets(ctx context.Context, src *spansource.Source) error {
	b := analyze.NewBudgets(c.sel.window.Window, c.budgets...)
	t, err := c.wholes(ctx, src, b.AddTrace)
	if err != nil {
		return err
	}
	rows := b.Rows()
	if c.json {
		err = c.printJSON(struct {
			Schema  string              `json:"schema"`
			Source  sourceJSON          `json:"source"`
			Budgets []analyze.BudgetRow `json:"budgets"`
		}{"waymark.budget/v1", t.source(src), rows})
	} else {
		err = c.output(func(w io.Writer) error {
			for i := range rows {
				writeBudget(w, &rows[i])
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for i := range rows {
		if !rows[i].Held {
			return errFindings
		}
	}
	return nil
}

func writeBudget(w io.Writer, r *analyze.BudgetRow) {
	what := "held:  "
	if !r.Held {
		what = "BROKEN:"
	}
	route, _, _ := strings.Cut(r.Line, ": ")
	fmt.Fprintf(w, "%s %s: %s is %s", what, render.FormatName(route), r.Limit, r.Figure)
	if r.Exemplar != nil {
		fmt.Fprintf(w, " (trace %s)", r.Exemplar.TraceID)
	}
	fmt.Fprintln(w)
}
