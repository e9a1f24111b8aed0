package bootstrap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
)

// names returns the names of the spans in a file of OTLP/JSON lines, and its
// text.
func names(t *testing.T, data []byte) []string {
	t.Helper()
	var found []string
	for line := range bytes.Lines(data) {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ Name string }
				}
			}
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		for _, rs := range doc.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					found = append(found, s.Name)
				}
			}
		}
	}
	return found
}

func TestFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	tracing, _ := start(t, env.Map{"XDG_STATE_HOME": home})
	path := filepath.Join(home, "shop", "traces", "spans.jsonl")
	if got := tracing.Destination(); got != path {
		t.Errorf("Destination: %s, want %s", got, path)
	}
	makeSpans(t, tracing.TracerProvider(), 10)
	if err := shutdown(t, tracing); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(names(t, data)); n != 10 {
		t.Errorf("%d spans in the file, want 10", n)
	}
	if d := tracing.Report().Destinations[0]; d.Name != "file" || d.Exported != 10 || d.Target != path {
		t.Errorf("account: %+v", d)
	}
	balance(t, tracing.Report())
}

// The mask is applied once on the way to the file: also a mask that is not the
// same twice.
func TestMaskInFrontOfTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	tracing, _ := start(t, env.Map{"SHOP_TRACES_FILE": path, "OTEL_RESOURCE_ATTRIBUTES": "password=hunter2,twice=x"}, func(c *bootstrap.Config) {
		maskPasswords(c)
		first := c.Mask
		c.Mask = func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			if kv.Key == "twice" {
				return attribute.String("twice", kv.Value.AsString()+"+"), true
			}
			return first(kv)
		}
	})
	makeSecretSpan(t, tracing.TracerProvider())
	_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "y", trace.WithAttributes(attribute.String("twice", "x")))
	span.End()
	if err := shutdown(t, tracing); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, secret := range []string{"hunter2", "visa-4242", "password", "boom"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the file: %s", secret, text)
		}
	}
	if !strings.Contains(text, "masked") || !strings.Contains(text, `"x+"`) || strings.Contains(text, "x++") {
		t.Errorf("the mask is not applied once: %s", text)
	}
}

// What is set in the process and cannot be decoded must not come back through
// the SDK, nor must the process's variables when others are given.
func TestLookupRulesOverTheProcess(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "stray=process")
	t.Setenv("OTEL_SERVICE_NAME", "stray")
	_, tr := capturetest.Start(t)
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	tracing, _ := start(t, env.Map{"SHOP_TRACES_FILE": path}, withProcessor(tr.Processor()))
	makeSpans(t, tracing.TracerProvider(), 1)
	if err := shutdown(t, tracing); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if seen := fmt.Sprint(tr.Spans().One().Resource.Attributes) + string(data); strings.Contains(seen, "stray") {
		t.Errorf("the process's variables came in: %s", seen)
	}
}

// A file that cannot be made is one finding; spans are counted as dropped, and
// nothing else happens.
func TestNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(write("target", ""), link); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"the folder is a file": filepath.Join(write("file", "x"), "spans.jsonl"),
		"not ours":             write("notes.txt", "Dear diary\n"),
		"symlink":              link,
		"folder":               dir,
		"no such place":        "/proc/nothing/spans.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracing, out := start(t, env.Map{"SHOP_TRACES_FILE": path})
			makeSpans(t, tracing.TracerProvider(), 3)
			err := shutdown(t, tracing)
			if err == nil || !strings.Contains(err.Error(), "3 spans lost") {
				t.Errorf("Shutdown: %v", err)
			}
			if d := tracing.Report().Destinations[0]; d.Dropped != 3 || d.Ended != 3 || d.Name != "file" {
				t.Errorf("account: %s", d)
			}
			found := out.lines(t, "doubtful configuration")
			if len(found) != 1 || found[0]["variable"] != "SHOP_TRACES_FILE" || found[0]["value"] != path {
				t.Errorf("findings: %v", found)
			}
		})
	}
	if data, err := os.ReadFile(filepath.Join(dir, "notes.txt")); string(data) != "Dear diary\n" {
		t.Errorf("a file that is not ours was touched: %q, %v", data, err)
	}
}

// A container without HOME.
func TestNoHome(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"HOME=", "HOME=/"} {
		_, stderr := newChild(t, "spans", "SPANS=4", home).run(t)
		if strings.Count(stderr, "doubtful configuration") != 1 || !strings.Contains(stderr, "SHOP_TRACES_FILE") || !strings.Contains(stderr, "OTEL_EXPORTER_OTLP_ENDPOINT") {
			t.Errorf("%s: want one finding that says what to set:\n%s", home, stderr)
		}
		if !strings.Contains(stderr, "REPORT file: 4 ended, 0 exported, 4 lost, 4 dropped") {
			t.Errorf("%s: the account:\n%s", home, stderr)
		}
	}
}

func TestStandardOutput(t *testing.T) {
	t.Parallel()
	t.Run("otlp/stdout", func(t *testing.T) {
		t.Parallel()
		stdout, stderr := newChild(t, "spans", "SPANS=4", "OTEL_TRACES_EXPORTER=otlp/stdout").run(t)
		if n := len(names(t, []byte(stdout))); n != 4 {
			t.Errorf("%d spans, want 4: %s", n, stdout)
		}
		if !strings.Contains(stderr, "REPORT otlp/stdout: 4 ended, 4 exported, 0 lost") {
			t.Errorf("the account:\n%s", stderr)
		}
	})
	t.Run("console", func(t *testing.T) {
		t.Parallel()
		stdout, stderr := newChild(t, "spans", "SPANS=4", "OTEL_TRACES_EXPORTER=console").run(t)
		decoder, n := json.NewDecoder(strings.NewReader(stdout)), 0
		for decoder.More() {
			var span struct{ Name string }
			if err := decoder.Decode(&span); err != nil || span.Name != "work" {
				t.Fatalf("%v: %+v", err, span)
			}
			n++
		}
		if n != 4 || !strings.Contains(stderr, "REPORT console: 4 ended, 4 exported, 0 lost") {
			t.Errorf("%d spans, want 4\n%s", n, stderr)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		stdout, stderr := newChild(t, "spans", "SPANS=4", "OTEL_TRACES_EXPORTER=none").run(t)
		if stdout != "" || !strings.Contains(stderr, "REPORT \n") {
			t.Errorf("stdout %q, stderr %s", stdout, stderr)
		}
	})
	t.Run("list", func(t *testing.T) {
		t.Parallel()
		_, stderr := newChild(t, "spans", "SPANS=4", "OTEL_TRACES_EXPORTER=console, otlp/stdout").run(t)
		for _, want := range []string{"console: 4 ended, 4 exported", "otlp/stdout: 4 ended, 4 exported"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("no %q in:\n%s", want, stderr)
			}
		}
	})
	t.Run("the file prints nothing", func(t *testing.T) {
		t.Parallel()
		stdout, _ := newChild(t, "spans", "SPANS=4").run(t)
		if stdout != "" {
			t.Errorf("printed %q", stdout)
		}
	})
}

// With none there is no destination, and the log says so in a word.
func TestNoDestinationIsLogged(t *testing.T) {
	t.Parallel()
	_, out := start(t, none(), withProcessor(&notingProcessor{}))
	if l := out.lines(t, "tracing started"); len(l) != 1 || l[0]["destination"] != "none" {
		t.Errorf("log %v", l)
	}
}
