package tracefile_test

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// A link may have no IDs when it has attributes: the Collector reads none.
func TestWriteLinkWithoutIDs(t *testing.T) {
	t.Parallel()
	sp := withoutUntagged()
	sp.Links = []traces.Link{{Attributes: []traces.Attribute{str("why", "unknown")}}}
	for format, decoder := range map[tracefile.Format]ptrace.Unmarshaler{
		tracefile.OTLPJSON: &ptrace.JSONUnmarshaler{}, tracefile.OTLPProto: &ptrace.ProtoUnmarshaler{},
	} {
		data, losses := written(t, format, []*traces.Span{sp})
		checkLosses(t, losses, nil)
		td, err := decoder.UnmarshalTraces(data)
		if err != nil {
			t.Fatalf("%v: %v\n%s", format, err, data)
		}
		link := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Links().At(0)
		if !link.TraceID().IsEmpty() || !link.SpanID().IsEmpty() || link.Attributes().Len() != 1 {
			t.Errorf("%v: the Collector reads the IDs %q and %q, %d attributes", format, link.TraceID(), link.SpanID(), link.Attributes().Len())
		}
		got, _ := read(t, data)
		if d := diff([]*traces.Span{sp}, got); d != "" {
			t.Errorf("%v: read back (-want +got):\n%s", format, d)
		}
	}
}
