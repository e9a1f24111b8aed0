package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/env"
)

// packageName is the name of a package of the module before a colon. The name of
// the command is the only one that a person typed.
func packageName(t *testing.T) *regexp.Regexp {
	t.Helper()
	var names []string
	for _, pattern := range []string{"../../*/*.go", "../../internal/*/*.go", "../../traces/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			if name := filepath.Base(filepath.Dir(f)); len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	return regexp.MustCompile(`(?:^| )(?:` + strings.Join(names, "|") + `): `)
}

// TestMessagesNameNoPackage goes through what can fail.
func TestMessagesNameNoPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spans, text, empty := filepath.Join(dir, "spans.jsonl"), filepath.Join(dir, "a.txt"), filepath.Join(dir, "empty")
	write(t, spans, shopLines(t))
	write(t, text, []byte("no spans\n"))
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	name := packageName(t)
	if !name.MatchString("waymark: tracefile: x") {
		t.Fatal("the pattern finds nothing")
	}
	for _, c := range []struct {
		vars env.Map
		args []string
	}{
		{nil, []string{"list", filepath.Join(dir, "missing.jsonl")}},
		{nil, []string{"list", text}},
		{nil, []string{"list", empty}},
		{env.Map{"XDG_STATE_HOME": empty}, []string{"list"}},
		{env.Map{"XDG_STATE_HOME": empty}, []string{"list", "-app", "nobody"}},
		{nil, []string{"convert", "-to", "csv", "-o", filepath.Join(text, "out"), spans}},
		{nil, []string{"html", "-o", filepath.Join(text, "out"), spans}},
		{nil, []string{"send", "-endpoint", "http://127.0.0.1:1", "-retry-for", "1ns", spans}},
		{nil, []string{"send", "-endpoint", "http://127.0.0.1:1", "-protocol", "grpc", "-retry-for", "1ns", spans}},
		{nil, []string{"send", "-endpoint", "http://127.0.0.1:1", "-protocol", "carrier-pigeon", spans}},
		{nil, []string{"send", "-endpoint", "http://127.0.0.1:1", "-resume", text, spans}},
		{env.Map{"OTEL_EXPORTER_OTLP_CERTIFICATE": text}, []string{"send", "-endpoint", "https://127.0.0.1:1", spans}},
		{env.Map{"OTEL_EXPORTER_OTLP_CERTIFICATE": text + "x"}, []string{"send", "-endpoint", "https://127.0.0.1:1", spans}},
	} {
		if c.vars == nil {
			c.vars = env.Map{}
		}
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), c.args, strings.NewReader(""), &stdout, &stderr, c.vars)
		if found := name.FindString(stderr.String()); found != "" || stderr.Len() == 0 || status == 0 && c.args[1] != empty {
			t.Errorf("%q: status %d, %q in stderr %q", c.args, status, found, &stderr)
		}
	}
}
