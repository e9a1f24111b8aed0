package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces"
)

// maxIndent is how many levels are drawn. A chain of a million spans would need
// terabytes of indentation; from here on the line says its depth instead.
const maxIndent = 64

// Tree writes the spans as a tree, a line each, without a final newline:
//
//	└── checkout (3.00 ms) {scope=web} [ERROR]
//	    ├── charge (1.00 ms) {scope=pay} [ERROR] [order='A-1']
//	    └── ok (500.0 µs) {scope=web}
//
// A line has the name, the duration (see [FormatDuration]; 0.0 µs when start or
// end is not known), the instrumentation scope, [ERROR] for a failed span, and
// the attributes in their order (see [FormatValue]), without those of
// [WithHiddenKeys]. A span cut out of a circle of parents is marked (cycle),
// one that has the ids of an earlier one (duplicate). An empty set is
// "(no spans)".
//
// Roots of all traces stand in the order of their start, and so do siblings.
func Tree(w io.Writer, set *traces.Set, opts ...TreeOption) error {
	c := treeConfig{hidden: newHidden()}
	for _, o := range opts {
		c = o.applyTree(c)
	}
	buffered := bufio.NewWriter(w)
	t := treeWriter{w: buffered, config: c}
	if c.traceLines {
		t.writeTraces(set.Traces())
	} else {
		t.write(set.Roots())
	}
	if t.lines == 0 {
		_, _ = buffered.WriteString("(no spans)")
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("render: write tree: %w", err)
	}
	return nil
}

// TreeString returns what [Tree] writes.
func TreeString(set *traces.Set, opts ...TreeOption) string {
	var b strings.Builder
	_ = Tree(&b, set, opts...) // a strings.Builder takes all
	return b.String()
}

// treeWriter leaves errors to the bufio.Writer, which keeps the first one.
type treeWriter struct {
	w      *bufio.Writer
	config treeConfig
	prefix []byte // indentation of the line at hand
	line   []byte
	lines  int
}

// treeStep is a node that waits for its line.
type treeStep struct {
	node *traces.Node
	last bool
}

// write walks with a stack of its own: the depth of a tree is the writer's of
// the file to choose.
func (t *treeWriter) write(roots []*traces.Node) {
	stack := pushSteps(nil, roots)
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.indent(s)
		t.span(s)
		stack = pushSteps(stack, s.node.Children())
	}
}

// writeTraces draws each root below a line about its trace.
func (t *treeWriter) writeTraces(list []*traces.Trace) {
	for _, trace := range list {
		for i, root := range trace.Roots() {
			t.emit(t.config.traceLine(t.line[:0], root.Span()))
			t.write(trace.Roots()[i : i+1])
		}
	}
}

func (c *treeConfig) traceLine(b []byte, root *traces.Span) []byte {
	start, service := "-", root.Service()
	if root.StartUnixNano > 0 {
		start = root.Start().Format("2006-01-02T15:04:05.000Z")
	}
	if service == "" {
		service = "-"
	}
	return c.paint(b, colorDim, func(b []byte) []byte {
		b = append(append(b, root.TraceID.String()...), "  "...)
		b = append(append(b, start...), "  "...)
		return appendPlain(b, service)
	})
}

func pushSteps(stack []treeStep, nodes []*traces.Node) []treeStep {
	for i, n := range slices.Backward(nodes) {
		stack = append(stack, treeStep{node: n, last: i == len(nodes)-1})
	}
	return stack
}

const (
	branch, lastBranch = "├── ", "└── "
	trunk, noTrunk     = "│   ", "    "
)

// indent leaves in t.prefix the indentation of the node's line. It only ever
// shortens the one before and adds one level, which is why levels of trunk and
// blanks are counted in runes, not in bytes.
func (t *treeWriter) indent(s treeStep) {
	levels := min(s.node.Depth(), maxIndent)
	at := 0
	for range levels * 4 {
		_, size := utf8.DecodeRune(t.prefix[at:])
		at += size
	}
	t.prefix = t.prefix[:at]
}

func (t *treeWriter) span(s treeStep) {
	b := append(t.line[:0], t.prefix...)
	own := trunk
	if s.last {
		b, own = append(b, lastBranch...), noTrunk
	} else {
		b = append(b, branch...)
	}
	if d := s.node.Depth(); d > maxIndent {
		b = fmt.Appendf(b, "… depth %d: ", d)
	}
	b = t.config.text(b, s.node)
	t.emit(b)

	// What the children's lines begin with. It stays in the prefix until a line
	// of a smaller depth cuts it off.
	t.prefix = append(t.prefix, own...)
	if t.config.events {
		t.events(s.node)
	}
}

func (t *treeWriter) emit(b []byte) {
	if t.lines > 0 {
		_ = t.w.WriteByte('\n')
	}
	t.lines++
	_, _ = t.w.Write(t.config.fit(b))
	t.line = b
}

// text appends a span's line without its indentation.
func (c *treeConfig) text(b []byte, n *traces.Node) []byte {
	span := n.Span()
	b = c.paint(b, colorName, func(b []byte) []byte { return appendPlain(b, span.Name) })
	b = append(b, " ("...)
	b = appendDuration(b, int64(span.Duration()))
	b = append(b, ')')
	if c.open && span.Open() {
		b = append(b, " (open)"...)
	}
	if n.Is(traces.Cycle) {
		b = append(b, " (cycle)"...)
	}
	if n.Is(traces.Duplicate) {
		b = append(b, " (duplicate)"...)
	}
	if scope := span.ScopeName(); scope != "" {
		b = append(b, ' ')
		b = c.paint(b, colorDim, func(b []byte) []byte {
			return append(appendPlain(append(b, "{scope="...), scope), '}')
		})
	}
	if span.Failed() {
		b = append(b, ' ')
		b = c.paint(b, colorError, func(b []byte) []byte {
			b = append(b, "[ERROR"...)
			if c.statusText && span.Status.Message != "" {
				b = appendPlain(append(b, ": "...), span.Status.Message)
			}
			return append(b, ']')
		})
	}
	return c.attributes(b, span.Attributes)
}

func (c *treeConfig) attributes(b []byte, attrs []traces.Attribute) []byte {
	if c.sorted {
		attrs = slices.Clone(attrs)
		slices.SortStableFunc(attrs, func(a, o traces.Attribute) int { return strings.Compare(a.Key, o.Key) })
	}
	shown := 0
	for _, a := range attrs {
		if c.hidden.hides(a.Key) {
			continue
		}
		if shown == 0 {
			b = append(b, " ["...)
		} else {
			b = append(b, ", "...)
		}
		shown++
		b = append(appendPlain(b, a.Key), '=')
		b = c.appendCut(b, a.Value)
	}
	if shown > 0 {
		b = append(b, ']')
	}
	return b
}

// appendCut appends a value of at most maxValue characters.
func (c *treeConfig) appendCut(b []byte, v traces.Value) []byte {
	from := len(b)
	b = appendValue(b, v, 0)
	if c.maxValue > 0 && utf8.RuneCount(b[from:]) > c.maxValue {
		at := from
		for range c.maxValue - 1 {
			_, size := utf8.DecodeRune(b[at:])
			at += size
		}
		b = append(b[:at], "…"...)
	}
	return b
}
