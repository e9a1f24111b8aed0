package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// TreeOption changes what [Tree] prints. Of options that contradict each other
// the later wins.
type TreeOption interface{ applyTree(treeConfig) treeConfig }

type treeConfig struct {
	color      bool
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

// WithWidth cuts lines to so many characters, the last being "…". Default, and
// for zero or less: not cut. Characters are counted, not their width on a
// screen.
func WithWidth(characters int) TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.width = characters; return c })
}

// WithMaxValue cuts printed attribute values to so many characters, the last
// being "…". Default, and for zero or less: not cut.
func WithMaxValue(characters int) TreeOption {
	return treeOption(func(c treeConfig) treeConfig { c.maxValue = characters; return c })
}

// WithEvents prints a line per span event below the span: the time since the
// span's start, the name and the attributes. Errors that a Go program records
// are there. Default: events are not printed.
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

// fit cuts a line to the width. The only escape characters in it are those of
// paint, since text from spans is escaped: they take no room and end with m.
func (c *treeConfig) fit(line []byte) []byte {
	if c.width <= 0 || utf8.RuneCount(line) <= c.width {
		return line
	}
	shown, cut, lit := 0, -1, false
	litAtCut := false
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			end := i + strings.IndexByte(string(line[i:]), 'm') + 1
			lit = string(line[i:end]) != colorReset
			i = end
			continue
		}
		if shown == c.width-1 {
			cut, litAtCut = i, lit
		}
		shown++
		_, size := utf8.DecodeRune(line[i:])
		i += size
	}
	if shown <= c.width {
		return line
	}
	out := append(line[:cut:cut], "…"...)
	if litAtCut {
		out = append(out, colorReset...)
	}
	return out
}
