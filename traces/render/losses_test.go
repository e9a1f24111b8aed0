package render_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// richSet is a span with everything, a second one of the same resource and scope,
// and one without a time.
func richSet() *traces.Set {
	resource := &traces.Resource{
		SchemaURL: "https://example.test/r", DroppedAttributes: 1,
		Attributes: []traces.Attribute{attr("service.name", traces.String("shop")), attr("host.name", traces.String("h"))},
	}
	scope := &traces.Scope{Name: "lib", Version: "1", SchemaURL: "https://example.test/s", DroppedAttributes: 1, Attributes: []traces.Attribute{attr("rank", traces.Int(1))}}
	rich := &traces.Span{
		TraceID: traces.TraceID{1}, SpanID: traces.SpanID{1}, ParentID: traces.SpanID{9}, Name: "rich", Kind: traces.KindServer,
		StartUnixNano: 1000, EndUnixNano: 3000, TraceState: "a=b", Flags: 0x101, Status: traces.Status{Code: traces.StatusOK},
		DroppedAttributes: 1, DroppedEvents: 1, DroppedLinks: 1, Resource: resource, Scope: scope,
		Attributes: []traces.Attribute{
			attr("plain", traces.String("x")), attr("n", traces.Double(math.NaN())), attr("otel.kind", traces.String("mine")),
			attr("plain", traces.String("y")), attr("b", traces.Bytes([]byte{1})), attr("list", traces.Array(traces.Map())),
		},
		Events: []traces.Event{{Name: "e", DroppedAttributes: 1, Attributes: []traces.Attribute{attr("m", traces.Map())}}},
		Links:  []traces.Link{{TraceID: traces.TraceID{2}, SpanID: traces.SpanID{2}}},
	}
	plain := &traces.Span{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Name: "plain", StartUnixNano: 3000, EndUnixNano: 2000, Resource: resource, Scope: scope}
	return traces.NewSet([]*traces.Span{rich, plain, {TraceID: traces.TraceID{1}, SpanID: traces.SpanID{3}, Name: "untimed"}})
}

func lossLines(t *testing.T, seq func(func(render.Loss) bool)) string {
	t.Helper()
	var b strings.Builder
	for l := range seq {
		if l.TraceID != (traces.TraceID{1}) {
			t.Errorf("loss of trace %s", l.TraceID)
		}
		b.WriteString(l.SpanID.String()[:2] + " " + l.Key + ": " + l.What + "\n")
	}
	return b.String()
}

const untimed = "03 span: left out: it has no time\n" // the earliest

const lostOfBoth = `01 resource.attributes.host.name: left out
01 resource.schemaUrl: left out
01 resource.droppedAttributesCount: left out
`

const lostOfScope = `01 scope.version: left out
01 scope.schemaUrl: left out
01 scope.attributes.rank: left out
01 scope.droppedAttributesCount: left out
01 links: left out
01 flags: left out
01 traceState: left out
01 droppedAttributesCount: left out
01 droppedEventsCount: left out
01 droppedLinksCount: left out
`

func TestChromeLosses(t *testing.T) {
	t.Parallel()
	want := untimed + lostOfBoth + lostOfScope + `01 status: left out
01 attributes.n: double written as string
01 attributes.otel.kind: key has a meaning of its own in this format
01 attributes.plain: key twice in an object
01 attributes.b: bytes written as string
01 attributes.list: map written as string
01 events.timeUnixNano: set to the span's start
01 events.droppedAttributesCount: left out
01 events.attributes.m: map written as string
02 endTimeUnixNano: before the start, drawn as an instant
`
	if diff := cmp.Diff(want, lossLines(t, render.ChromeLosses(richSet()))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for range render.ChromeLosses(richSet()) {
		break // may be left early
	}
}

func TestSpeedscopeLosses(t *testing.T) {
	t.Parallel()
	want := untimed + `01 ids: left out
01 kind: left out
01 status: left out
` + lostOfBoth + "01 scope.name: left out\n" + lostOfScope + `01 attributes.plain: left out
01 attributes.n: left out
01 attributes.otel.kind: left out
01 attributes.plain: left out
01 attributes.b: left out
01 attributes.list: left out
01 events: left out
02 span: left out: it has no length
`
	if diff := cmp.Diff(want, lossLines(t, render.SpeedscopeLosses(richSet()))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestChromeHoldsTheRest reads the trace back: what is not among the losses is there.
func TestChromeHoldsTheRest(t *testing.T) {
	t.Parallel()
	var doc struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			Args          map[string]any
		}
	}
	if err := json.Unmarshal([]byte(render.ChromeTraceString(richSet())), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.TraceEvents {
		if e.Name != "rich" || e.Ph != "X" {
			continue
		}
		want := map[string]any{
			"plain": "y", "n": "NaN", "b": "b'\\x01'", "list": []any{"{}"}, "otel.kind": "server", "otel.scope.name": "lib",
			"otel.trace_id": traces.TraceID{1}.String(), "otel.span_id": traces.SpanID{1}.String(), "otel.parent_span_id": traces.SpanID{9}.String(),
		}
		if diff := cmp.Diff(want, e.Args); diff != "" || e.Cat != "lib" {
			t.Errorf("category %q; args -want +got\n%s", e.Cat, diff)
		}
		return
	}
	t.Error("the span is not there")
}
