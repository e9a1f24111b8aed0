package tracecontext_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

// numbered returns n members, m01=1 to mNN=1.
func numbered(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("m%02d=1", i+1))
	}
	return strings.Join(parts, ",")
}

func TestTracestate(t *testing.T) {
	t.Parallel()
	key := func(n int) string { return strings.Repeat("z", n) }
	var printable []byte
	for c := byte(' '); c <= '~'; c++ {
		if c != ',' && c != '=' {
			printable = append(printable, c)
		}
	}
	allValue := string(printable)
	one := func(s string) []string { return []string{s} }
	same := func(s string) (in []string, want string) { return []string{s}, s }
	type test struct {
		section, name string
		in            []string // one header each
		want          string   // what is sent on
		state         string   // what the span context holds; "=" is the same as want
	}
	var tests []test
	add := func(section, name string, in []string, want, state string) {
		tests = append(tests, test{section, name, in, want, state})
	}
	keep := func(section, name, s, state string) {
		in, want := same(s)
		add(section, name, in, want, state)
	}
	const fv = "tracestate-header-field-values"
	keep(fv, "one member", "a=1", "=")
	keep(fv, "two members", "a=1,b=2", "=")
	add(fv, "several headers in order", []string{"foo=1,bar=2", "rojo=1,congo=2", "baz=3"}, "foo=1,bar=2,rojo=1,congo=2,baz=3", "=")
	add(fv, "empty header", one(""), "", "=")
	add(fv, "empty header after", []string{"foo=1", ""}, "foo=1", "=")
	add(fv, "empty header before", []string{"", "foo=1"}, "foo=1", "=")
	add(fv, "blank header", []string{" \t", "foo=1"}, "foo=1", "=")
	add(fv, "empty members", one(",foo=1,,bar=2,"), "foo=1,bar=2", "=")
	add(fv, "blank members", one(" ,foo=1,\t, bar=2 , "), "foo=1,bar=2", "=")
	add(fv, "only commas", one(",,,"), "", "=")
	add(fv, "spaces around members", one("foo=1 \t , \t bar=2, \t baz=3"), "foo=1,bar=2,baz=3", "=")
	add(fv, "tabs around members", one("foo=1\t \t,\t \tbar=2"), "foo=1,bar=2", "=")
	add(fv, "white space around the list", one("\t foo=1 \t"), "foo=1", "=")
	keep("list", "32 members", numbered(32), "=")
	add("list", "32 members in two headers", []string{numbered(30), "x=1,y=1"}, numbered(30)+",x=1,y=1", "=")
	add("list", "empty members do not count", one(numbered(16)+",,,,"+strings.ReplaceAll(numbered(16), "m", "n")), numbered(16)+","+strings.ReplaceAll(numbered(16), "m", "n"), "=")
	add("list", "33 members", one(numbered(33)), "", "=")
	add("list", "33 members in two headers", []string{numbered(30), "x=1,y=1,z=1"}, "", "=")
	add("list-members", "no equals sign", one("foo"), "", "=")
	add("list-members", "one bad member discards all", one("good=1,foo"), "", "=")
	add("list-members", "one bad member in another header", []string{"good=1", "foo"}, "", "=")
	keep("key", "256 characters", key(256)+"=1", "=")
	keep("key", "256 characters beside another", "foo=1,"+key(256)+"=1", "=")
	add("key", "257 characters", one(key(257)+"=1"), "", "=")
	add("key", "257 characters beside another", one("foo=1,"+key(257)+"=1"), "", "=")
	keep("key", "all characters", "abcdefghijklmnopqrstuvwxyz0123456789_-*/@=1", "")
	keep("key", "tenant and system", "fw529a3039@dt=1", "=")
	keep("key", "begins with a digit", "0x=1,b=2", "b=2")
	keep("key", "at sign at the end", "foo@=1,bar=2", "bar=2")
	keep("key", "two at signs", "foo@@bar=1,bar=2", "bar=2")
	keep("key", "two parts", "foo@bar@baz=1,bar=2", "bar=2")
	keep("key", "system of 15 characters", "t@"+key(15)+"=1,bar=2", "bar=2")
	keep("key", "tenant of 242 characters", key(242)+"@v=1,bar=2", "bar=2")
	keep("key", "system begins with a digit", "t@1=1,bar=2", "bar=2")
	keep("key", "256 characters with an at sign", "a@"+key(254)+"=1", "")
	add("key", "at sign first", one("@foo=1,bar=2"), "", "=")
	add("key", "empty", one("=1,bar=2"), "", "=")
	add("key", "blank before the equals sign", one("foo =1"), "", "=")
	add("key", "upper case", one("FOO=1"), "", "=")
	add("key", "dot", one("foo.bar=1"), "", "=")
	add("key", "not ASCII", one("fü=1"), "", "=")
	add("key", "begins with an underscore", one("_a=1"), "", "=")
	keep("value", "all characters", "a="+allValue, "=")
	keep("value", "leading blanks are part of it", "a=  1", "=")
	add("value", "trailing blanks are not", one("a=1  ,b=2"), "a=1,b=2", "=")
	keep("value", "256 characters", "a="+key(256), "=")
	add("value", "257 characters", one("a="+key(257)), "", "=")
	add("value", "empty", one("a="), "", "=")
	add("value", "blank", one("a=  "), "", "=")
	add("value", "equals sign", one("a=1=2"), "", "=")
	add("value", "tab inside", one("a=1\t2"), "", "=")
	add("value", "not ASCII", one("a=ü"), "", "=")
	add("value", "control character", one("a=\x7f1"), "", "=")
	keep("combined-header-value", "duplicate keys are inherited as they are", "foo=1,foo=1", "foo=1")
	keep("combined-header-value", "the first of duplicate keys is the most recent", "foo=1,bar=2,foo=3", "foo=1,bar=2")
	add("combined-header-value", "duplicate keys in two headers", []string{"foo=1", "foo=2"}, "foo=1,foo=2", "foo=1")

	for _, tt := range tests {
		t.Run(tt.section+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			lines := []string{"traceparent: " + parent}
			for _, h := range tt.in {
				lines = append(lines, "tracestate: "+h)
			}
			sc, out := extract(t, lines...)
			if diff := cmp.Diff(tt.want, out.Get("tracestate")); diff != "" {
				t.Errorf("https://www.w3.org/TR/trace-context-2/#%s: tracestate %q is sent on wrong (-want +got):\n%s", tt.section, tt.in, diff)
			}
			want := tt.state
			if want == "=" {
				want = tt.want
			}
			if diff := cmp.Diff(want, sc.TraceState().String()); diff != "" {
				t.Errorf("tracestate %q: the span context holds (-want +got):\n%s", tt.in, diff)
			}
			// "failure to parse tracestate MUST NOT affect the parsing of traceparent"
			if got := out.Get("traceparent"); got != parent {
				t.Errorf("tracestate %q: traceparent is sent on as %q, want %q", tt.in, got, parent)
			}
			if _, ok := out["Tracestate"]; ok && tt.want == "" {
				t.Errorf("tracestate %q: an empty header is sent on", tt.in)
			}
		})
	}
}

// Spec: https://www.w3.org/TR/trace-context-2/#versioning-of-tracestate
func TestTracestateOfHigherVersion(t *testing.T) {
	t.Parallel()
	_, out := extract(t, "traceparent: cc-"+ids+"-01-new", "tracestate: a=1,2=2")
	if got := out.Get("tracestate"); got != "a=1,2=2" {
		t.Errorf("tracestate %q, want a=1,2=2", got)
	}
}

// Spec: https://www.w3.org/TR/trace-context-2/#tracestate-limits
func TestTracestateLimits(t *testing.T) {
	t.Parallel()
	mem := func(key string, size int) string { return key + "=" + strings.Repeat("v", size-len(key)-1) }
	// 31 members of 128 bytes and their commas are 3,998 bytes; room for 98.
	var short []string
	for i := range 31 {
		short = append(short, mem(fmt.Sprintf("k%02d", i), 128))
	}
	all := strings.Join(short, ",")
	long := strings.Join([]string{mem("x1", 200), mem("x2", 200)}, ",")
	tests := []struct{ name, in, want string }{
		{"at the bound", all + "," + mem("zz", 97), all + "," + mem("zz", 97)},
		{"one more byte", all + "," + mem("zz", 98), all},
		{"long members first, from the right", long + "," + strings.Join(short[:29], ","), mem("x1", 200) + "," + strings.Join(short[:29], ",")},
		{"long members first, wherever they are", mem("x0", 129) + "," + all, all},
		{"digit keys too", "0" + long + "," + strings.Join(short[:29], ","), "0" + mem("x1", 200) + "," + strings.Join(short[:29], ",")},
	}
	for _, tt := range tests {
		_, out := extract(t, "traceparent: "+parent, "tracestate: "+tt.in)
		if diff := cmp.Diff(tt.want, out.Get("tracestate")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}

	// What code puts in is bounded too.
	ts, err := trace.ParseTraceState(strings.Join(short[:30], ",") + "," + long)
	if err != nil {
		t.Fatal(err)
	}
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: ts})
	h := http.Header{}
	tracecontext.New().Inject(trace.ContextWithSpanContext(t.Context(), sc), propagation.HeaderCarrier(h))
	if got, want := h.Get("tracestate"), strings.Join(short[:30], ",")+","+mem("x1", 200); got != want {
		t.Errorf("Inject of %d bytes: got %d bytes, want %d", len(ts.String()), len(got), len(want))
	}
	if tracecontext.MaxTracestateBytes < 512 {
		t.Error("the specification asks for at least 512 characters")
	}
}
