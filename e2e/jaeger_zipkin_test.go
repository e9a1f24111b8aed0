//go:build jaeger

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readSpan is a span in the JSON of waymark tree.
type readSpan struct {
	TraceID    string         `json:"trace_id"`
	SpanID     string         `json:"span_id"`
	ParentID   string         `json:"parent_id"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Service    string         `json:"service"`
	Scope      string         `json:"scope"`
	Start      uint64         `json:"start_unix_nano,string"`
	End        uint64         `json:"end_unix_nano,string"`
	Status     string         `json:"status"`
	Message    string         `json:"status_message"`
	Attributes map[string]any `json:"attributes"`
	Events     []struct {
		Name       string         `json:"name"`
		Time       uint64         `json:"time_unix_nano,string"`
		Attributes map[string]any `json:"attributes"`
	} `json:"events"`
}

// waymark runs the command and returns what it prints.
func waymark(t *testing.T, program string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("waymark %q: %v\n%s", args, err, &log)
	}
	return out.String(), log.String()
}

// readTree reads a file of any format by the command, by span id.
func readTree(t *testing.T, program, file, traceID string) map[string]readSpan {
	t.Helper()
	text, _ := waymark(t, program, "tree", "-json", "-trace", traceID, file)
	var doc struct{ Traces []struct{ Spans []readSpan } }
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil || len(doc.Traces) != 1 {
		t.Fatalf("%s: %d traces, %v", file, len(doc.Traces), err)
	}
	spans := map[string]readSpan{}
	for _, s := range doc.Traces[0].Spans {
		spans[s.SpanID] = s
	}
	return spans
}

// reported are the losses that convert has printed: what became of which key.
func reported(t *testing.T, stderr string) map[string][]string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^waymark:   (.*) \(\d+ times?, first in span .*\): (.*)$`)
	losses := map[string][]string{}
	for _, m := range line.FindAllStringSubmatch(stderr, -1) {
		for key := range strings.SplitSeq(m[2], ", ") {
			losses[key] = append(losses[key], m[1])
		}
	}
	if got, want := len(line.FindAllString(stderr, -1)), strings.Count(stderr, "\n")-1; got != want || got == 0 {
		t.Fatalf("%d of %d lines are losses:\n%s", got, want, stderr)
	}
	return losses
}

// Our file as Zipkin's JSON goes through Jaeger's Zipkin intake and comes back
// from its query API as Jaeger's JSON. What is different then is what convert has
// said.
func TestJaegerTakesZipkin(t *testing.T) {
	program, err := build("..", "./cmd/waymark")
	if err != nil {
		t.Fatal(err)
	}
	j := startJaeger(t)
	s := startServer(t, nil)
	traceIDs := []string{journey(t, s), call(t, s, "/kinds")}
	s.stop(t)
	file := filepath.Join(s.files, "spans.jsonl")
	zipkin := filepath.Join(t.TempDir(), "zipkin.json")
	_, stderr := waymark(t, program, "convert", "-to", "zipkin", "-o", zipkin, file)
	losses := reported(t, stderr)
	document, err := os.ReadFile(zipkin)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := fetch(t, "http://"+j.zipkin+"/api/v2/spans", document); status != http.StatusAccepted {
		t.Fatalf("Jaeger says %d to Zipkin's JSON: %s", status, body)
	}
	used := map[string]bool{}
	for i, id := range traceIDs {
		want := readTree(t, program, file, id)
		j.trace(t, id, len(want))
		status, body := fetch(t, "http://"+j.query+"/api/traces/"+id+"?raw=true", nil)
		if status != http.StatusOK {
			t.Fatalf("the query API says %d: %s", status, body)
		}
		back := filepath.Join(t.TempDir(), "jaeger.json")
		if err := os.WriteFile(back, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		got := readTree(t, program, back, id)
		if len(got) != len(want) || len(want) != []int{4, 6}[i] {
			t.Errorf("%d spans came back, want %d", len(got), len(want))
		}
		c := comparison{t: t, losses: losses, used: used}
		for spanID, w := range want {
			g, ok := got[spanID]
			if !ok {
				t.Errorf("span %s %q did not come back", spanID, w.Name)
				continue
			}
			c.span(g, w)
		}
	}
	for key, whats := range losses {
		if !used[key] && !strings.HasPrefix(key, "resource.") && !notInTree(key) {
			t.Errorf("the loss of %s (%q) was reported and is none", key, whats)
		}
	}
}

// notInTree are the fields that the JSON of tree lacks, so that the test does not
// see their loss.
func notInTree(key string) bool {
	return key == "flags" || key == "droppedAttributesCount" || key == "links" || strings.HasPrefix(key, "scope.")
}

// comparison compares spans, and notes which reported losses it has met.
type comparison struct {
	t      *testing.T
	losses map[string][]string
	used   map[string]bool
}

// lost says whether the loss of a key was reported so.
func (c *comparison) lost(key, what string) bool {
	if !slices.ContainsFunc(c.losses[key], func(s string) bool { return strings.HasPrefix(s, what) }) {
		return false
	}
	c.used[key] = true
	return true
}

func (c *comparison) same(what string, got, want any) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// micros compares a time that may have been cut to microseconds.
func (c *comparison) micros(what, key string, got, want uint64) {
	c.t.Helper()
	if want%1000 != 0 {
		c.same("report of "+key, c.lost(key, "cut to microseconds") || c.lost(key, "set to one microsecond after the start"), true)
	}
	c.same(what+" at microseconds", got, want/1000*1000)
}

func (c *comparison) span(got, want readSpan) {
	c.t.Helper()
	name := fmt.Sprintf("span %q: ", want.Name)
	c.same(name+"name", got.Name, want.Name)
	c.same(name+"trace", got.TraceID, want.TraceID)
	c.same(name+"parent", got.ParentID, want.ParentID)
	c.same(name+"kind", got.Kind, want.Kind)
	c.same(name+"service", got.Service, want.Service)
	c.same(name+"scope", got.Scope, want.Scope)
	if want.Status == "ok" {
		// The receiver looks for "Ok" where the specification says OK:
		// https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk_exporters/zipkin.md#status
		want.Status = "unset"
	}
	c.same(name+"status", got.Status, want.Status)
	c.same(name+"status message", got.Message, want.Message)
	c.micros(name+"start", "startTimeUnixNano", got.Start, want.Start)
	c.micros(name+"end", "endTimeUnixNano", got.End, want.End)
	c.attributes(name, got.Attributes, want.Attributes)
	c.same(name+"events", len(got.Events), len(want.Events))
	for i := range min(len(got.Events), len(want.Events)) {
		g, w := got.Events[i], want.Events[i]
		c.same(name+"event", g.Name, w.Name)
		c.micros(name+"event", "events.timeUnixNano", g.Time, w.Time)
		for key := range w.Attributes {
			c.same(name+"report of attribute "+key+" of an event", c.lost("events.attributes."+key, "left out"), true)
		}
		c.same(name+"attributes of an event", len(g.Attributes), 0)
	}
}

// attributes come back as strings, with those of the resource among them.
func (c *comparison) attributes(name string, got, want map[string]any) {
	c.t.Helper()
	port := c.peer(name, got, want)
	rest := maps.Clone(got)
	for key, w := range want {
		g, ok := got[key].(string)
		delete(rest, key)
		if !ok {
			c.t.Errorf("%sattribute %q is %v, want a string", name, key, got[key])
			continue
		}
		if w, isText := w.(string); isText && w == g {
			// Bytes, and numbers that JSON lacks, are text in the JSON of tree too.
			_ = c.lost("attributes."+key, "bytes written") || c.lost("attributes."+key, "double written")
			continue
		}
		said := c.lost("attributes."+key, kindOf(w)+" written as string") || key == port ||
			kindOf(w) == "int" && c.lost("attributes."+key, "double written as string") // 3.0 is 3 in JSON
		c.same(name+"report of attribute "+key, said, true)
		c.same(name+"attribute "+key, meaning(g), meaning(asText(w)))
	}
	for key := range rest {
		c.same(name+"attribute "+key+", which is new, is the resource's", c.lost("resource.attributes."+key, "written as tag"), true)
	}
}

// peer compares the endpoint of the peer, of which the receiver makes attributes
// with names of old. It returns the attribute whose number is there.
func (c *comparison) peer(name string, got, want map[string]any) (port string) {
	c.t.Helper()
	const address, old, oldPort = "network.peer.address", "net.peer.ip", "net.peer.port"
	port = "network.peer.port"
	for now, before := range map[string]string{address: old, port: oldPort} {
		if w, ok := want[now]; ok {
			c.same(name+"attribute "+before, got[before], w)
		}
		delete(got, before)
	}
	return port
}

// kindOf is how a kind of value begins in the report.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "empty value"
	case bool:
		return "bool"
	case json.Number:
		return map[bool]string{true: "int", false: "double"}[regexp.MustCompile(`^-?\d+$`).MatchString(v.String())]
	case []any:
		return "array"
	case map[string]any:
		return "map"
	default:
		return "double" // NaN and the infinities are text in JSON
	}
}

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil || v == nil {
		return ""
	}
	return string(b)
}

// meaning makes two spellings of one number or list equal.
func meaning(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(i, 10)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strings.NewReplacer(`"+Inf"`, `"Infinity"`, `"-Inf"`, `"-Infinity"`).Replace(text)
}
