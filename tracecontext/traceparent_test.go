package tracecontext_test

import (
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

const (
	traceID  = "0af7651916cd43dd8448eb211c80319c"
	parentID = "b7ad6b7169203331"
	ids      = traceID + "-" + parentID
	parent   = "00-" + ids + "-01"
)

// extract reads HTTP headers, given as "name: value" lines.
func extract(t *testing.T, lines ...string) (trace.SpanContext, http.Header) {
	t.Helper()
	in := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		in.Add(name, value)
	}
	p := tracecontext.New()
	ctx := p.Extract(t.Context(), propagation.HeaderCarrier(in))
	out := http.Header{}
	p.Inject(ctx, propagation.HeaderCarrier(out))
	return trace.SpanContextFromContext(ctx), out
}

func TestTraceparent(t *testing.T) {
	t.Parallel()
	const none = ""
	tests := []struct {
		section, name, in, want string // want: what is sent on; "" is rejected
	}{
		{"version", "version 00", parent, parent},
		{"version", "ff is forbidden", "ff-" + ids + "-01", none},
		{"version", "ff is forbidden also when longer", "ff-" + ids + "-01-more", none},
		{"version", "not hex", ".0-" + ids + "-01", none},
		{"version", "not hex in the second place", "0.-" + ids + "-01", none},
		{"version", "upper case", "CC-" + ids + "-01", none},
		{"version", "three characters", "000-" + ids + "-01", none},
		{"version", "one character", "0-" + ids + "-01", none},
		{"version", "missing", ids + "-01", none},
		{"version-format", "no flags", "00-" + ids, none},
		{"version-format", "no flags but a dash", "00-" + ids + "-", none},
		{"version-format", "empty", "", none},
		{"version-format", "blank", " \t", none},
		{"version-format", "underscores", strings.ReplaceAll(parent, "-", "_"), none},
		{"version-format", "trailing dash", parent + "-", none},
		{"version-format", "trailing character", parent + ".", none},
		{"version-format", "trailing field", parent + "-what-the-future-will-be-like", none},
		{"version-format", "white space around the field value", "\t " + parent + " \t", parent},
		{"version-format", "two values in one field", parent + "," + parent, none},
		{"trace-id", "all zero", "00-" + strings.Repeat("0", 32) + "-" + parentID + "-01", none},
		{"trace-id", "the first half zero", "00-0000000000000000" + traceID[16:] + "-" + parentID + "-01", "00-0000000000000000" + traceID[16:] + "-" + parentID + "-01"},
		{"trace-id", "the second half zero", "00-" + traceID[:16] + "0000000000000000-" + parentID + "-01", "00-" + traceID[:16] + "0000000000000000-" + parentID + "-01"},
		{"trace-id", "upper case", "00-" + strings.ToUpper(traceID) + "-" + parentID + "-01", none},
		{"trace-id", "not hex", "00-." + traceID[1:] + "-" + parentID + "-01", none},
		{"trace-id", "not hex at the end", "00-" + traceID[:31] + "g-" + parentID + "-01", none},
		{"trace-id", "too long", "00-" + traceID + "0-" + parentID + "-01", none},
		{"trace-id", "too short", "00-" + traceID[1:] + "-" + parentID + "-01", none},
		{"parent-id", "all zero", "00-" + traceID + "-0000000000000000-01", none},
		{"parent-id", "upper case", "00-" + traceID + "-" + strings.ToUpper(parentID) + "-01", none},
		{"parent-id", "not hex", "00-" + traceID + "-" + parentID[:15] + ".-01", none},
		{"parent-id", "too long", "00-" + traceID + "-" + parentID + "0-01", none},
		{"parent-id", "too short", "00-" + traceID + "-" + parentID[1:] + "-01", none},
		{"trace-flags", "not hex", "00-" + ids + "-.0", none},
		{"trace-flags", "not hex in the second place", "00-" + ids + "-0.", none},
		{"trace-flags", "upper case", "00-" + ids + "-0A", none},
		{"trace-flags", "three characters", "00-" + ids + "-001", none},
		{"trace-flags", "one character", "00-" + ids + "-1", none},
		{"sampled-flag", "not sampled", "00-" + ids + "-00", "00-" + ids + "-00"},
		{"sampled-flag", "sampled", "00-" + ids + "-01", "00-" + ids + "-01"},
		{"random-trace-id-flag", "random", "00-" + ids + "-02", "00-" + ids + "-02"},
		{"random-trace-id-flag", "random and sampled", "00-" + ids + "-03", "00-" + ids + "-03"},
		{"other-flags", "undefined bits are ignored and set to zero", "00-" + ids + "-09", "00-" + ids + "-01"},
		{"other-flags", "all bits", "00-" + ids + "-ff", "00-" + ids + "-03"},
		{"other-flags", "undefined bits alone", "00-" + ids + "-fc", "00-" + ids + "-00"},
		{"versioning-of-traceparent", "higher version, same length", "cc-" + ids + "-01", parent},
		{"versioning-of-traceparent", "next version", "01-" + ids + "-01", parent},
		{"versioning-of-traceparent", "highest version", "fe-" + ids + "-00", "00-" + ids + "-00"},
		{"versioning-of-traceparent", "more after a dash", "cc-" + ids + "-01-what-the-future-will-be-like", parent},
		{"versioning-of-traceparent", "a dash alone", "cc-" + ids + "-01-", parent},
		{"versioning-of-traceparent", "more without a dash", "cc-" + ids + "-01.what-the-future-will-be-like", none},
		{"versioning-of-traceparent", "flags followed by hex", "cc-" + ids + "-012", none},
		{"versioning-of-traceparent", "shorter than 55", "cc-" + ids + "-1", none},
		{"versioning-of-traceparent", "unknown flags of a higher version", "cc-" + ids + "-ff", "00-" + ids + "-03"},
		{"versioning-of-traceparent", "all-zero trace-id", "cc-" + strings.Repeat("0", 32) + "-" + parentID + "-01", none},
		{"versioning-of-traceparent", "no dash after the trace-id", "cc-" + traceID + "." + parentID + "-01", none},
	}
	for _, tt := range tests {
		t.Run(tt.section+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			sc, out := extract(t, "traceparent: "+tt.in, "tracestate: a=1")
			if got := out.Get("traceparent"); got != tt.want {
				t.Errorf("https://www.w3.org/TR/trace-context-2/#%s: traceparent %q is sent on as %q, want %q", tt.section, tt.in, got, tt.want)
			}
			if got, want := sc.IsRemote(), tt.want != none; got != want {
				t.Errorf("IsRemote() = %v, want %v", got, want)
			}
			// "If the vendor failed to parse traceparent, it MUST NOT attempt to parse tracestate."
			if got, want := out.Get("tracestate"), map[bool]string{true: "a=1"}[tt.want != none]; got != want {
				t.Errorf("tracestate is sent on as %q, want %q", got, want)
			}
		})
	}
}

// Spec: https://www.w3.org/TR/trace-context-2/#a-traceparent-is-received
func TestMoreThanOneTraceparent(t *testing.T) {
	t.Parallel()
	for _, second := range []string{parent, "00-" + parentID + traceID[16:] + "-" + parentID + "-01", "", "nonsense"} {
		if sc, _ := extract(t, "traceparent: "+parent, "traceparent: "+second); sc.IsValid() {
			t.Errorf("traceparent %q and %q: got %v, want none", parent, second, sc)
		}
	}
}

func TestNoTraceparent(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{nil, {"tracestate: a=1"}, {"trace-parent: " + parent}, {"trace.parent: " + parent}} {
		sc, out := extract(t, lines...)
		if sc.IsValid() || len(out) != 0 {
			t.Errorf("headers %q: got %v and %v, want nothing", lines, sc, out)
		}
	}
}

// Spec: https://www.w3.org/TR/trace-context-2/#header-name
func TestHeaderNamesInAnyCase(t *testing.T) {
	t.Parallel()
	p := tracecontext.New()
	for _, names := range [][2]string{{"traceparent", "tracestate"}, {"TraceParent", "TraceState"}, {"TRACEPARENT", "TRACESTATE"}, {"TrAcEpArEnT", "TrAcEsTaTe"}} {
		sc, _ := extract(t, names[0]+": "+parent, names[1]+": a=1")
		if got := sc.TraceID().String() + sc.TraceState().String(); got != traceID+"a=1" {
			t.Errorf("http.Header with %v: got %v", names, got)
		}
		m := propagation.MapCarrier{names[0]: parent, names[1]: "a=1", "other": "x"}
		sc = trace.SpanContextFromContext(p.Extract(t.Context(), m))
		if got := sc.TraceID().String() + sc.TraceState().String(); got != traceID+"a=1" {
			t.Errorf("MapCarrier with %v: got %v", names, got)
		}
	}
	m := propagation.MapCarrier{"Traceparent": parent, "TRACEPARENT": parent}
	if sc := trace.SpanContextFromContext(p.Extract(t.Context(), m)); sc.IsValid() {
		t.Errorf("MapCarrier with two spellings: got %v, want none", sc)
	}
}

// getOnly is a carrier that knows nothing but the interface.
type getOnly map[string]string

func (c getOnly) Get(key string) string { return c[key] }
func (c getOnly) Set(key, value string) { c[key] = value }
func (c getOnly) Keys() []string        { return nil }

// multi is a carrier of another package with several values for a key.
type multi struct{ http.Header }

func (c multi) Keys() []string { return nil }

func TestCarriers(t *testing.T) {
	t.Parallel()
	p := tracecontext.New()
	h := http.Header{"Traceparent": {parent}, "Tracestate": {"a=1", "b=2"}}
	carriers := map[string]propagation.TextMapCarrier{
		"getOnly":       getOnly{"traceparent": parent, "tracestate": "a=1,b=2"},
		"MapCarrier":    propagation.MapCarrier{"traceparent": parent, "tracestate": "a=1,b=2"},
		"HeaderCarrier": propagation.HeaderCarrier(h.Clone()),
		"ValuesGetter":  multi{h.Clone()},
	}
	for name, c := range carriers {
		ctx := p.Extract(t.Context(), c)
		if got := trace.SpanContextFromContext(ctx).TraceState().String(); got != "a=1,b=2" {
			t.Errorf("%s: tracestate %q, want a=1,b=2", name, got)
		}
		// What is there from another parent does not stay.
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
		p.Inject(trace.ContextWithSpanContext(t.Context(), sc), c)
		if got, want := c.Get("traceparent"), "00-01000000000000000000000000000000-0200000000000000-00"; got != want {
			t.Errorf("%s: Inject wrote traceparent %q, want %q", name, got, want)
		}
		if got := c.Get("tracestate"); got != "" {
			t.Errorf("%s: Inject left tracestate %q of another trace", name, got)
		}
		p.Inject(ctx, c)
		if got := c.Get("tracestate"); got != "a=1,b=2" {
			t.Errorf("%s: Inject wrote tracestate %q, want a=1,b=2", name, got)
		}
	}
}

func TestNothingToWriteOn(t *testing.T) {
	t.Parallel()
	p := tracecontext.New()
	ctx := p.Extract(t.Context(), propagation.MapCarrier{"traceparent": parent, "tracestate": "1=1"})
	for _, c := range []propagation.TextMapCarrier{nil, propagation.HeaderCarrier(nil), propagation.MapCarrier(nil)} {
		p.Inject(ctx, c)
		if got := p.Extract(ctx, c); got != ctx {
			t.Errorf("Extract from %T without a map changed the context", c)
		}
	}
	// Without a span, headers that are there pass.
	h := propagation.HeaderCarrier{"Traceparent": {parent}, "Tracestate": {"a=1"}}
	p.Inject(t.Context(), h)
	if h.Get("traceparent") != parent || h.Get("tracestate") != "a=1" {
		t.Errorf("Inject without a span changed the headers to %v", h)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	if got := strings.Join(tracecontext.New().Fields(), " "); got != "traceparent tracestate" {
		t.Errorf("Fields() = %q", got)
	}
}
