package tracefile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// TestZipkinWritesBack reads Zipkin's spans and writes them: what a source says of
// itself is where it was.
func TestZipkinWritesBack(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	ids := func(more object) object {
		more["traceId"], more["id"] = "0000000000000000000000000000000a", "000000000000000b"
		more["timestamp"], more["duration"] = 1_700_000_000_000_000.0, 20.0
		return more
	}
	for name, want := range map[string]object{
		"shared and debug": ids(object{"kind": "SERVER", "shared": true, "debug": true}),
		"endpoints": ids(object{
			"kind":           "CLIENT",
			"localEndpoint":  object{"serviceName": "web", "ipv4": "10.0.0.1", "port": 8080.0},
			"remoteEndpoint": object{"serviceName": "api", "ipv6": "::1", "port": 9000.0},
		}),
		"a port alone":      ids(object{"kind": "CLIENT", "remoteEndpoint": object{"port": 9000.0}}),
		"an address alone":  ids(object{"kind": "CLIENT", "localEndpoint": object{"ipv6": "fe80::1"}}),
		"a service alone":   ids(object{"kind": "CLIENT", "remoteEndpoint": object{"serviceName": "mysql"}}),
		"no more than this": ids(object{"kind": "PRODUCER"}),
	} {
		text, err := json.Marshal([]object{want})
		if err != nil {
			t.Fatal(err)
		}
		spans, report := read(t, text)
		data, losses := written(t, tracefile.Zipkin, spans)
		if losses.Total != 0 || report.Total != 0 {
			t.Errorf("%s: skipped %q, lost %v", name, skipped(report), lossText(losses))
		}
		again, _ := read(t, data)
		if d := diff(spans, again); d != "" {
			t.Errorf("%s: read back (-want +got):\n%s", name, d)
		}
		var got []object
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, data)
		}
		// What an endpoint holds are tags too, by which Zipkin finds spans.
		tags, _ := got[0]["tags"].(object)
		for key := range tags {
			if !slices.Contains([]string{
				"peer.service", "network.peer.address", "network.peer.port", "network.local.address", "network.local.port",
			}, key) {
				t.Errorf("%s: tag %s", name, key)
			}
		}
		delete(got[0], "tags")
		if d := cmp.Diff([]object{want}, got); d != "" {
			t.Errorf("%s: written (-want +got):\n%s", name, d)
		}
	}
}

// TestZipkinEndpointsOfOTLP writes what an endpoint can hold, and no more.
func TestZipkinEndpointsOfOTLP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		attributes []traces.Attribute
		written    string // "" when there is no endpoint
		lost       []string
	}{
		{
			"peer",
			[]traces.Attribute{str("network.peer.address", "10.0.0.7"), kv("network.peer.port", traces.Int(443))},
			`"remoteEndpoint":{"ipv4":"10.0.0.7","port":443}`, nil,
		},
		{"socket", []traces.Attribute{str("network.peer.address", "/run/shop.sock")}, "", nil},
		{"zone", []traces.Attribute{str("network.peer.address", "fe80::1%eth0")}, "", nil},
		{"no port", []traces.Attribute{kv("network.peer.port", traces.Int(0))}, "", []string{"attributes.network.peer.port: int written as string"}},
		{"no such port", []traces.Attribute{kv("network.local.port", traces.Int(1<<16))}, "", []string{"attributes.network.local.port: int written as string"}},
		{"port as text", []traces.Attribute{str("network.peer.port", "443")}, "", nil},
		{"not shared", []traces.Attribute{kv("zipkin.shared", traces.Bool(false))}, "", []string{"attributes.zipkin.shared: bool written as string"}},
	} {
		sp := &traces.Span{
			TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Kind: traces.KindServer, StartUnixNano: 1000, EndUnixNano: 2000,
			Attributes: tt.attributes, Resource: &traces.Resource{}, Scope: &traces.Scope{},
		}
		data, losses := written(t, tracefile.Zipkin, []*traces.Span{sp})
		if got := strings.Contains(string(data), "Endpoint"); got != (tt.written != "") || !strings.Contains(string(data), tt.written) {
			t.Errorf("%s: wrote %s", tt.name, data)
		}
		if d := cmp.Diff(tt.lost, lossText(losses)); d != "" {
			t.Errorf("%s: losses (-want +got):\n%s", tt.name, d)
		}
		if back, _ := read(t, data); tt.lost == nil {
			if d := diff([]*traces.Span{sp}, back); d != "" {
				t.Errorf("%s: read back (-want +got):\n%s", tt.name, d)
			}
		}
	}
}

// TestZipkinTells of what it has no place for.
func TestZipkinTells(t *testing.T) {
	t.Parallel()
	got, report := read(t, []byte(`[{"traceId":"a","id":"b","duration":5,"remoteEndpoint":{"ipv4":"10.0.0.1","ipv6":"::1"}},`+
		`{"traceId":"a","id":"c","timestamp":18446744073709551,"duration":18446744073709551}]`))
	const said = "-:1: second address of an endpoint\n-:1: duration of a span without a start\n"
	if s := skipped(report); s != said {
		t.Errorf("skipped\n%swant\n%s", s, said)
	}
	if a, _ := got[0].Attr("network.peer.address"); a.AsString() != "10.0.0.1" || !got[0].Open() {
		t.Errorf("span %+v", got[0])
	}
	if got[1].Duration() < 0 {
		t.Errorf("a duration past the end of time is %v", got[1].Duration())
	}
	data, losses := written(t, tracefile.Zipkin, []*traces.Span{{TraceID: traces.TraceID{1}, SpanID: traces.SpanID{2}, Kind: traces.KindServer, EndUnixNano: 5000}})
	if d := cmp.Diff([]string{"endTimeUnixNano: left out: there is no start"}, lossText(losses)); d != "" || strings.Contains(string(data), "duration") {
		t.Errorf("wrote %s, losses (-want +got):\n%s", data, d)
	}
}

// TestErrorTag takes a tag for a failed span unless it says that there is no error.
func TestErrorTag(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{`"true"`: true, `"boom"`: true, `""`: false, `"false"`: false} {
		got, _ := read(t, []byte(`[{"traceId":"a","id":"b","tags":{"error":`+value+`}}]`))
		if kept, _ := got[0].Attr("error"); got[0].Failed() != want || (kept.AsString() == "") != (value == `"true"` || value == `""`) {
			t.Errorf("error=%s: failed %v, attributes %v", value, got[0].Failed(), got[0].Attributes)
		}
	}
}

// TestZipkinHalves is the tree of a call whose halves share an ID, as a file has
// them in any order.
func TestZipkinHalves(t *testing.T) {
	t.Parallel()
	halves := []string{
		`{"traceId":"a","id":"b","kind":"CLIENT","timestamp":10,"duration":50,"localEndpoint":{"serviceName":"web"}}`,
		`{"traceId":"a","id":"b","kind":"SERVER","timestamp":20,"duration":30,"localEndpoint":{"serviceName":"api"},"shared":true}`,
		`{"traceId":"a","id":"c","parentId":"b","name":"query","timestamp":25,"duration":5,"localEndpoint":{"serviceName":"api"}}`,
	}
	for range halves {
		halves = append(halves[1:], halves[0])
		spans, _ := read(t, []byte("["+strings.Join(halves, ",")+"]"))
		set := traces.NewSet(spans)
		n := set.Find(spans[0].TraceID, traces.SpanID{7: 0xc})
		if p := n.Parent(); p == nil || p.Span().Service() != "api" || p.Parent() == nil || p.Parent().Span().Service() != "web" {
			t.Errorf("%q: the query is not below the server below the client", halves)
		}
		for n := range set.All() {
			if n.Is(traces.Duplicate | traces.Orphan) {
				t.Errorf("%q: %s is marked", halves, n.Span().Name)
			}
		}
	}
}
