package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

const versionUsage = `usage: waymark version [-json]

Prints the version of the module, the commit it was built from when that is known,
the Go release, and the platform.

  -json           JSON, schema waymark.version/v1
`

// build is what is known about a program's making.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`            // (devel) when not built from a release
	Revision string `json:"revision,omitempty"` // commit
	Modified bool   `json:"modified,omitempty"` // since the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func runVersion(_ context.Context, c *call, args []string) error {
	c.jsonFlag()
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case len(files) > 0:
		return usagef("unexpected argument %q", files[0])
	}
	info, _ := debug.ReadBuildInfo() // nil without modules
	b := buildOf(info)
	if c.json {
		b.Schema = c.schema()
		return c.printJSON(b)
	}
	return c.output(func(w io.Writer) error {
		_, err := fmt.Fprintln(w, b)
		return err
	})
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is "waymark v1.2.3 (0a1b2c3d4e5f, modified), go1.26.0, linux/amd64".
func (b build) String() string {
	const shown = 12
	from := ""
	if r := b.Revision; r != "" {
		from = " (" + r[:min(len(r), shown)]
		if b.Modified {
			from += ", modified"
		}
		from += ")"
	}
	return "waymark " + strings.Join([]string{b.Version + from, b.Go, b.Platform}, ", ")
}
