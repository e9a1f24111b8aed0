package capturetest

import (
	"regexp"
	"strings"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

// line is a span as a line of a tree.
type line struct {
	depth    int
	name     string // as it is drawn
	duration string // "3.00 ms"
	rest     string // what is drawn after the duration
	scope    string // " {scope=shop}", or ""
	failed   bool
	open     bool
	own      bool     // the test's
	attrs    []string // "order='A-1'", also those that are not drawn
}

// linesOf are the spans in the order in which they are drawn. That the test's own
// span is open goes without saying.
func (tr *Trace) linesOf(set *traces.Set) []line {
	var out []line
	for node := range set.All() {
		l := lineOf(node)
		l.own = tr.isOwn(node.Span())
		out = append(out, l)
	}
	return out
}

func lineOf(node *traces.Node) line {
	s := *node.Span()
	s.ParentID = traces.SpanID{}
	s.Attributes = steady(s.Attributes)
	l := line{
		depth: node.Depth(), failed: s.Failed(), open: s.Open(),
		name:     render.FormatName(s.Name),
		duration: render.FormatDuration(int64(s.Duration())),
	}
	if scope := s.ScopeName(); scope != "" {
		l.scope = " {scope=" + render.FormatName(scope) + "}"
	}
	l.rest = drawn(&s)[len(l.name)+len(" ("+l.duration+")"):]
	for _, a := range s.Attributes {
		l.attrs = append(l.attrs, render.FormatName(a.Key)+"="+render.FormatValue(a.Value))
	}
	return l
}

// drawn is one span as a line without its marker.
func drawn(s *traces.Span) string {
	tree := render.TreeString(traces.NewSet([]*traces.Span{s}), render.WithSortedAttributes())
	return strings.TrimPrefix(tree, "└── ")
}

// steady replaces what differs from run to run: the ports of local servers.
func steady(in []traces.Attribute) []traces.Attribute {
	out := make([]traces.Attribute, len(in))
	for i, a := range in {
		switch {
		case a.Value.Kind() == traces.ValueInt && strings.HasSuffix(a.Key, ".port"):
			a.Value = traces.String("PORT")
		case strings.ContainsRune(a.Value.AsString(), ':'):
			a.Value = traces.String(localPort.ReplaceAllString(a.Value.AsString(), "$1:PORT"))
		}
		out[i] = a
	}
	return out
}

var localPort = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]|localhost):\d+`)

// text is the line as it is shown and kept.
func (l line) text(durations bool) string {
	switch {
	case l.own:
		return l.name + l.rest
	case l.open:
		return l.name + " (open)" + l.rest
	case durations:
		return l.name + " (" + l.duration + ")" + l.rest
	default:
		return l.name + l.rest
	}
}

// matches reports whether a wanted line says nothing else than l. What it leaves
// out may be anything, but for [ERROR].
func (l line) matches(want string) bool {
	rest, ok := strings.CutPrefix(want, l.name)
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, " ("+l.duration+")")
	if l.open {
		rest = strings.TrimPrefix(rest, " (open)")
	}
	if l.scope != "" {
		rest = strings.TrimPrefix(rest, l.scope)
	}
	rest, failed := strings.CutPrefix(rest, " [ERROR]")
	if failed != l.failed {
		return false
	}
	return rest == "" || l.hasAttributes(rest)
}

// hasAttributes reports whether l has what is in " [order='A-1', n=2]". It need
// not understand values: it looks for its own.
func (l line) hasAttributes(list string) bool {
	list, ok := strings.CutPrefix(list, " [")
	if !ok {
		return false
	}
	for list != "]" {
		if list, ok = l.cutAttribute(list); !ok {
			return false
		}
	}
	return true
}

// cutAttribute cuts an attribute of l from the front of a list. One may be the
// beginning of another, so what comes after it counts.
func (l line) cutAttribute(list string) (rest string, ok bool) {
	for _, a := range l.attrs {
		rest, ok := strings.CutPrefix(list, a)
		if !ok {
			continue
		}
		if rest == "]" {
			return rest, true
		}
		if rest, ok := strings.CutPrefix(rest, ", "); ok {
			return rest, true
		}
	}
	return list, false
}

// drawLines draws all spans.
func drawLines(lines []line, durations bool) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text(durations)
	}
	return draw(texts, lines)
}

// draw puts the markers before the lines.
func draw(texts []string, lines []line) string {
	out := make([]string, len(texts))
	var more []bool // by depth: whether a later sibling comes
	for i := len(lines) - 1; i >= 0; i-- {
		depth := lines[i].depth
		last := len(more) <= depth || !more[depth]
		var prefix strings.Builder
		for d := range depth {
			if d < len(more) && more[d] {
				prefix.WriteString("│   ")
			} else {
				prefix.WriteString("    ")
			}
		}
		marker := "├── "
		if last {
			marker = "└── "
		}
		out[i] = prefix.String() + marker + texts[i]
		for len(more) <= depth {
			more = append(more, false)
		}
		more = more[:depth+1]
		more[depth] = true
	}
	if len(out) == 0 {
		return "(no spans)"
	}
	return strings.Join(out, "\n")
}
