package capturetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/capture/internal/sdkspan"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// Spans is some spans of a test, narrowed down by each of its methods to those
// that are as it says. When none is left the test fails, once.
type Spans struct {
	tb     testing.TB
	what   string // "span "charge" with order='A-1'"
	nodes  []*traces.Node
	failed bool // and the test has been told
}

// Span returns the spans of this name so far. There has to be one.
func (tr *Trace) Span(name string) *Spans {
	tr.tb.Helper()
	s := tr.named(name)
	if len(s.nodes) == 0 {
		s.fail("no %s; the spans are:\n%s%s", s.what, indent(tr.Tree()), tr.hint())
	}
	return s
}

func (tr *Trace) named(name string) *Spans {
	is := func(n *traces.Node) bool { return n.Span().Name == name }
	return &Spans{tb: tr.tb, what: fmt.Sprintf("span %q", name), nodes: tr.nodes(is)}
}

// Spans returns all spans so far but for the test's own. There may be none.
func (tr *Trace) Spans() *Spans {
	return &Spans{tb: tr.tb, what: "span", nodes: tr.nodes(func(n *traces.Node) bool { return !tr.isOwn(n.Span()) })}
}

// Wait is [Trace.Span] once n spans of this name have ended. A server's span ends
// a moment after its client has the response. It waits for 30 seconds at most, and
// fails the test after that.
func (tr *Trace) Wait(name string, n int) *Spans {
	tr.tb.Helper()
	ended := tr.recorder.wait(name, n)
	s := tr.named(name)
	if ended < n {
		s.fail("%s has ended %s within %v, want %d; the spans are:\n%s%s", s.what, times(ended), patience, n, indent(tr.Tree()), tr.hint())
	}
	return s
}

// None fails the test if there is a span of this name so far.
func (tr *Trace) None(name string) {
	tr.tb.Helper()
	if n := len(tr.named(name).nodes); n > 0 {
		tr.tb.Errorf("span %q is there %s, want none; the spans are:\n%s", name, times(n), indent(tr.Tree()))
	}
}

// Max fails the test if there is no span of this name, or if one took longer or
// has not ended.
func (tr *Trace) Max(name string, longest time.Duration) {
	tr.tb.Helper()
	for _, n := range tr.Span(name).nodes {
		switch s := n.Span(); {
		case s.Open():
			tr.tb.Errorf("span %q has not ended, want it within %v", name, longest)
		case s.Duration() > longest:
			tr.tb.Errorf("span %q took %v, want at most %v", name, s.Duration(), longest)
		}
	}
}

// Attr keeps the spans that have the attribute. The value is a string, bool,
// integer, float, a slice of those, or an attribute.Value or traces.Value.
func (s *Spans) Attr(key string, value any) *Spans {
	s.tb.Helper()
	want, ok := valueOf(value)
	if !ok {
		s.tb.Errorf("%s: no attribute has a value of type %T", s.what, value)
		return s
	}
	return s.keep("with "+key+"="+render.FormatValue(want), func(n *traces.Node) bool {
		got, ok := n.Span().Attr(key)
		return ok && got.Equal(want)
	})
}

// NoAttr keeps the spans that have none of the attributes.
func (s *Spans) NoAttr(keys ...string) *Spans {
	s.tb.Helper()
	return s.keep("without "+strings.Join(keys, ", "), func(n *traces.Node) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { _, has := n.Span().Attr(key); return has })
	})
}

// Err keeps the spans whose status is Error.
func (s *Spans) Err() *Spans {
	s.tb.Helper()
	return s.keep("with status Error", func(n *traces.Node) bool { return n.Span().Failed() })
}

// NoErr keeps the spans whose status is not Error.
func (s *Spans) NoErr() *Spans {
	s.tb.Helper()
	return s.keep("without status Error", func(n *traces.Node) bool { return !n.Span().Failed() })
}

// Kind keeps the spans of a kind.
func (s *Spans) Kind(k traces.Kind) *Spans {
	s.tb.Helper()
	return s.keep("of kind "+k.String(), func(n *traces.Node) bool { return n.Span().Kind == k })
}

// Under keeps the spans that have an ancestor of this name.
func (s *Spans) Under(name string) *Spans {
	s.tb.Helper()
	return s.keep(fmt.Sprintf("under %q", name), func(n *traces.Node) bool {
		for a := range n.Ancestors() {
			if a.Span().Name == name {
				return true
			}
		}
		return false
	})
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Times fails the test unless n spans are left.
func (s *Spans) Times(n int) *Spans {
	s.tb.Helper()
	if len(s.nodes) != n {
		s.fail("%s is there %s, want %d%s", s.what, times(len(s.nodes)), n, s.list())
	}
	return s
}

// One returns the only span that is left. If there is not exactly one the test
// fails, and the span is an empty one.
func (s *Spans) One() *traces.Span {
	s.tb.Helper()
	if s.Times(1); len(s.nodes) != 1 {
		return &traces.Span{}
	}
	return s.nodes[0].Span()
}

// All returns the spans that are left, in the order of the tree.
func (s *Spans) All() []*traces.Span {
	out := make([]*traces.Span, len(s.nodes))
	for i, n := range s.nodes {
		out[i] = n.Span()
	}
	return out
}

func (s *Spans) keep(what string, is func(*traces.Node) bool) *Spans {
	s.tb.Helper()
	next := &Spans{tb: s.tb, what: s.what + " " + what, failed: s.failed}
	for _, n := range s.nodes {
		if is(n) {
			next.nodes = append(next.nodes, n)
		}
	}
	if len(next.nodes) == 0 {
		next.fail("no %s%s", next.what, s.list())
	}
	return next
}

// fail fails the test, unless it has been failed because of s already.
func (s *Spans) fail(format string, args ...any) {
	s.tb.Helper()
	if !s.failed {
		s.tb.Errorf(format, args...)
	}
	s.failed = true
}

// list is the spans, for a message.
func (s *Spans) list() string {
	if len(s.nodes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("; there is:")
	for _, n := range s.nodes {
		b.WriteString("\n\t" + lineOf(n).text(false) + path(n))
	}
	return b.String()
}

func path(n *traces.Node) string {
	var names []string
	for a := range n.Ancestors() {
		names = append(names, render.FormatName(a.Span().Name))
	}
	if len(names) == 0 {
		return ""
	}
	slices.Reverse(names)
	return " (under " + strings.Join(names, " > ") + ")"
}

// valueOf is the value as a span has it.
func valueOf(v any) (traces.Value, bool) {
	switch v := v.(type) {
	case traces.Value:
		return v, true
	case attribute.Value:
		return sdkspan.Value(v), true
	case []byte:
		return traces.Bytes(v), true
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return traces.Value{}, true
	case r.Kind() == reflect.String:
		return traces.String(r.String()), true
	case r.Kind() == reflect.Bool:
		return traces.Bool(r.Bool()), true
	case r.CanInt():
		return traces.Int(r.Int()), true
	case r.CanUint():
		return traces.Int(int64(r.Uint())), true //nolint:gosec // as instrumentation does it
	case r.CanFloat():
		return traces.Double(r.Float()), true
	case r.Kind() == reflect.Slice:
		members := make([]traces.Value, r.Len())
		for i := range members {
			member, ok := valueOf(r.Index(i).Interface())
			if !ok {
				return traces.Value{}, false
			}
			members[i] = member
		}
		return traces.Array(members...), true
	default:
		return traces.Value{}, false
	}
}
