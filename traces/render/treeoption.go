package render

import (
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/textwidth"
)

// TreeOption changes what [Tree] prints. Of options that contradict each other
// the later wins.
type TreeOption interface{ applyTree(treeConfig) treeConfig }

type treeConfig struct {
	color      bool
	traceLines bool
	width      int
	events     bool
	statusText bool
	open       bool
	sorted     bool
	maxValue   int
	hidden     hiddenKeys
}

type treeOption func(treeConfig) treeConfig

func (o treeOption) applyTree(c treeConfig) treeConfig { return o(c) }

// WithColor colors names, scopes and errors by ANSI sequences. Default: none.
// Whether the output is a terminal and NO_COLOR is unset is the caller's to
// find out.
func WithColor() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.color = true; return c })
}

// WithTraceLines prints a line above each root, with the trace ID, the root's
// start in UTC and its service, and draws trace after trace:
//
//	4bf92f3577b34da6a3ce929d0e0e4736  2026-01-31T10:00:00.000Z  shop
//	└── GET /cart (3.00 ms)
//
// Default: no such lines, and the roots of all traces in one tree.
func WithTraceLines() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.traceLines = true; return c })
}

// WithWidth cuts lines to so many columns of a terminal, the last being "…".
// Most East Asian characters and emoji take two columns, combining marks none.
// Default, and for zero or less: not cut.
func WithWidth(columns int) TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.width = columns; return c })
}

// WithMaxValue cuts printed attribute values to so many characters, the last
// being "…". Default, and for zero or less: not cut.
func WithMaxValue(characters int) TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.maxValue = characters; return c })
}

// WithEvents prints a line per span event below the span: the time since the
// span's start, the name and the attributes. Errors that a Go program records
// are there; a stack is printed in lines, a Go program's without the frames of
// the runtime and of tracing. Default: events are not printed.
func WithEvents() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.events = true; return c })
}

// WithStatusText prints the status message inside [ERROR]. Default: not.
func WithStatusText() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.statusText = true; return c })
}

// WithOpenMark prints (open) behind the duration of a span that has no end.
// Default: not.
func WithOpenMark() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.open = true; return c })
}

// WithSortedAttributes prints attributes sorted by key, for output that is
// compared. Default: in the order in which they were set.
func WithSortedAttributes() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.sorted = true; return c })
}

// WithHiddenKeys leaves out attributes of these keys too; a final "*" stands for
// any rest: "net.*". Default: busy_ns, idle_ns, target, thread.id and code.*,
// which say where the code is rather than what it did.
func WithHiddenKeys(keys ...string) TreeOption {
	return treeOption(func(c treeConfig) treeConfig {
		c.hidden = c.hidden.with(keys)
		return c
	})
}

// WithoutHiddenKeys prints every attribute, but for those of a later
// [WithHiddenKeys].
func WithoutHiddenKeys() TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.hidden = hiddenKeys{}; return c })
}

// hiddenKeys is never changed, only extended by a copy.
type hiddenKeys struct {
	exact    map[string]bool
	prefixes []string
}

func newHidden() hiddenKeys {
	return hiddenKeys{}.with([]string{"busy_ns", "idle_ns", "target", "thread.id", "code.*"})
}

func (h hiddenKeys) with(keys []string) hiddenKeys {
	n := hiddenKeys{exact: map[string]bool{}, prefixes: slices.Clip(h.prefixes)}
	for k := range h.exact {
		n.exact[k] = true
	}
	for _, k := range keys {
		if prefix, ok := strings.CutSuffix(k, "*"); ok {
			n.prefixes = append(n.prefixes, prefix)
		} else {
			n.exact[k] = true
		}
	}
	return n
}

func (h hiddenKeys) hides(key string) bool {
	if h.exact[key] {
		return true
	}
	for _, p := range h.prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

const (
	colorName  = "\x1b[1m"
	colorDim   = "\x1b[2m"
	colorError = "\x1b[31m"
	colorReset = "\x1b[0m"
)

func (c *treeConfig) paint(b []byte, color string, text func([]byte) []byte) []byte {
	if !c.color {
		return text(b)
	}
	return append(text(append(b, color...)), colorReset...)
}

// fit cuts a line to the width.
func (c *treeConfig) fit(line []byte) []byte {
	if c.width <= 0 || len(line) <= c.width { // a column takes a byte at least
		return line
	}
	text := string(line)
	if _, _, all := c.cut(text, c.width); all {
		return line
	}
	at, lit, _ := c.cut(text, c.width-1)
	line = append(line[:at:at], "…"...)
	if lit {
		line = append(line, colorReset...)
	}
	return line
}

// cut is where the columns are used up, whether a color is on there, and whether
// that is the end of the text. The only escape characters are those of paint,
// since text from spans is escaped: they take no room and end with m.
func (c *treeConfig) cut(text string, columns int) (at int, lit, all bool) {
	for at < len(text) {
		if text[at] == '\x1b' {
			end := at + strings.IndexByte(text[at:], 'm') + 1
			lit = text[at:end] != colorReset
			at = end
			continue
		}
		size, n := textwidth.Next(text[at:])
		if columns -= n; columns < 0 {
			return at, lit, false
		}
		at += size
	}
	return at, lit, true
}
