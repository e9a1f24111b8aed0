package main

import (
	"context"
	"io"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/internal/spansource"
)

const envUsage = `usage: waymark env -app NAME

Prints what bootstrap.Start would do for the App with the variables that are set
here, each value with its origin, and what is wrong with them. The status is 1 when
something is wrong.

  -app NAME       the App (default: $WAYMARK_APP)
  -json           JSON, schema waymark.env/v1
`

func runEnv(_ context.Context, c *call, args []string) error {
	c.sourceFlags()
	c.jsonFlag()
	files, err := c.parse(args)
	if err != nil {
		return err
	}
	if c.app == "" {
		c.app, _ = c.lookup.Lookup(spansource.KeyApp)
	}
	switch {
	case len(files) > 0:
		return usagef("unexpected argument %q", files[0])
	case c.app == "":
		return usagef("which App? -app NAME or %s", spansource.KeyApp)
	}
	plan := bootstrap.Explain(bootstrap.Config{App: c.app, Lookup: c.lookup})
	if c.json {
		err = c.printJSON(struct {
			Schema string         `json:"schema"`
			Plan   bootstrap.Plan `json:"plan"`
		}{c.schema(), plan})
	} else {
		err = c.output(func(w io.Writer) error {
			_, err := io.WriteString(w, plan.String())
			return err
		})
	}
	if err == nil && len(plan.Findings) > 0 {
		return errFindings
	}
	return err
}
