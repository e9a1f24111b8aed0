package e2e_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// values are attributes: each with its type, so that 1, 1.0 and "1" differ.
type values map[string]any

// span is everything that OTLP says of a span.
type span struct {
	Resource, Scope                           values
	ResourceSchema, ScopeSchema               string
	ScopeName, ScopeVersion                   string
	TraceID, SpanID, ParentID, State          string
	Name                                      string
	Kind, Status                              string
	StatusMessage                             string
	Flags                                     uint32
	Start, End                                uint64
	Attributes                                values
	Events                                    []event
	Links                                     []link
	DroppedAttrs, DroppedEvents, DroppedLinks uint32
}

type event struct {
	Name       string
	Time       uint64
	Attributes values
	Dropped    uint32
}

type link struct {
	TraceID, SpanID, State string
	Flags                  uint32
	Attributes             values
	Dropped                uint32
}

// spanSet has spans by their ids; a span that came twice is there twice.
type spanSet map[string][]span

func (set spanSet) add(traces ptrace.Traces) {
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				key := s.TraceID().String() + "/" + s.SpanID().String()
				set[key] = append(set[key], newSpan(rs, ss, s))
			}
		}
	}
}

// twice is how many spans came more than once.
func (set spanSet) twice() int {
	n := 0
	for _, spans := range set {
		if len(spans) > 1 {
			n++
		}
	}
	return n
}

// named are the spans with the name.
func (set spanSet) named(name string) []span {
	var found []span
	for _, spans := range set {
		if spans[0].Name == name {
			found = append(found, spans[0])
		}
	}
	return found
}

// one is the span with the name, of which there is one.
func (set spanSet) one(t *testing.T, name string) span {
	t.Helper()
	found := set.named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans are named %q, want one; all: %v", len(found), name, set.names())
	}
	return found[0]
}

func (set spanSet) names() []string {
	var names []string
	for _, spans := range set {
		names = append(names, spans[0].Name)
	}
	return names
}

// sameSpans fails unless got has want's spans, each once and equal.
func sameSpans(t *testing.T, got, want spanSet) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d spans, want %d", len(got), len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans differ (-file +collector):\n%.4000s", diff)
	}
}

func newSpan(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, s ptrace.Span) span {
	out := span{
		Resource: newValues(rs.Resource().Attributes()), ResourceSchema: rs.SchemaUrl(),
		Scope: newValues(ss.Scope().Attributes()), ScopeSchema: ss.SchemaUrl(),
		ScopeName: ss.Scope().Name(), ScopeVersion: ss.Scope().Version(),
		TraceID: s.TraceID().String(), SpanID: s.SpanID().String(), ParentID: s.ParentSpanID().String(),
		State: s.TraceState().AsRaw(), Name: s.Name(), Kind: s.Kind().String(), Flags: s.Flags(),
		Status: s.Status().Code().String(), StatusMessage: s.Status().Message(),
		Start: uint64(s.StartTimestamp()), End: uint64(s.EndTimestamp()),
		Attributes:   newValues(s.Attributes()),
		DroppedAttrs: s.DroppedAttributesCount(), DroppedEvents: s.DroppedEventsCount(), DroppedLinks: s.DroppedLinksCount(),
	}
	for _, e := range s.Events().All() {
		out.Events = append(out.Events, event{
			Name: e.Name(), Time: uint64(e.Timestamp()), Attributes: newValues(e.Attributes()), Dropped: e.DroppedAttributesCount(),
		})
	}
	for _, l := range s.Links().All() {
		out.Links = append(out.Links, link{
			TraceID: l.TraceID().String(), SpanID: l.SpanID().String(), State: l.TraceState().AsRaw(), Flags: l.Flags(),
			Attributes: newValues(l.Attributes()), Dropped: l.DroppedAttributesCount(),
		})
	}
	return out
}

func newValues(m pcommon.Map) values {
	out := values{}
	for key, v := range m.All() {
		if _, twice := out[key]; twice {
			key += " (again)"
		}
		out[key] = newValue(v)
	}
	return out
}

// newValue is the value with its type; doubles to the last bit.
func newValue(v pcommon.Value) any {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return "empty"
	case pcommon.ValueTypeStr:
		return "string " + strconv.Quote(v.Str())
	case pcommon.ValueTypeInt:
		return fmt.Sprintf("int %d", v.Int())
	case pcommon.ValueTypeDouble:
		if math.IsNaN(v.Double()) {
			return "double NaN"
		}
		return fmt.Sprintf("double %v %x", v.Double(), math.Float64bits(v.Double()))
	case pcommon.ValueTypeBool:
		return fmt.Sprintf("bool %t", v.Bool())
	case pcommon.ValueTypeBytes:
		return "bytes " + hex.EncodeToString(v.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		out := []any{}
		for _, item := range v.Slice().All() {
			out = append(out, newValue(item))
		}
		return out
	case pcommon.ValueTypeMap:
		return newValues(v.Map())
	}
	return "unknown " + v.Type().String()
}
